"""Edges at the border of a claim: the least that breaks it, and the most that does not.

Rules. Each is an edge of our own with one thing changed, and what the claim must say of it: the
text of its breach, True where it looked and found nothing, None where it had nothing to look at.
What claims say in plain cases, and in which words, stands in the tables of the other files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.claims import flight_cases as flight
from tests.claims.batch_cases import (
    ABORT,
    ABORT_OF_ONE,
    ADMISSION,
    BOTH,
    CONFIG,
    DECODE,
    EVICTION,
    FIRST,
    FULL,
    GROWTH,
    REJECTION,
    A,
    B,
    C,
    paged,
    ran,
)
from tests.claims.batch_cases import play as play_batch
from tests.claims.conftest import (
    BIG,
    IDLE,
    NEW,
    ONE,
    PASSED_BY,
    PREEMPTION,
    PREFILL_OF_TWO,
    SECOND,
    SKIP,
    TWO,
    after,
    answered,
    before,
    changed,
    play,
    run_of,
    told,
)
from tests.claims.engine_cases import FINISH, OURS, came

from schedmodel.batch import BatchScheduler
from schedproof.claims.catalogue import BY_ID
from schedproof.claims.edge import Breach, Change, Edge, stored_differences
from schedproof.claims.judge import Judge
from schedproof.claims.liveness import Rounds, drain_bound, fitting, is_served_again
from schedproof.claims.progress import only_the_chosen_advance
from schedproof.subjects.actions import STEP, Abort, BatchEnqueue
from schedproof.subjects.batch import BatchSubject, from_batch_class
from schedproof.subjects.observation import Miscount
from schedproof.zoo.plain import PlainScheduler


class Idle(PlainScheduler):
    """Serves nobody."""

    def step(self) -> dict[str, Any] | None:
        return None


Said = str | bool | None


def was_paged(edge: Edge, **values: Any) -> Edge:
    """The edge, had the pool, the queues and the limits looked like this before it."""
    assert edge.paged_before is not None
    return replace(edge, paged_before=edge.paged_before._replace(**values))


def full(edge: Edge) -> Edge:
    """The edge, had r1's block been full before it, and had only r0 run."""
    return before(ran(edge, FIRST), 1, computed_len=2)


def shared(edge: Edge) -> Edge:
    """The edge, had r1 had the block of r0 all the time, and had none come back."""
    table = edge.before_by_id[0].block_ids
    row = changed(edge.before_by_id[1], block_ids=table)
    rows = [
        tuple(row if r.request_id == 1 else r for r in each) for each in (edge.before, edge.after)
    ]
    return replace(edge, before=rows[0], after=rows[1], free_after=edge.free_before)


def in_parts(edge: Edge, rejected: Any) -> Edge:
    return answered(was_paged(edge, in_parts=True), rejected=rejected)


WAITS_BEHIND = play_batch(A, B, C, STEP, STEP, STEP)
assert WAITS_BEHIND.victims == (1,), "nobody gives way in it"
TWO_WAIT = play_batch(A, B, C, STEP)
SIX = play_batch(BatchEnqueue(0, 1, 6))
UNTOUCHED = paged(BOTH, references=(1, 0, 0), free_ids=(1, 2))
PAST = FIRST._replace(end=99)

