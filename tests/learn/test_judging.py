"""The exercise from a file or a class to an answer, in child processes and small scopes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import schedproof
from schedproof import api as whole_api
from schedproof.learn import judging
from schedproof.learn.api import LearnResult, check, hint
from schedproof.learn.writing import ALL, skeleton
from schedproof.search.results import RunResult
from schedproof.settings import UsageError
from schedproof.subjects.load_errors import TargetError

MakeClass = Callable[..., type[Any]]
MakeFile = Callable[..., str]

REAL_CHECK = whole_api.check
VICTIM = '                victim.status = "preempted"\n'
ANSWER_3 = ("        # TODO 3", "        raise NotImplementedError\n        # TODO 3")
TESTS = "DecodeSchedulerSim().enqueue(1, 2)\nassert DecodeSchedulerSim().queue, 'a test'\n"


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of one request under one policy, and no check of the whole class."""
    monkeypatch.setattr(judging, "FEW_REQUESTS", 1)
    monkeypatch.setattr(judging, "MANY_REQUESTS", 2)
    monkeypatch.setattr(judging, "POLICIES", ("fixed_priority",))
    monkeypatch.setattr(whole_api, "check", _not_wanted)


def _not_wanted(*_values: Any, **_named: Any) -> None:
    raise AssertionError("the whole is checked only when every part is right")


def notebook(path: Path, *cells: str) -> str:
    made = [{"cell_type": "code", "source": cell, "metadata": {}} for cell in cells]
    path.write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": made}), encoding="utf-8")
    return path.name


def flat(result: LearnResult, lang: str = "en") -> str:
    return " ".join(result.explain(lang).split())


def test_a_half_finished_notebook_with_the_answers_below(tmp_path: Path) -> None:
    solved = skeleton("en", solved=ALL)
    half = solved.replace(*ANSWER_3)
    assert half != solved
    name = notebook(tmp_path / "n.ipynb", half, TESTS, "# STOP", solved)
    result = check(name)
    assert not result
    assert result.exit_code == 3
    assert result.headline == "TODO 3 is still open; TODO 1, 2 and 4 look right"
    assert check(name, lang="zh").headline == "TODO 3 还没写完；TODO 1、2、4 看起来没问题"
    assert "--cell 4" in flat(result)
    assert "Each TODO was tried alone" in flat(result)
    assert 'learn hint "TODO 3"' in flat(result)
    assert "Traceback" not in flat(result)


def test_the_skeleton_itself_is_open_everywhere(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(skeleton("en") + TESTS, encoding="utf-8")
    result = check("s.py")
    assert result.todos == dict.fromkeys(("TODO 1", "TODO 2", "TODO 3", "TODO 4"), "open")
    assert "failed at line" in flat(result)
    shown = result._repr_mimebundle_()
    assert "TODO 1, 2, 3 and 4 are still open" in shown["text/html"]


def test_a_wrong_part_is_told_with_its_case_and_the_shortest_run(solved_file: MakeFile) -> None:
    result = check(
        solved_file((VICTIM, VICTIM + VICTIM.replace('status = "preempted"', "generated_len = 0")))
    )
    assert (bool(result), result.exit_code) == (False, 1)
    assert result.todos["TODO 3"] == "wrong"
    text = flat(result)
    for part in (
        "✗ TODO 3 is wrong; TODO 1, 2 and 4 look right",
        "r2.generated_len 1 0",
        "s._ensure_capacity(s.queue[1])",
        "The shortest run that shows it",
        "✗ PROGRESS-2 A preempted request keeps its generated tokens",
        "broken at action 5 of 5",
    ):
        assert part in text
    assert "能看出这个错误的最短过程" in flat(result, "zh")


def test_a_part_that_does_not_come_back_stops_nobody_else(
    solved: MakeClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "ACTION_SECONDS", 1.0)
    loop = ("        # TODO 1", "        while True: pass\n        # TODO 1")
    result = check(solved(loop))
    assert result.todos["TODO 1"] == "wrong"
    assert result.todos["TODO 3"] == "right"
    assert "did not come back" in flat(result)


def test_a_crash_in_a_step_is_told_with_the_actions(solved: MakeClass) -> None:
    result = check(solved(("                chosen = request\n", "                pass\n"), (
        "        if chosen is None:\n            return None\n", "")))  # fmt: skip
    assert result.todos["TODO 4"] == "wrong"
    assert "'NoneType' object has no attribute" in flat(result)
    assert "The actions until then" in flat(result)


def test_parts_that_need_each_other_are_not_wrong(
    solved: MakeClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}
    found = whole_api.CheckResult.__new__(whole_api.CheckResult)

    def whole(_target: Any, **named: Any) -> whole_api.CheckResult:
        seen.update(named)
        return found

    monkeypatch.setattr(whole_api, "check", whole)
    queue = "self.queue: list[RequestState] = []\n"
    last = "        self.queue.append(request)\n"
    cls = solved(
        (queue, f"{queue}        self.by_id = {{}}\n"),
        (last, f"{last}        self.by_id[request_id] = request\n"),
        ("victim = None\n", "victim = None if self.by_id[challenger.request_id] else None\n"),
    )
    result = check(cls)
    assert result.todos["TODO 3"] == "together"
    assert result.whole is found
    assert seen["policy"] == ("fixed_priority", "aging", "deadline")


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("class S:\n    def enqueue(self): pass\n    def step(self: pass\n", "does not parse"),
        (
            "class S:\n    def enqueue(self): pass\n    def step(self): pass\n",
            "could not be checked",
        ),
        ("1 / 0\n", "ZeroDivisionError"),
    ],
)
def test_what_cannot_be_judged_says_why(tmp_path: Path, source: str, part: str) -> None:
    (tmp_path / "s.py").write_text(source, encoding="utf-8")
    result = check("s.py")
    assert (result.exit_code, result.todos) == (3, {})
    assert part in flat(result)
    assert "Traceback" not in flat(result)


