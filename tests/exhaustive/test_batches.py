"""The search over schedulers of batches: what it covers, that it is right, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.exhaustive.slow_batches import Patient, search, start_of

import schedproof
from schedmodel.batch import BATCH_POLICIES, Batch, BatchRequest, BatchScheduler
from schedproof.claims.catalogue import select
from schedproof.claims.judge import Judge
from schedproof.search.exhaustive.batch_exhaustive import search_batches
from schedproof.search.exhaustive.batch_search import BatchSearch
from schedproof.search.exhaustive.bfs import Options
from schedproof.search.exhaustive.exhaustive_search import Asked
from schedproof.search.exhaustive.scopes import Scope, load_scope
from schedproof.search.results import RunResult
from schedproof.settings import UsageError
from schedproof.subjects.actions import Action
from schedproof.subjects.batch import BatchSubject, Mark
from schedproof.subjects.contract import Config

SMALL = load_scope("batch-default").resized(2, None)
COUNTS = {"fcfs": (469, 662, 11), "fixed_priority": (472, 663, 11)}


def result(
    scheduler: type[Any],
    claims: str = "",
    policy: str = "fcfs",
    scope: Scope = SMALL,
    **asked: Any,
) -> RunResult:
    config = Config(policy, scope.blocks, 1, scope.limits)
    chosen = select([claims] if claims else [])
    return search_batches(start_of(scheduler), config, chosen, Asked(scope, **asked), Patient())


@pytest.mark.parametrize("policy", BATCH_POLICIES)
def test_our_scheduler_keeps_all_claims_in_every_state_of_a_small_scope(policy: str) -> None:
    found = result(BatchScheduler, policy=policy)
    assert found.verdict == "holds_within_bounds"
    assert (found.distinct_states, found.transitions, found.depth) == COUNTS[policy]
    live = next(claim for claim in found.claims if claim.id == "LIVE-1")
    assert (live.verdict, live.exercised) == ("holds_within_bounds", found.distinct_states)
    assert search(BatchScheduler, policy, SMALL).endless is None


def replayed(policy: str) -> tuple[int, int, int]:
    """States, edges and depth of the small scope, each state reached from the start anew."""
    start, config = start_of(BatchScheduler), Config(policy, SMALL.blocks, 1, SMALL.limits)
    possible = BatchSearch(start(config), SMALL, Judge([]), Patient(), Options())._possible
    level: list[tuple[Action, ...]] = [()]
    seen, edges, depth = {_reached(start(config), ())}, 0, -1
    while level:
        depth += 1
        following: list[tuple[Action, ...]] = []
        for path in level:
            for action in possible(_reached(start(config), path)):
                edges += 1
                mark = _reached(start(config), (*path, action))
                if mark not in seen:
                    seen.add(mark)
                    following.append((*path, action))
        level = following
    return len(seen), edges, depth


def _reached(subject: BatchSubject, path: Sequence[Action]) -> Mark:
    subject.observe()
    for action in path:
        subject.do(action)
        subject.observe()
    return subject.mark()


def test_states_that_are_written_back_are_those_that_are_reached_from_the_start() -> None:
    assert replayed("fixed_priority") == COUNTS["fixed_priority"]


class Forgetful(BatchScheduler):
    """Counts its steps on the class, where no search sees it, and then serves nobody."""

    steps = 0

    def schedule(self) -> Batch:
        type(self).steps += 1
        return super().schedule() if type(self).steps < 60 else Batch()


class Hoarder(BatchScheduler):
    """Keeps something that cannot be written back."""

    def __init__(self, **about: Any) -> None:
        super().__init__(**about)
        self.log: dict[int, Callable[[], None]] = {}


class Idler(BatchScheduler):
    """Lets nobody in who would need a second block one day."""

    def _fits(self, request: BatchRequest, batch: Batch) -> bool:
        return super()._fits(request, batch) and request.max_new_tokens < 3


def test_what_is_hidden_ends_the_search_as_an_error() -> None:
    assert result(Hoarder).trouble.message_id == "contract.hidden"  # type: ignore[union-attr]
    Forgetful.steps = 0
    found = result(Forgetful, claims="LIFE-4")
    assert found.trouble is not None
    assert found.verdict == "error"


def test_steps_that_never_lead_to_the_end_are_found_over_all_states() -> None:
    found = result(Idler, claims="LIVE-1")
    (example,) = found.counterexamples
    assert (example.claim, example.text, example.shortest) == ("LIVE-1", "LIVE-1", False)
    assert [action["op"] for action in example.actions[:1]] == ["enqueue"]
    assert result(Idler).counterexamples[0].claim == "STALL-1"


def test_keep_going_tells_one_shortest_for_each_claim_and_all_shortest_all_of_a_length() -> None:
    every = result(Idler, keep_going=True)
    assert [found.claim for found in every.counterexamples] == ["STALL-1"]
    ties = result(Idler, all_shortest=True).counterexamples
    assert {found.length for found in ties} == {ties[0].length}
    assert len(ties) > 1


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"liveness": True}, "--liveness"),
        ({"identity": "peer"}, "--identity"),
        ({"reduce": "clock"}, "--reduce"),
        ({"scope": "small"}, "batch-default"),
    ],
)
def test_what_does_not_exist_for_batches_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        schedproof.check("model:batch", **asked)


def test_a_scope_of_batches_is_for_batches_only() -> None:
    with pytest.raises(UsageError, match="model:batch"):
        schedproof.check("model", scope="batch-default")


def test_model_batch_is_checked_under_its_policies() -> None:
    checked = schedproof.check("model:batch", requests=1, time="5m", no_save=True)
    assert checked.summary.subject == "model:batch"
    assert [run.policy for run in checked.runs] == list(BATCH_POLICIES)
    assert checked.verdict == "holds_within_bounds"
    assert checked.runs[0].bounds["block_size"] == 2
    other = schedproof.check("model:batch", policy="aging", requests=1, no_save=True)
    assert (other.verdict, other.exit_code) == ("not_applicable", 2)
