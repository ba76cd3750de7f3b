"""Planted faults are found, by the fewest actions there are, and nothing else is.

That nothing shorter exists is confirmed by an oracle that knows no state: it tries every
sequence of actions on new schedulers.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.exhaustive.conftest import (
    BOTH,
    LEAKS,
    PINNED,
    SECOND,
    THE_FOUR,
    THE_SEVEN,
    ZEROES,
    Edit,
    config_of,
    lengths,
    planted,
    search,
    slots,
    starter,
)

from schedproof.claims.catalogue import CLAIMS, applicable
from schedproof.claims.claim import Over
from schedproof.claims.judge import Judge
from schedproof.search.exhaustive.scopes import Scope, load_scope
from schedproof.search.session import ClaimBroken, Session
from schedproof.subjects.actions import STEP, Action, Enqueue, from_json
from schedproof.zoo import plain
from schedproof.zoo.plain import PlainScheduler

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

QUICK = [
    (fault, scope)
    for fault in THE_FOUR
    for scope in ("small", "default", "medium", "large")
    if scope == "small" or "second" not in fault  # the rest is in slow_searches.py
]


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize(("fault", "scope"), QUICK)
def test_the_four_faults_are_found_by_the_same_number_of_actions(
    fault: str, scope: str, policy: str
) -> None:
    edit, length = THE_FOUR[fault]
    found = search(planted(edit), scope, policy)
    assert found.verdict == "violated"
    (told,) = found.counterexamples
    assert (told.length, told.shortest, told.found_by) == (length, True, "exhaustive")
    assert (told.policy, told.blocks, told.aging_interval) == (policy, 3, 2)
    ((message, certificate),) = found.notes
    assert message == "note.certificate"
    assert certificate["actions"] == length - 1
    assert 0 < certificate["states"] <= (found.distinct_states or 0)


def test_a_certificate_counts_the_states_that_fewer_actions_reach() -> None:
    found = search(planted(LEAKS), "small")
    whole = tried(PlainScheduler, load_scope("small"), 2)
    assert found.notes == (("note.certificate", {"actions": 2, "states": len(whole)}),)


FOUND_UNDER = {
    "preemption zeroes the tokens": ("fixed_priority", "PROGRESS-2"),
    "preemption returns the challenger's blocks": ("fixed_priority", "LEDGER-1"),
    "equals are preempted": ("fixed_priority", "VICTIM-3"),
    "victims do not age": ("aging", "ORDER-1"),
    "the chosen one waits too": ("fcfs", "WAIT-1"),
    "preemption drops the deadline": ("fixed_priority", "PROGRESS-2"),
    "preemption resets the wait": ("deadline", "WAIT-1"),
}


@pytest.mark.parametrize("fault", THE_SEVEN)
def test_what_passes_the_tests_of_the_chapter_is_found_in_the_default_scope(fault: str) -> None:
    policy, claim = FOUND_UNDER[fault]
    found = search(planted(THE_SEVEN[fault]), "default", policy)
    assert [told.claim for told in found.counterexamples] == [claim]


# The oracle.


def possible(scope: Scope, actions: tuple[Action, ...]) -> list[Action]:
    """Every action that the scope allows next; a step at any time, for what it is worth."""
    used = {action.request_id for action in actions if isinstance(action, Enqueue)}
    clock = 0
    enqueues: list[Action] = [
        kind.enqueue(slot, clock)
        for slot, menu in enumerate(scope.slots)
        if slot not in used
        for kind in menu
    ]
    return [*enqueues, STEP]


def broken_by(target: type[Any], scope: Scope, judge: Judge, actions: tuple[Action, ...]) -> bool:
    session = Session(starter(target), config_of(scope), judge)
    try:
        for action in actions:
            session.do(action)
    except ClaimBroken:
        return True
    return False


def shortest(target: type[Any], scope: Scope, limit: int) -> int | None:
    """The least number of actions, up to `limit`, by which any claim about edges is broken."""
    about = applicable(CLAIMS, starter(target)(config_of(scope)))
    judge = Judge([claim for claim in about if claim.over is not Over.RUN])
    sequences: list[tuple[Action, ...]] = [()]
    for length in range(1, limit + 1):
        sequences = [(*before, a) for before in sequences for a in possible(scope, before)]
        if any(broken_by(target, scope, judge, actions) for actions in sequences):
            return length
    return None


def tried(target: type[Any], scope: Scope, limit: int) -> set[Any]:
    """Every state, the queue in its order, that at most `limit` actions lead to."""
    start = starter(target)
    seen: set[Any] = set()
    sequences: list[tuple[Action, ...]] = [()]
    for _ in range(limit + 1):
        for actions in sequences:
            subject = start(config_of(scope))
            for action in actions:
                subject.do(action)
            seen.add(subject.observe()[:4])
        sequences = [(*before, a) for before in sequences for a in possible(scope, before)]
    return seen


@pytest.mark.parametrize(
    ("edit", "length", "scope"),
    [
        (LEAKS, 3, slots("small", 3)),
        (PINNED, 4, slots("small", 3)),
        (THE_SEVEN["preemption returns the challenger's blocks"], 4, slots("small", 3)),
        (ZEROES, 5, slots("small", 2)),
    ],
)
def test_trying_every_sequence_finds_nothing_shorter(edit: Edit, length: int, scope: Scope) -> None:
    broken = planted(edit)
    assert lengths(search(broken, scope)) == [length]
    assert shortest(broken, scope, length) == length


def test_trying_every_sequence_finds_nothing_in_the_plain_scheduler() -> None:
    assert shortest(PlainScheduler, slots("small", 2), 4) is None


@pytest.mark.parametrize("policy", plain.POLICIES)
def test_a_counterexample_is_a_run_that_breaks_the_claim_on_a_new_scheduler(policy: str) -> None:
    broken = planted(LEAKS)
    (told,) = search(broken, "default", policy).counterexamples
    scope = load_scope("default")
    config, start = config_of(scope, policy), starter(broken)
    session = Session(start, config, Judge(applicable(CLAIMS, start(config))))
    *before, last = map(from_json, told.actions)
    for action in before:
        session.do(action)
    with pytest.raises(ClaimBroken) as caught:
        session.do(last)
    assert caught.value.violation.claim.id == told.claim
    assert len(told.trail) == told.length


def test_the_second_preemption_is_told_with_its_whole_story() -> None:
    (told,) = search(planted(SECOND), "small", "aging").counterexamples
    assert sum(len(step.preempted) for step in told.trail) == 2
    assert told.before is not None
    assert told.after is not None
    assert told.after.free + told.after.held < told.blocks == told.before.free + told.before.held
