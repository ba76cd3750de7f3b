"""Results as values: the trip through JSON, the worst of several, and exit codes."""

from __future__ import annotations

import itertools
import json

import pytest
from tests.exhaustive.conftest import LEAKS, MODEL, planted, search, slots

from schedproof.search.results import (
    EXIT_CODES,
    WORST_FIRST,
    ClaimResult,
    RunResult,
    Trouble,
    Verdict,
    worst,
)


def through_json(result: RunResult) -> RunResult:
    return RunResult.from_json(json.loads(json.dumps(result.to_json())))


def test_results_come_back_from_json_as_they_were() -> None:
    for result in (
        search(MODEL, slots("small", 1)),
        search(planted(LEAKS), slots("small", 2), keep_going=True),
        search(planted(("        self.clock += 1\n", "        {}['x']\n")), slots("small", 1)),
    ):
        assert through_json(result) == result


def test_whatever_a_result_may_hold_comes_back() -> None:
    trouble = Trouble("raised", "error.raised", {"call": "step"}, {"line": 3}, ({"op": "step"},))
    result = RunResult(
        policy="aging",
        search="random",
        verdict="error",
        identity=None,
        bounds={"blocks": 3},
        distinct_states=None,
        transitions=4,
        depth=2,
        seconds=0.5,
        claims=(ClaimResult("LEDGER-1", "not_exercised", 0),),
        trouble=trouble,
        seed=9,
        examples=3,
        interrupted=True,
        stopped_by="interrupt",
        notes=(("note.printed", {"lines": 1}), ("note.not_isolated", {})),
    )
    assert through_json(result) == result


ORDER = (
    "violated",
    "error",
    "incomplete",
    "vacuous",
    "no_violation_found",
    "no_violation_reduced",
    "holds_within_bounds",
)


def test_the_worst_verdict_stands_for_all() -> None:
    assert [verdict.value for verdict in WORST_FIRST][: len(ORDER)] == list(ORDER)
    for worse, better in itertools.combinations(ORDER, 2):
        assert worst([better, worse]) is worst([worse, better]) is Verdict(worse)


def test_what_does_not_apply_counts_only_where_nothing_else_does() -> None:
    assert worst(["not_applicable", "holds_within_bounds"]) is Verdict.HOLDS_WITHIN_BOUNDS
    assert worst(["not_applicable", "not_applicable"]) is Verdict.NOT_APPLICABLE
    assert worst([]) is Verdict.ERROR
    with pytest.raises(ValueError, match="fine"):
        worst(["fine"])


def test_every_verdict_has_an_exit_code() -> None:
    assert EXIT_CODES.keys() == set(Verdict)
    codes = [EXIT_CODES[Verdict(verdict)] for verdict in ORDER]
    assert codes == [1, 3, 4, 5, 0, 0, 0]
    assert EXIT_CODES[Verdict.NOT_APPLICABLE] == 2
