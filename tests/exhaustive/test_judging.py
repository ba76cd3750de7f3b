"""What a search says it judged is what judging each edge by itself comes to."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from tests.exhaustive.conftest import (
    MODEL,
    config_of,
    planted,
    search,
    slots,
    starter,
)

from schedproof.claims.catalogue import CLAIMS, applicable
from schedproof.claims.claim import Over
from schedproof.claims.edge import make_edge
from schedproof.claims.judge import Judge
from schedproof.search.exhaustive.scopes import Scope
from schedproof.search.results import RunResult
from schedproof.subjects.actions import STEP, Action
from schedproof.zoo.chapter_faults import BY_NAME

OF_CALLS = {"INPUT-1", "INPUT-2", "CLOCK-1"}
"""Claims that are asked about calls outside the scope as well."""


def hurried(scope: Scope) -> Scope:
    """The scope with deadlines that cannot all be met."""
    sooner = {k: k if k.deadline_in is None else replace(k, deadline_in=3) for k in scope.kinds}
    slots_of = tuple(tuple(sooner[kind] for kind in menu) for menu in scope.slots)
    return replace(scope, kinds=tuple(sooner.values()), slots=slots_of)


FAULTS = [
    "preempt-not-counted",
    "victim-stays-running",
    "event-not-logged",
    "finish-keeps-blocks",
    "finished-wait-on",
    "victim-leaves-the-queue",
]


def possible(scope: Scope, used: frozenset[int], clock: int, works: bool) -> list[Action]:
    """Every enqueue of an unused slot, and a step where somebody is unfinished."""
    enqueues: list[Action] = [
        kind.enqueue(slot, clock if scope.timed else 0)
        for slot, menu in enumerate(scope.slots)
        if slot not in used
        for kind in menu
    ]
    return [*enqueues, STEP] if works else enqueues


def one_by_one(
    target: type[Any], scope: Scope, policy: str
) -> tuple[Counter[str], Counter[str], int]:
    """How often each claim is exercised, and broken, over all edges of the scope; the states."""
    config = config_of(scope, policy)
    first = starter(target)(config)
    judge = Judge([c for c in applicable(CLAIMS, first) if c.over is not Over.RUN])
    exercised, broken = Counter[str](), Counter[str]()
    seen = {_key(first)}
    waiting = [first]
    for subject in waiting:
        before = subject.observe()
        used = frozenset(row.request_id for row in before.rows)
        works = any(not row.finished for row in before.rows)
        for action in possible(scope, used, before.clock, works):
            child = subject.fork()
            answer = child.do(action)
            judged = judge.ask(make_edge(before, action, answer, child.observe(), config.rules()))
            exercised.update(judge.names(judged.exercised))
            broken.update(claim.id for claim, _ in judged.broken)
            if _key(child) not in seen:
                seen.add(_key(child))
                waiting.append(child)
    return exercised, broken, len(seen)


def _key(subject: Any) -> Any:
    seen = subject.observe()
    return seen.free, seen.clock, frozenset(seen.rows)


def counted(result: RunResult) -> dict[str, int]:
    """How often a search says that claims about edges were exercised."""
    about = {claim.id for claim in CLAIMS if claim.over is not Over.RUN} - OF_CALLS
    return {c.id: c.exercised for c in result.claims if c.id in about and c.exercised}


@pytest.mark.parametrize(
    ("scope", "policy"),
    [("small", "fixed_priority"), ("default", "aging"), ("default", "deadline")],
)
def test_what_was_exercised_is_counted_edge_by_edge(scope: str, policy: str) -> None:
    two = hurried(slots(scope, 2))
    result = search(MODEL, two, policy)
    exercised, broken, states = one_by_one(MODEL, two, policy)
    assert result.distinct_states == states
    assert counted(result) == {k: n for k, n in exercised.items() if k not in OF_CALLS}
    assert (result.verdict, result.counterexamples) == ("holds_within_bounds", ())
    assert not broken
    assert (exercised["REACH-MISS"] > 0) is two.timed


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_broken_is_what_is_broken_edge_by_edge(name: str) -> None:
    fault = BY_NAME[name]
    target, two = planted((fault.old, fault.new)), slots("default", 2)
    result = search(target, two, identity="peer", keep_going=True)
    exercised, broken, states = one_by_one(target, two, "fixed_priority")
    assert result.distinct_states == states
    assert counted(result) == {k: n for k, n in exercised.items() if k not in OF_CALLS}
    found = {one.claim for one in result.counterexamples}
    assert found | OF_CALLS == {*broken} | OF_CALLS
    assert broken