BORDERS: dict[str, list[tuple[Said, Edge]]] = {
    "LEDGER-4": [
        (True, DECODE),
        (None, REJECTION),
        ("LEDGER-4.count", paged(ADMISSION, references=(2, 1, 1))),
        ("LEDGER-4.count", paged(ADMISSION, references=(-1, 0, 0))),
        ("LEDGER-4.count", after(ADMISSION, 0, block_ids=(9,))),
        ("LEDGER-4.count", after(ADMISSION, 0, block_ids=(3,))),
        ("LEDGER-4.count", after(UNTOUCHED, 1, block_ids=(0,))),
    ],
    "BATCH-1": [
        (True, paged(ran(BOTH, PAST, BOTH.answer.batch[1]), max_num_batched_tokens=999)),
        (True, paged(BOTH, max_num_batched_tokens=2)),
        ("BATCH-1.seats", paged(ran(BOTH, FIRST), max_num_seqs=1)),
        (True, paged(ran(BOTH, FIRST), max_num_seqs=1, seats_per_step=True)),
    ],
    "WORK-2": [
        (True, was_paged(ran(BOTH, FIRST), max_num_batched_tokens=1)),
        ("WORK-2", was_paged(ran(BOTH, FIRST), max_num_batched_tokens=2)),
        ("WORK-2", replace(ran(BOTH, FIRST), free_after=0)),
        ("WORK-2", before(ran(BOTH), 0, status="preempted")),
        ("WORK-2.free_blocks", full(BOTH)),
        (True, replace(full(BOTH), free_after=0)),
        (True, after(full(BOTH), 0, status="finished")),
        ("WORK-2.free_blocks", after(full(BOTH), 1, status="finished")),
    ],
    "REJECT-1": [
        (True, in_parts(SIX, None)),
        ("REJECT-1.fits", in_parts(SIX, ("blocks", 9, 3))),
        ("REJECT-1.late", after(BOTH, 1, status="finished", finish_reason="rejected")),
        (
            "REJECT-1.late",
            after(before(after(BOTH, 0, status="finished", finish_reason="rejected"),
                         0, status="finished"),
                  1, status="finished", finish_reason="rejected"),
        ),
    ],
    "FAIR-1": [
        (True, before(FULL, 2, arrival_index=1)),
        (True, before(EVICTION, 1, arrival_index=0)),
        (True, WAITS_BEHIND),
    ],
    "ABORT-1": [
        (True, shared(ABORT_OF_ONE)),
        (True, before(ABORT, 0, block_ids=None)),
        ("ABORT-1.goes_on", after(ABORT, 0, finish_reason="length")),
        ("ABORT-1.goes_on", after(ABORT, 0, status="waiting")),
    ],
    "LIFE-4": [
        ("LIFE-4.queued", paged(DECODE, running=(0, 0))),
        ("LIFE-4.queued", paged(BOTH, running=(0, 0))),
        ("LIFE-4.queued", paged(ABORT, waiting=(0,))),
        ("LIFE-4.stray", paged(ABORT, running=(9,))),
        ("LIFE-4.queued", paged(play_batch(A, B, C, BatchEnqueue(3, 1, 4), STEP), waiting=(2, 2))),
        ("LIFE-4.queued", paged(TWO_WAIT, running=(0, 0, 0, 1, 1), waiting=(2, 2))),
    ],
    "STALL-3": [
        (True, came(FINISH)),
        (True, came(GROWTH, since_token=9)),
        (None, replace(came(GROWTH), before=(), after=())),
    ],
    "STALL-2": [(None, came(NEW)), (True, OURS)],
    "COUNT-1": [
        ("COUNT-1.too_many", came(GROWTH, miscount=Miscount(0, "cached", 0, -1))),
    ],
    "STALL-1": [
        (True, DECODE),
        (None, came(IDLE, raised=("schedule",), idle=1)),
        (None, came(ran(BOTH), idle=1, idle_max=1)),
        ("STALL-1", came(ran(BOTH), idle=1)),
    ],
    "FLIGHT-1": [
        ("FLIGHT-1", answered(flight.THREE, batch=flight.THREE.answer.batch[:1])),
    ],
    "LIFE-1": [("LIFE-1.no_step", after(ABORT, 0, finish_reason="length"))],
    "PROGRESS-1": [
        ("PROGRESS-1.phase", after(BOTH, 0, phase="prefill")),
        ("PROGRESS-1.phase", after(PREEMPTION, 1, phase="prefill")),
    ],
    "PROGRESS-3": [
        (True, PREFILL_OF_TWO),
        ("PROGRESS-3.not_chosen", after(ran(BOTH, FIRST), 1, generated_len=1, phase="prefill")),
        ("PROGRESS-3.not_chosen", after(PREEMPTION, 1, phase="prefill")),
    ],
}  # fmt: skip
CASES = [(name, said, edge) for name, cases in BORDERS.items() for said, edge in cases]