def test_a_policy_that_is_refused_is_told(solved: MakeClass) -> None:
    result = check(solved(('("fixed_priority", "aging", "deadline")', '("aging",)')))
    assert "refuses the policy fixed_priority" in flat(result)


def test_a_target_that_names_nothing_is_a_mistake_of_the_call(tmp_path: Path) -> None:
    with pytest.raises(TargetError):
        check("nowhere.py")
    (tmp_path / "s.py").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(TargetError):
        check("s.py")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_hints_have_three_levels(number: int) -> None:
    told = [str(hint(number, level)) for level in (1, 2, 3)]
    assert len(set(told)) == 3
    assert ["More" in text for text in told] == [True, True, False]
    assert len(told[2]) > len(told[0])
    assert "提示 2/3" in hint(f"TODO {number}", 2, lang="zh").explain()
    assert "Hint 2 of 3" in hint(number, 2)._repr_mimebundle_()["text/html"]


def test_a_hint_that_there_is_not_is_a_mistake_of_the_call() -> None:
    with pytest.raises(UsageError) as caught:
        hint("TODO 7")
    assert "TODO 4" in caught.value.told("en")
    for level in (0, 4, True, "2"):
        with pytest.raises(UsageError):
            hint(1, level)  # type: ignore[arg-type]


def test_all_right_is_said_when_the_whole_holds_too(
    solved: MakeClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    def whole(target: Any, **named: Any) -> whole_api.CheckResult:
        return REAL_CHECK(target, **{**named, "policy": "aging", "requests": 1})

    monkeypatch.setattr(whole_api, "check", whole)
    result = schedproof.learn.check(solved())
    assert (bool(result), result.exit_code) == (True, 0)
    assert str(result).startswith("✓ TODO 1, 2, 3 and 4 look right\n")
    assert "All of it together: the whole catalogue ✓ holds within bounds" in flat(result)
    assert "The exercise is done." in flat(result)
    assert "练习完成" in flat(result, "zh")


def test_a_search_that_was_stopped_is_not_called_right(
    solved: MakeClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = RunResult.blank("aging", "exhaustive", {})
    stopped = (dataclasses.replace(clean, verdict="incomplete"),)
    monkeypatch.setattr(judging, "_search", lambda *_values: stopped)
    result = check(solved())
    assert (result.todos["TODO 4"], result.exit_code) == ("unknown", 4)
    assert result.headline.startswith("TODO 4 was not tried to the end")
    assert result.headline.endswith("; TODO 1, 2 and 3 look right")
