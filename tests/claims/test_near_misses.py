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
    DECODE,
    EVICTION,
    FIRST,
    FULL,
    GROWTH,
    REJECTION,
    SECOND,
    A,
    B,
    C,
    paged,
    play,
    ran,
)
from tests.claims.conftest import (
    IDLE,
    NEW,
    PREEMPTION,
    PREFILL_OF_TWO,
    after,
    answered,
    before,
    changed,
    told,
)
from tests.claims.engine_cases import FINISH, OURS, came

from schedproof.claims.catalogue import BY_ID
from schedproof.claims.edge import Edge
from schedproof.claims.judge import Judge
from schedproof.subjects.actions import STEP, BatchEnqueue
from schedproof.subjects.observation import Miscount

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


WAITS_BEHIND = play(A, B, C, STEP, STEP, STEP)
assert WAITS_BEHIND.victims == (1,), "nobody gives way in it"
TWO_WAIT = play(A, B, C, STEP)
SIX = play(BatchEnqueue(0, 1, 6))
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
        (True, paged(ran(BOTH, PAST, SECOND), max_num_batched_tokens=999)),
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
        ("LIFE-4.queued", paged(play(A, B, C, BatchEnqueue(3, 1, 4), STEP), waiting=(2, 2))),
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