@pytest.mark.parametrize(("name", "said", "edge"), CASES)
def test_a_claim_says_of_an_edge_at_its_border(name: str, said: Said, edge: Edge) -> None:
    exercised, broken = told(BY_ID[name], edge)
    found: Said = broken[0].text if broken else exercised or None
    assert found == said


def test_what_is_counted_elsewhere_is_added_up() -> None:
    judge = Judge([BY_ID["LIVE-1"]])
    judge.count("LIVE-1", 2)
    judge.count("LIVE-1")
    assert judge.exercised() == {"LIVE-1": 3}


def test_a_wrong_count_of_preemptions_is_told_with_how_many_were_counted() -> None:
    edge = before(after(PREEMPTION, 1, preemptions=7), 1, preemptions=4)
    _, (breach,) = told(BY_ID["PROGRESS-2"], edge)
    assert (breach.text, breach.values["count"]) == ("PROGRESS-2.count", 3)


def test_a_turn_is_missed_with_the_room_that_was_left() -> None:
    edge = before(ran(BOTH, FIRST), 1, computed_len=None)
    _, (breach,) = told(BY_ID["WORK-2"], edge)
    assert breach.values["left"] == 2


KEPT_FREE = play(
    replace(BIG, preemptible=False), STEP,
    replace(TWO, required_blocks=3, priority=9), replace(ONE, request_id=3), STEP,
    policy="reserved_aging",
)  # fmt: skip


def test_who_stands_behind_a_reservation_is_not_first() -> None:
    edge = replace(KEPT_FREE)
    assert told(BY_ID["ORDER-1"], edge) == (True, [])
    assert edge.served == (1,)
    passed = answered(edge, batch=(edge.answer.batch[0]._replace(request_id=3),))
    _, (breach,) = told(BY_ID["ORDER-1"], passed)
    assert breach.values["right"] == "r1"


def test_no_part_of_the_key_is_named_where_the_key_does_not_decide() -> None:
    first_without_room = answered(SKIP, batch=(SKIP.answer.batch[0]._replace(request_id=1),))
    _, (breach,) = told(BY_ID["ORDER-1"], first_without_room)
    assert breach.values == {"chosen": 1, "right": "r2"}


def test_the_one_that_is_there_twice_is_named() -> None:
    twice = replace(SECOND, after=(*SECOND.after, SECOND.after[-1]))
    _, (breach,) = told(BY_ID["LIFE-4"], twice)
    assert (breach.text, breach.values["request"]) == ("LIFE-4.twice", 2)


def test_what_a_preemption_changes_is_told_with_both_values_of_further_attributes() -> None:
    edge = before(after(PREEMPTION, 1, extra=(("age", 2),)), 1, extra=(("age", 1),))
    _, (breach,) = told(BY_ID["PROGRESS-2"], edge)
    assert breach.values["changes"] == "age 1 → 2"


def test_who_is_not_served_keeps_its_progress_also_alone() -> None:
    (row,) = NEW.after
    assert only_the_chosen_advance(Change(row, row, None, True, False, True)) is True
    assert only_the_chosen_advance(Change(row, row, None, False, False, True)) is None


def test_who_stays_preempted_is_no_victim_again() -> None:
    assert replace(PASSED_BY).victims == ()
    assert 1 in {row.request_id for row in PASSED_BY.after if row.status == "preempted"}


def test_an_attribute_that_was_none_and_is_gone_differs() -> None:
    row = changed(NEW.after[0], extra=(("age", None),))
    assert stored_differences(row, changed(row, extra=())) == ("age",)
    assert stored_differences(changed(row, extra=()), row) == ("age",)


def test_who_did_not_change_is_on_the_edge_all_the_same() -> None:
    edge = play(ONE, replace(ONE, prompt_len=9))
    assert edge.refused
    assert [row.request_id for row in edge.before] == [1]
    assert edge.before == edge.after


