"""The search of the paged scheduler: what it covers, and that nothing is found in small scopes."""

from __future__ import annotations

from typing import Any

import pytest

import schedproof
from schedmodel.batch import BATCH_POLICIES
from schedproof.claims.catalogue import select
from schedproof.engines.paged_model import PagedModel
from schedproof.engines.pipelined import PipelinedSubject
from schedproof.search import policy_runs
from schedproof.search.exhaustive.batch_exhaustive import search_batches
from schedproof.search.exhaustive.exhaustive_search import Asked
from schedproof.search.exhaustive.paged_search import PagedSearch
from schedproof.search.exhaustive.scopes import load_scope
from schedproof.search.pace import Unhurried
from schedproof.search.results import RunResult
from schedproof.settings import UsageError
from schedproof.subjects.contract import Config

COUNTS = {"fcfs": (1281, 1533, 20), "fixed_priority": (1281, 1533, 20)}


def found(
    policy: str, name: str, requests: int | None = None, blocks: int | None = None
) -> RunResult:
    """Search a scope with our own paged scheduler, perhaps made smaller or larger."""
    scope = load_scope(name).resized(requests, blocks)
    first = PipelinedSubject(PagedModel(policy), Config(policy, scope.blocks, 1, scope.limits))
    return search_batches(
        lambda _config: first.fresh(),
        first.config,
        select(()),
        Asked(scope),
        Unhurried(),
        PagedSearch,
    )


@pytest.mark.parametrize("policy", BATCH_POLICIES)
def test_all_claims_hold_in_every_state_of_a_tight_pool(policy: str) -> None:
    result = found(policy, "paged-tight", 2)
    assert result.verdict == "holds_within_bounds"
    assert (result.distinct_states, result.transitions, result.depth) == COUNTS[policy]


@pytest.mark.unmeasured
def test_all_claims_hold_with_two_steps_in_flight_and_an_abort_at_every_point() -> None:
    result = found("fcfs", "paged-default")
    assert result.verdict == "holds_within_bounds"
    seen = {claim.id: claim.exercised for claim in result.claims}
    wanted = "KV-1 FLIGHT-1 ADMIT-1 COUNT-1 OUTPUT-1 PREEMPT-2 LEDGER-4 ABORT-1 VICTIM-7".split()
    assert [name for name in wanted if not seen[name]] == []
    assert (result.distinct_states, result.depth) == (10825, 20)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"scope": "batch-default"}, "paged-default"),
        ({"liveness": True}, "--liveness"),
        ({"scope": "small"}, "batch"),
    ],
)
def test_what_does_not_exist_for_the_paged_scheduler_is_refused(
    asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        schedproof.check("model:paged", **asked)


def test_a_scope_with_prompts_is_for_the_paged_scheduler_only() -> None:
    with pytest.raises(UsageError, match="model:paged"):
        schedproof.check("model:batch", scope="paged-default")


def test_model_paged_is_checked_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_runs, "ENGINE_RUNS_EACH", 1)
    checked = schedproof.check("model:paged", requests=1, time="5m", search="both", seed=1)
    assert checked.summary.subject == "model:paged"
    kinds = [(run.search, run.policy) for run in checked.runs]
    assert kinds == [(s, p) for s in ("exhaustive", "random") for p in BATCH_POLICIES]
    assert (checked.verdict, checked.exit_code) == ("no_violation_found", 0)
