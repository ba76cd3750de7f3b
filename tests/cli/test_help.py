"""Help, version, the claims to read, and completion."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Protocol

import pytest

from schedmodel import __version__
from schedproof.claims.catalogue import BY_ID, CLAIMS
from schedproof.cli.commands import SHELLS, build
from schedproof.settings import OPTIONS
from schedproof.telling.layout import width_of
from schedproof.telling.messages import tell


class Said(Protocol):
    @property
    def code(self) -> int: ...
    @property
    def out(self) -> str: ...
    @property
    def err(self) -> str: ...


Run = Callable[..., Said]

PAGES = ["", "check", "claims", "claims list", "claims show", "completion"]
each_language = pytest.mark.parametrize("language", ["en", "zh"])


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version(run: Run, flag: str) -> None:
    assert (run(flag).code, run(flag).out) == (0, f"schedproof {__version__}\n")


@each_language
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_of_every_command(
    run: Run, monkeypatch: pytest.MonkeyPatch, language: str, page: str, flag: str
) -> None:
    monkeypatch.setenv("SCHEDPROOF_LANG", language)
    said = run(*page.split(), flag)
    assert said.code == 0
    assert said.out.startswith("Usage: schedproof" if language == "en" else "用法：schedproof")
    for line in said.out.splitlines():
        assert line == line.rstrip()
        assert width_of(line) <= 80, line


def test_every_option_of_a_check_is_in_its_help_and_in_the_settings(run: Run) -> None:
    options = {name for part in build("en").commands["check"].params for name in part.opts}
    long = [name.removeprefix("--") for name in options if name.startswith("--")]
    names = {name.replace("-", "_") for name in long}
    assert names - {"json"} == set(OPTIONS) - {"target"}
    page = run("check", "--help").out
    assert all(name in page for name in options if name.startswith("-"))


@each_language
def test_the_exit_codes_stand_below_the_help_of_check(run: Run, language: str) -> None:
    build(language)
    page = str(build(language).commands["check"].epilog)
    assert [line.split()[0] for line in page.splitlines()[1:] if line[2] != " "] == [
        "0",
        "1",
        "2",
        "3",
        "4",
        "5",
        "130",
    ]


def test_chinese_help_has_no_words_of_the_library(run: Run) -> None:
    page = run("check", "--help", "--lang", "zh").out
    for word in ("Usage", "Options", "Show this", "Commands"):
        assert word not in page


@each_language
def test_the_list_names_every_claim_once(run: Run, language: str) -> None:
    said = run("claims", "list", "--lang", language)
    assert said.code == 0
    ids = [line.split()[0] for line in said.out.splitlines() if line[:1].isalpha()]
    assert [name for name in ids if name in BY_ID] == [claim.id for claim in CLAIMS]
    assert all(width_of(line) <= 80 for line in said.out.splitlines())


@each_language
@pytest.mark.parametrize("claim", BY_ID)
def test_every_claim_is_told_in_full(run: Run, language: str, claim: str) -> None:
    said = run("claims", "show", claim, "--lang", language)
    say = tell(language)
    assert said.code == 0
    assert said.out.startswith(f"{claim}  {say(f'claim.{claim}.title')}\n")
    squeezed = "".join(said.out.split())
    for part in ("sentence", "why", "leaves_out", "rule"):
        assert "".join(say(f"claim.{claim}.{part}").split()) in squeezed
    assert all(width_of(line) <= 80 for line in said.out.splitlines())


def test_an_id_may_be_written_small(run: Run) -> None:
    assert run("claims", "show", "ledger-1").out == run("claims", "show", "LEDGER-1").out


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_scripts_name_the_command(run: Run, shell: str) -> None:
    said = run("completion", shell)
    assert said.code == 0
    assert "schedproof" in said.out
    assert f"{shell}_complete" in said.out


def test_the_script_for_bash_parses(run: Run) -> None:
    script = run("completion", "bash").out
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("schedproof che", {"check"}),
        ("schedproof check --pol", {"--policy"}),
        ("schedproof check --policy ag", {"aging"}),
        ("schedproof check --profile ", {"quick", "ci", "deep"}),
        (
            "schedproof check --claims led",
            {"LEDGER", "LEDGER-1", "LEDGER-2", "LEDGER-3", "LEDGER-4"},
        ),
        ("schedproof claims show life-", {"LIFE-1", "LIFE-2", "LIFE-3", "LIFE-4"}),
        ("schedproof completion z", {"zsh"}),
        ("schedproof re", {"replay", "report"}),
        ("schedproof mi", {"minimize"}),
        ("schedproof faults show protected-v", {"protected-victim"}),
        ("schedproof faults hunt finish-keeps-blocks admit", {"admit-beyond-the-pool"}),
        ("schedproof faults hunt --policy fc", {"fcfs"}),
    ],
)
def test_words_are_completed(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: str, expected: set[str]
) -> None:
    monkeypatch.setenv("_SCHEDPROOF_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    said = run()
    assert said.code == 0
    assert {line.partition(",")[2] for line in said.out.splitlines()} == expected
