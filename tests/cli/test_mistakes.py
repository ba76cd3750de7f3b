"""A user's mistake is told in one or two sentences, with what to do, and is exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pytest

import schedproof
from schedproof.subjects.load_errors import TargetError


class Said(Protocol):
    @property
    def code(self) -> int: ...
    @property
    def out(self) -> str: ...
    @property
    def err(self) -> str: ...


Run = Callable[..., Said]

MISTAKES = [
    ("chek", "there is no chek. Did you mean check? Allowed: check, claims, "),
    ("--polcy", "There is no option --polcy. See schedproof --help."),
    (
        "check --polcy aging",
        "There is no option --polcy. Did you mean --policy? See schedproof check --help.",
    ),
    ("check --blocks", "--blocks needs a value. See schedproof check --help."),
    ("check --json=3", "--json takes no value. See schedproof check --help."),
    ("check a b", "schedproof check does not take this: b. See schedproof check --help."),
    (
        "check --policy ageing",
        "policy: there is no ageing. Did you mean aging? "
        "Allowed: fixed_priority, aging, deadline, fcfs, reserved_aging, all.",
    ),
    ("check --blocks x", "blocks must be a whole number, at least 0, and not x."),
    ("check --blocks 1.5", "blocks must be a whole number, at least 0, and not 1.5."),
    ("check --requests 0", "requests must be a whole number, at least 1, and not 0."),
    ("check --seed -1", "seed must be a whole number, at least 0, and not -1."),
    ("check --memory 1", "memory must be a whole number, at least 64, and not 1."),
    ("check --time 0", "time must be a time such as 30s, 2m or 1h"),
    ("check --time soon", "time must be a time such as 30s, 2m or 1h"),
    ("check --profile hard", "profile: there is no hard. Allowed: quick, ci, deep."),
    ("check --claims LEDGR-1", "claims: there is no LEDGR-1. Did you mean LEDGER-1? Allowed: "),
    ("check --lang de", "--lang: there is no de. Allowed: en, zh."),
    ("check nofile.py", "There is no file nofile.py"),
    ("check nomodule.mod:Class", "There is no module nomodule"),
    ("check schedmodel.scheduler:DecodeScheduler", "has no class DecodeScheduler. Did you mean"),
    ("check schedmodel:DecodeSchedulerSim --cell 1", "--cell 1 needs a notebook"),
    ("check --cell 0 x.ipynb", "cell must be a whole number, at least 1, and not 0."),
    ("claims shwo LEDGER-1", "schedproof claims: there is no shwo. Did you mean show?"),
    ("claims show", "ID is missing. See schedproof claims show --help."),
    ("claims show ledgr-1", "ID: there is no ledgr-1. Did you mean LEDGER-1? Allowed: LEDGER-1, "),
    ("completion tcsh", "SHELL: there is no tcsh. Allowed: bash, zsh, fish."),
    ("completion", "SHELL is missing. See schedproof completion --help."),
]


@pytest.mark.parametrize(("words", "told"), MISTAKES)
def test_a_mistake_is_told_on_standard_error(run: Run, words: str, told: str) -> None:
    said = run(*words.split())
    assert (said.code, said.out) == (2, "")
    assert told in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("words", [words for words, _ in MISTAKES if "--lang" not in words])
def test_a_mistake_is_told_in_chinese(run: Run, words: str) -> None:
    said = run(*words.split(), "--lang", "zh")
    assert said.code == 2
    assert any("\u4e00" <= letter <= "\u9fff" for letter in said.err)
    assert "there is" not in said.err.lower()


def test_no_command_at_all_prints_the_help_as_a_mistake(run: Run) -> None:
    for words in ((), ("claims",)):
        said = run(*words)
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith("Usage: schedproof")


def test_a_cell_without_a_notebook_is_a_mistake(run: Run) -> None:
    said = run("check", "--cell", "2")
    assert said.code == 2
    assert "--cell 2 needs a notebook" in said.err


def test_from_python_a_wrong_target_reads_as_on_the_command_line() -> None:
    with pytest.raises(TargetError, match=r"^There is no file nowhere\.py"):
        schedproof.check("nowhere.py")