def test_a_deadline_is_met_by_the_last_step_that_meets_it() -> None:
    ends = 0 + 1 + 2  # the clock, the next step, two tokens to go
    just = play(replace(ONE, max_new_tokens=2, deadline_step=ends), STEP)
    assert told(BY_ID["EVENT-2"], just) == (True, [])
    assert just.event["deadline_missed"] is False


def test_where_prefills_are_repeated_there_is_time_for_twice_as_many_steps() -> None:
    subject = BatchSubject(from_batch_class(BatchScheduler), CONFIG, strict_types=True)
    subject.do(A)
    seen = subject.observe()
    assert drain_bound(seen) == 2 * seen.rows[0].remaining
    assert drain_bound(seen._replace(paged=None)) == seen.rows[0].remaining
    assert [row.request_id for row in fitting(seen)] == [0]
    subject.do(Abort(0))
    assert fitting(subject.observe()) == []


def test_of_those_that_never_end_the_first_is_told() -> None:
    short, long = replace(TWO, max_new_tokens=2), replace(ONE, request_id=4, max_new_tokens=5)
    _, (breach,) = told(BY_ID["LIVE-1"], run_of(Idle, short, long, drain=9))
    assert (breach.values["request"], breach.values["limit"]) == (2, 2)


def test_idle_steps_report_nothing_and_change_nothing_about_deadlines() -> None:
    timed = replace(TWO, deadline_step=9)
    run = run_of(PlainScheduler, STEP, ONE, timed, *[STEP] * 9, policy="aging")
    assert told(BY_ID["ORDER-3"], run) == (True, [])


WAITS = (3, 5, 7, 9, 11, 13, 15)
ROUNDS = Rounds(1, "small", needs=2, capacity=2, stem=4, loop=3, before=1, waits=WAITS)


def test_a_loop_is_told_with_all_its_numbers() -> None:
    breach = is_served_again(ROUNDS)
    assert isinstance(breach, Breach)
    assert (breach.text, breach.guilty) == ("LIVE-2", ((1, "wait_steps"),))
    assert breach.values == {
        "request": 1, "kind": "small", "needs": 2, "stem": 4, "loop": 3, "rounds": 7,
        "before": 1, "each": 2, "last": 15, "waits": [*WAITS], "first": [*WAITS[:5]],
    }  # fmt: skip


@pytest.mark.parametrize("waits", [(1, 1), (1, 1, 1), (2, 2, 1), (1, 2, 1)])
def test_a_loop_in_which_no_wait_grows_in_the_end_is_idle(waits: tuple[int, ...]) -> None:
    breach = is_served_again(replace(ROUNDS, waits=waits))
    assert isinstance(breach, Breach)
    assert breach.text == "LIVE-2.idle"


def test_one_round_is_enough_to_see_a_wait_grow() -> None:
    breach = is_served_again(replace(ROUNDS, waits=(2,)))
    assert isinstance(breach, Breach)
    assert (breach.text, breach.values["last"]) == ("LIVE-2", 2)


def test_what_is_judged_once_is_judged_and_counted_as_ever() -> None:
    once, ever = Judge([BY_ID["LEDGER-4"]]), Judge([BY_ID["LEDGER-4"]])
    assert once.judge_once(DECODE) == ever.judge(DECODE)
    assert once.exercised() == ever.exercised() == {"LEDGER-4": 1}


def test_a_loop_that_serves_or_that_says_nothing_breaks_nothing() -> None:
    assert is_served_again(replace(ROUNDS, advanced=True)) is True
    assert is_served_again(replace(ROUNDS, waits=())) is None
    assert is_served_again(replace(ROUNDS, needs=3)) is None


def test_a_prefill_in_parts_goes_on_with_one_token_a_step() -> None:
    _, (breach,) = told(BY_ID["REJECT-1"], in_parts(SIX, ("blocks", 9, 3)))
    assert (breach.values["blocks"], breach.values["tokens"]) == (3, 1)
