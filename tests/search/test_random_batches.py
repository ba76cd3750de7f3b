"""The Hypothesis machine on schedulers of batches: it aborts, it preempts, it finds."""

from __future__ import annotations

import pytest

import schedproof
from schedproof.search import random_search

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests


def test_random_runs_of_our_scheduler_of_batches_are_clean_and_exercise_it() -> None:
    found = schedproof.check(
        "model:batch", search="random", seed=3, policy="fixed_priority", time="5m", no_save=True
    )
    (run,) = found.runs
    assert (run.verdict, run.seed) == ("no_violation_found", 3)
    exercised = {claim.id: claim.exercised for claim in run.claims}
    for claim in ("VICTIM-7", "ABORT-1", "REJECT-1", "FAIR-1", "PROGRESS-4", "INPUT-2", "LIVE-1"):
        assert exercised[claim], claim
    assert exercised["REACH-SEATS"], "a limit that is never met is never tested"
    assert exercised["REACH-BUDGET"]
    assert run.bounds["max_num_batched_tokens"] == 4
    assert "deadline_in" not in run.bounds


def test_random_runs_find_a_fault_of_batches_and_make_it_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(random_search, "SHRINK_SECONDS", 300.0)  # on a machine however busy
    found = schedproof.check(
        "fault:abort-frees-twice", search="random", seed=1, policy="fcfs", time="5m", no_save=True
    )
    assert found.first is not None
    assert found.first.claim == "ABORT-1"
    assert found.first.length <= 5
    assert [set(a["args"]) for a in found.first.actions if a["op"] == "enqueue"] == [
        {"request_id", "prompt_len", "max_new_tokens", "priority"}
    ]
