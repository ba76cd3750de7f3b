"""`schedproof check`: exit codes, what is printed where, and real schedulers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from schedproof.search.results import RunResult
from schedproof.telling.document import check_schema
from schedproof.zoo import plain


class Said(Protocol):
    @property
    def code(self) -> int: ...
    @property
    def out(self) -> str: ...
    @property
    def err(self) -> str: ...


Run = Callable[..., Said]
Pretend = Callable[..., dict[str, Any]]
Make = Callable[..., RunResult]

QUICK = ("--time", "2m", "--requests", "2", "--seed", "1", "--claims", "LEDGER")
LEAK = """
from schedproof.zoo.plain import PlainScheduler

class Leaks(PlainScheduler):
    def _finish(self, request):
        super()._finish(request)
        self.free_kv_blocks -= 1
"""


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        ("holds_within_bounds", 0),
        ("no_violation_reduced", 0),
        ("no_violation_found", 0),
        ("violated", 1),
        ("not_applicable", 2),
        ("error", 3),
        ("incomplete", 4),
        ("vacuous", 5),
    ],
)
@pytest.mark.parametrize("json_too", [False, True])
def test_the_exit_code_says_the_verdict(
    run: Run, pretend: Pretend, make_run: Make, verdict: str, code: int, json_too: bool
) -> None:
    pretend(make_run(verdict=verdict))
    assert run("check", *["--json"] * json_too).code == code


def test_an_interrupt_is_130_and_the_report_is_printed(
    run: Run, pretend: Pretend, make_run: Make
) -> None:
    pretend(make_run(verdict="incomplete", interrupted=True, stopped_by="interrupt"))
    said = run("check")
    assert said.code == 130
    assert "Interrupted: this is what is known so far." in said.out


def test_a_violation_outweighs_an_interrupt(run: Run, pretend: Pretend, make_run: Make) -> None:
    pretend(make_run(verdict="violated", interrupted=True))
    assert run("check").code == 1


def test_an_interrupt_before_anything_is_known_is_130(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(**_said: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("schedproof.api.check", check)
    assert run("check").code == 130


def test_the_report_is_on_standard_output(run: Run, pretend: Pretend) -> None:
    pretend()
    said = run("check")
    assert said.out.startswith("scheduler: mine\n")
    assert said.err == ""


def test_quiet_prints_the_verdict_alone_if_nothing_is_wrong(run: Run, pretend: Pretend) -> None:
    pretend()
    for flag in ("-q", "--quiet"):
        out = run("check", flag).out
        assert "✓ no violation found" in out
        assert "scheduler:" not in out


def test_quiet_prints_everything_if_something_is_wrong(
    run: Run, pretend: Pretend, make_run: Make
) -> None:
    pretend(make_run(verdict="vacuous"))
    assert "scheduler: mine" in run("check", "-q").out


def test_json_is_one_document_and_nothing_else(run: Run, pretend: Pretend) -> None:
    pretend()
    said = run("check", "--json")
    made = json.loads(said.out)
    jsonschema: Any = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(check_schema()).validate(made)
    assert made["exit_code"] == said.code == 0


def test_json_keeps_standard_output_empty_on_a_mistake(run: Run) -> None:
    said = run("check", "nofile.py", "--json")
    assert (said.code, said.out) == (2, "")
    assert "There is no file nofile.py" in said.err


def test_options_arrive_as_they_were_typed(run: Run, pretend: Pretend) -> None:
    heard = pretend()
    words = "check mine.py:Mine --policy aging,fcfs --policy deadline --blocks 5 --requests 2"
    more = "--seed 3 --time 2m --memory 256 --claims LEDGER --profile ci --cell 4 --lang zh"
    assert run(*words.split(), *more.split(), "--factory", "f.py:make").code == 0
    assert heard["asked"] == {
        "target": "mine.py:Mine",
        "factory": "f.py:make",
        "cell": 4,
        "policy": ("aging", "fcfs", "deadline"),
        "search": None,
        "scope": None,
        "blocks": 5,
        "requests": 2,
        "identity": None,
        "reduce": (),
        "all_shortest": False,
        "keep_going": False,
        "liveness": False,
        "seed": 3,
        "time": 120.0,
        "memory": 256,
        "claims": ("LEDGER",),
        "profile": "ci",
        "lang": "zh",
        "quiet": False,
        "report": (),
        "claims_from": None,
        "no_save": False,
        "against": None,
    }


def test_the_language_of_the_report(run: Run, pretend: Pretend) -> None:
    pretend()
    assert "调度器：mine" in run("check", "--lang", "zh").out
    assert "调度器：mine" in run("check", "--lang=zh_CN.UTF-8").out


def test_the_built_in_model_is_clean(run: Run) -> None:
    said = run("check", "--policy", "fcfs", *QUICK)
    assert said.code == 0, said.out
    assert said.out.startswith("scheduler: schedmodel:DecodeSchedulerSim\n")


def test_a_broken_scheduler_is_told_as_a_story(run: Run, alone: Path) -> None:
    (alone / "mine.py").write_text(LEAK, encoding="utf-8")
    said = run("check", "mine.py:Leaks", "--policy", "fcfs", *QUICK)
    assert said.code == 1
    assert "✗ LEDGER-1  Free blocks + held blocks = capacity" in said.out
    assert "How to get there" in said.out
    assert said.err == ""


def test_code_that_does_not_parse_is_a_result(run: Run, alone: Path) -> None:
    (alone / "mine.py").write_text("class Mine(:\n", encoding="utf-8")
    said = run("check", "mine.py:Mine", "--json", *QUICK)
    assert said.code == 3
    assert json.loads(said.out)["runs"][0]["trouble"]["place"]["line"] == 1
    assert "mine.py, line 1" in run("check", "mine.py:Mine", *QUICK).out


def test_a_policy_that_is_refused_alone_is_a_mistake_in_the_call(run: Run, alone: Path) -> None:
    source = "class Mine:\n    def __init__(self, **_):\n        raise ValueError('not this one')\n"
    more = "    def enqueue(self):\n        return 1\n    def step(self):\n        return 1\n"
    (alone / "mine.py").write_text(source + more, encoding="utf-8")
    said = run("check", "mine.py:Mine", "--policy", "fcfs", *QUICK)
    assert said.code == 2
    assert "not this one" in said.out


def test_a_factory_makes_the_scheduler(run: Run, alone: Path) -> None:
    made = "    return Plain(policy, blocks, aging_interval)\n"
    source = f"from {plain.__name__} import PlainScheduler as Plain\n\n"
    source += f"def make(policy, blocks, aging_interval):\n{made}"
    (alone / "mine.py").write_text(source, encoding="utf-8")
    said = run("check", "--factory", "mine.py:make", "--policy", "fcfs", *QUICK)
    assert said.code == 0, said.out + said.err
    assert "scheduler: mine.py:make" in said.out


def test_a_cell_of_a_notebook_is_chosen(run: Run, alone: Path) -> None:
    cells = ["class Mine:\n    pass", f"from {plain.__name__} import PlainScheduler as Mine"]
    code = [{"cell_type": "code", "source": cell} for cell in cells]
    notebook = {"cells": code, "nbformat": 4, "nbformat_minor": 5}
    (alone / "mine.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    words = ("check", "mine.ipynb:Mine", "--policy", "fcfs", *QUICK)
    assert run(*words, "--cell", "2").code == 0
    assert run(*words, "--cell", "1").code == 3
    said = run(*words, "--cell", "9")
    assert said.code == 2
    assert "mine.ipynb has no code cell 9" in said.err
