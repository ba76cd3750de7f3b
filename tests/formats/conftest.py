"""Results to be written in other formats: real violations, and made-up runs of every verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.telling.conftest import FOUND

from schedproof.search.results import ClaimResult, RunResult, Trouble
from schedproof.telling.report import Summary

SUBJECT = "examples/lost_progress.py:LostProgress"


def clean(**fields: Any) -> RunResult:
    """A run that found nothing; any field can be given."""
    told = [("LEDGER-1", "no_violation_found", 60), ("REACH-MISS", "not_reached", 0)]
    told += [("WORK-1", "not_exercised", 0), ("LIVE-1", "not_applicable", 0)]
    usual: dict[str, Any] = {
        "policy": "aging",
        "search": "random",
        "verdict": "no_violation_found",
        "identity": None,
        "bounds": {"requests": 3, "blocks": 3, "priorities": [-1, 3]},
        "distinct_states": None,
        "transitions": 4321,
        "depth": 12,
        "seconds": 1.25,
        "claims": tuple(ClaimResult(*claim) for claim in told),
        "seed": 7,
        "examples": 100,
    }
    return RunResult(**{**usual, **fields})


def troubled(**fields: Any) -> RunResult:
    """A run whose scheduler raised, with signs that no format may take for its own."""
    lines = [[1, "def step(self):"], [2, "    return self.x"]]
    place = {"path": "mine.py", "line": 2, "function": "step", "cell": None, "lines": lines}
    values = {"call": "step", "type": "KeyError", "text": "'<a> | & ``` \x00 `x`'"}
    trouble = Trouble("raised", "error.raised", values, place, ({"op": "step"},))
    return clean(**{"policy": "fcfs", "verdict": "error", "trouble": trouble, **fields})


def under(policy: str, run: RunResult) -> RunResult:
    """The same run as if another policy had been searched."""
    found = tuple(replace(one, policy=policy) for one in run.counterexamples)
    return replace(run, policy=policy, counterexamples=found)


@pytest.fixture(scope="session")
def broken() -> Summary:
    """Two mistakes, one of them under two policies, and a run that found nothing."""
    lost = FOUND["progress-2"]()
    (example,) = lost.counterexamples
    lost = replace(lost, counterexamples=(replace(example, kept_as="PROGRESS-2-7c1e"),))
    runs = (lost, under("deadline", lost), under("fcfs", FOUND["ledger-1"]()), clean())
    return Summary(SUBJECT, runs, 4.5)
