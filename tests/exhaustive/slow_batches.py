"""The whole default scope of batches; no test runner collects this file unless it is named.

python -m pytest tests/exhaustive/slow_batches.py     (half a minute)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schedmodel.batch import BatchScheduler
from schedproof.claims.catalogue import CLAIMS, applicable
from schedproof.claims.judge import Judge
from schedproof.search.exhaustive.batch_search import BatchSearch, Outcome
from schedproof.search.exhaustive.bfs import Options
from schedproof.search.exhaustive.scopes import Scope, load_scope
from schedproof.subjects.batch import BatchSubject, from_batch_class
from schedproof.subjects.contract import Config

COUNTS = {"fcfs": (16_364, 26_918, 15), "fixed_priority": (17_441, 28_996, 15)}
MUST_BE_EXERCISED = "PREEMPT-1 VICTIM-7 FAIR-1 PROGRESS-4 WORK-2 STALL-1".split()


class Patient:
    """A pace without end."""

    interrupted, deadline = False, float("inf")
    action = 0

    def progress(self, _data: dict[str, Any]) -> None:
        """Nobody listens."""


def start_of(scheduler: type[Any]) -> Callable[[Config], BatchSubject]:
    """Makes subjects of one class; those of one configuration share their table of rows."""
    first: dict[Config, BatchSubject] = {}

    def start(config: Config) -> BatchSubject:
        known = first.get(config)
        if known is not None:
            return known.fresh()
        make = from_batch_class(scheduler)
        return first.setdefault(config, BatchSubject(make, config, strict_types=True))

    return start


def search(scheduler: type[Any], policy: str, scope: Scope, judge: Judge | None = None) -> Outcome:
    """The bare search of a scope."""
    subject = start_of(scheduler)(Config(policy, scope.blocks, 1, scope.limits))
    judge = judge or Judge(applicable(CLAIMS, subject))
    return BatchSearch(subject, scope, judge, Patient(), Options()).run()


@pytest.mark.parametrize("policy", COUNTS)
def test_the_default_scope_is_clean_and_exercises_what_it_should(policy: str) -> None:
    scope = load_scope("batch-default")
    config = Config(policy, scope.blocks, 1, scope.limits)
    judge = Judge(applicable(CLAIMS, start_of(BatchScheduler)(config)))
    outcome = search(BatchScheduler, policy, scope, judge)
    assert (outcome.distinct_states, outcome.transitions, outcome.depth) == COUNTS[policy]
    assert (outcome.complete, outcome.hits, outcome.endless) == (True, [], None)
    exercised = judge.exercised()
    wanted = MUST_BE_EXERCISED if policy == "fixed_priority" else MUST_BE_EXERCISED[1:]
    assert [claim for claim in wanted if not exercised[claim]] == []
