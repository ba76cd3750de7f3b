"""What an edge and a run show of what happened, and what they leave out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.claims.batch_cases import DECODE, A
from tests.claims.batch_cases import play as play_batch
from tests.claims.conftest import (
    AFTER_FINISH,
    BIG,
    FINISH,
    IDLE,
    LATE,
    NEW,
    ON_TIME,
    ONE,
    PREEMPTION,
    PREFILL,
    PREFILL_OF_TWO,
    REFUSED,
    STUCK,
    TIMED,
    TOKEN,
    TWO,
    URGENT,
    after,
    answered,
    changed,
    gone,
    play,
    run_of,
)

from schedproof.claims.edge import Breach, Change, Edge, stored_differences
from schedproof.claims.liveness import drain_bound, fitting, step_drains
from schedproof.claims.run import choice_of, map_enqueues
from schedproof.subjects.actions import STEP, Action, Enqueue
from schedproof.subjects.observation import Span
from schedproof.zoo.plain import PlainScheduler


def test_a_breach_is_not_true() -> None:
    assert not Breach("LEDGER-1")


THREE = replace(TWO, request_id=3)
WAITS_BESIDE_ONE_THAT_RESTS = play(ONE, *[STEP] * 4, TWO, THREE)
MADE: dict[str, tuple[Edge, tuple[Action, ...]]] = {
    "one rests, one waits": (WAITS_BESIDE_ONE_THAT_RESTS, (ONE, *[STEP] * 4, TWO, THREE)),
    "an enqueue": (NEW, (ONE,)),
    "a deadline": (ON_TIME, (TIMED, STEP)),
    "a prefill": (PREFILL, (ONE, STEP)),
    "a preemption": (PREEMPTION, (BIG, STEP, STEP, URGENT, STEP)),
    "somebody rests": (AFTER_FINISH, (ONE, *[STEP] * 4, TWO)),
}


@pytest.mark.parametrize("name", MADE)
def test_an_edge_has_all_that_was_seen(name: str) -> None:
    known, actions = MADE[name]
    edge = play(*actions)
    worked_out = {"before_by_id", "after_by_id", "stepped"}
    assert worked_out < set(vars(edge)), "worked out when it is made: every edge needs them"
    assert repr(replace(edge, rules=known.rules)) == repr(known)
    assert (edge.ticks, edge.logged) == ((1, 1) if edge.stepped else (0, 0))
    assert [*edge.before_by_id.items()] == [(row.request_id, row) for row in edge.before]
    assert [*edge.after_by_id.items()] == [(row.request_id, row) for row in edge.after]
    assert edge.stepped is (actions[-1] is STEP)


def test_an_edge_of_batches_has_pools_and_queues() -> None:
    edge = play_batch(A, STEP, STEP)
    assert repr(replace(edge, rules=DECODE.rules)) == repr(DECODE)
    assert edge.paged_before is not None
    assert edge.paged_after is not None


def test_finished_requests_that_rest_are_left_out_but_mentioned() -> None:
    assert [row.request_id for row in FINISH.after] == [1]
    assert AFTER_FINISH.before == ()
    assert [row.request_id for row in AFTER_FINISH.after] == [2]
    assert [FINISH.some_finished, AFTER_FINISH.some_finished] == [False, True]


def test_the_clock_is_shown_only_where_a_deadline_is() -> None:
    assert TOKEN.clock is None
    assert LATE.clock == 0
    assert play(ONE, STEP, TIMED).clock == 1
    assert play(TIMED, *(STEP,) * 3, TWO, STEP).clock is None  # the deadline is history
    assert play(replace(TIMED, deadline_step=0)).clock == 0  # refused, for its deadline


def test_an_edge_counts_ticks_and_events() -> None:
    assert [(edge.ticks, edge.logged) for edge in (NEW, PREFILL, STUCK)] == [(0, 0), (1, 1), (0, 0)]


def test_an_edge_says_who_was_served_refused_and_chosen() -> None:
    assert [REFUSED.refused, NEW.refused, PREFILL.refused] == [True, False, False]
    assert [PREFILL.served, STUCK.served] == [(1,), ()]
    assert PREFILL_OF_TWO.chosen is PREFILL_OF_TWO.before[0]
    assert STUCK.chosen is None
    assert answered(PREFILL, batch=(Span(1, "prefill"), Span(2, "prefill"))).chosen is None
    assert answered(PREFILL, batch=(Span(9, "prefill"),)).chosen is None


def test_victims_are_those_named_and_those_whose_count_or_status_says_so() -> None:
    silent = answered(PREEMPTION, preempted=())
    assert PREEMPTION.victims == silent.victims == (1,)
    assert after(silent, 1, status="running").victims == (1,)
    assert after(silent, 1, preemptions=0).victims == (1,)
    assert after(silent, 1, preemptions=0, status="running").victims == ()
    assert answered(PREEMPTION, preempted=(2, 9)).victims == (1, 2, 9)
    assert gone(silent, 1).victims == ()


def test_a_victim_is_named_by_a_number_or_not_at_all() -> None:
    assert answered(PREEMPTION, preempted=("r1",)).victims == (1,)


def test_only_steps_preempt() -> None:
    assert after(replace(REFUSED, action=NEW.action), 1, status="preempted").victims == ()


def test_changes_list_everybody_with_what_ran() -> None:
    edge = gone(PREEMPTION, 2)
    newcomer = changed(NEW.after[0], request_id=3)
    edge = replace(edge, after=(*edge.after, newcomer))
    victim, challenger = PREEMPTION.before
    assert edge.changes == (
        Change(victim, PREEMPTION.after[0], None, True, True, True),
        Change(challenger, None, "prefill", True, False, True),
        Change(None, newcomer, None, True, False, True),
    )
    assert NEW.changes == (Change(None, NEW.after[0], None, False, False, False),)


def test_a_report_is_read_by_key() -> None:
    assert PREFILL.event["action"] == "prefill_to_decode"
    assert STUCK.event == NEW.event == {}


def test_differences_are_told_by_name_with_those_of_further_attributes() -> None:
    row = changed(NEW.after[0], extra=(("age", 1), ("kept", 2), ("lost", 3)))
    other = changed(row, wait_steps=4, extra=(("age", 2), ("kept", 2), ("new", None)))
    assert stored_differences(row, other) == ("wait_steps", "age", "lost", "new")
    assert stored_differences(row, row) == ()


def test_equal_edges_are_equal_and_hash_alike() -> None:
    assert replace(PREFILL) == PREFILL
    assert hash(replace(PREFILL)) == hash(PREFILL)
    assert replace(PREFILL, free_after=0) != PREFILL


# -- draining ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("edge", "drains"),
    [
        (NEW, True),
        (IDLE, True),
        (STUCK, True),
        (PREFILL, True),
        (FINISH, True),
        (replace(PREFILL, after=PREFILL.before), False),
        (replace(PREFILL, after=PREFILL.before * 2), False),
    ],
)
def test_a_step_drains_if_it_takes_from_the_work_left(edge: Edge, drains: bool) -> None:
    assert step_drains(edge) is drains


def test_the_bound_of_a_drain_counts_only_what_fits() -> None:
    too_large = replace(BIG, request_id=3, required_blocks=4)
    run = run_of(PlainScheduler, ONE, too_large, replace(TWO, required_blocks=3), STEP, blocks=3)
    assert [row.request_id for row in fitting(run.final)] == [1, 2]
    assert drain_bound(run.final) == 3 + 3


# -- runs --------------------------------------------------------------------


def test_a_run_leaves_refused_enqueues_out_of_comparisons() -> None:
    run = run_of(PlainScheduler, ONE, ONE, STEP)
    assert run.accepted == (ONE, STEP)
    assert run.base == run.answers[-1:]


def test_a_choice_is_who_was_served_and_at_whose_cost() -> None:
    assert choice_of(PREEMPTION.answer) == (2, "prefill_to_decode", 1)
    assert choice_of(STUCK.answer) is None


def test_enqueues_are_rewritten_and_other_actions_kept() -> None:
    actions = (ONE, STEP, TWO)
    raised = map_enqueues(actions, lambda enqueue: {"priority": enqueue.request_id})
    assert raised == (replace(ONE, priority=1), STEP, replace(TWO, priority=2))
    assert all(isinstance(a, Enqueue) for a in (raised[0], raised[2]))
