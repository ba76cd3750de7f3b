"""Edges of our scheduler of batches, and what claims say of them when one thing is changed.

The tables have the form of those in `test_edge_claims` and `test_reach_claims`, which take them
in: edges that keep a claim, that break it (with the text that tells it), and others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.claims.conftest import IDLE, NEW, after, answered, before, gone

from schedmodel.batch import BatchScheduler
from schedmodel.policy import make_policy
from schedproof.claims.edge import Edge, make_edge
from schedproof.subjects.actions import STEP, Abort, Action, BatchEnqueue, Enqueue
from schedproof.subjects.batch import BatchSubject, from_batch_class
from schedproof.subjects.contract import Config, Limits, expected_refusal
from schedproof.subjects.observation import Span

CONFIG = Config("fcfs", 3, 1, Limits(block_size=2, max_num_seqs=2, max_num_batched_tokens=4))


def edges_of(*actions: Action, config: Config = CONFIG) -> list[Edge]:
    """The edges of these actions, on our own scheduler of batches."""
    subject = BatchSubject(from_batch_class(BatchScheduler), config, strict_types=True)
    seen, used, edges = subject.observe(), set[int](), list[Edge]()
    for action in actions:
        refused = None
        if isinstance(action, Enqueue):
            refused = expected_refusal(action, used, 0, strict_types=True)
            used.add(action.request_id)
        answer, earlier = subject.do(action), seen
        seen = subject.observe()
        edges.append(make_edge(earlier, action, answer, seen, config.rules(), refused))
    return edges


def play(*actions: Action) -> Edge:
    return edges_of(*actions)[-1]


def paged(edge: Edge, **values: Any) -> Edge:
    """The edge, had the pool and the queues looked like this after it."""
    assert edge.paged_after is not None
    return replace(edge, paged_after=edge.paged_after._replace(**values))


def ran(edge: Edge, *spans: Span) -> Edge:
    """The edge, had the step run these."""
    return answered(edge, batch=spans)


def ranked(edge: Edge) -> Edge:
    """The edge, had the scheduler gone by priorities."""
    return replace(edge, rules=make_policy("fixed_priority", 1))


A, B, C = (BatchEnqueue(i, 1, 4) for i in range(3))
LARGE, LONG = BatchEnqueue(0, 5, 4), BatchEnqueue(0, 1, 5)
ENQUEUE = play(A)
REJECTION = play(LARGE)
TOO_LONG = play(LONG)
ADMISSION = play(A, STEP)
DECODE = play(A, STEP, STEP)
GROWTH = play(A, STEP, STEP, STEP)
BOTH = play(A, B, STEP, STEP)
EVICTION = play(A, B, STEP, STEP, STEP)
RECOMPUTE = play(A, B, *[STEP] * 6)
FULL = play(A, B, C, STEP)
SPENT = play(BatchEnqueue(0, 3, 2), BatchEnqueue(1, 2, 2), STEP)
ABORT = play(A, STEP, Abort(0))
ABORT_OF_ONE = play(A, B, STEP, Abort(0))
ABORT_OF_A_WAITING_ONE = play(A, Abort(0))
ABORT_AGAIN = play(A, STEP, Abort(0), Abort(0))
BATCH_PLAYED = {name: edge for name, edge in [*globals().items()] if isinstance(edge, Edge)}

FIRST, SECOND = BOTH.answer.batch
LEFT = Span(1, "decode", 1, 2, 3)

BATCH_CASES: dict[str, tuple[Any, Any, Any]] = {
    "LEDGER-4": (
        (ADMISSION, EVICTION, ABORT),
        (
            ("LEDGER-4.twice", paged(ADMISSION, free_ids=(1, 1, 2))),
            ("LEDGER-4.free_and_held", paged(ADMISSION, free_ids=(0, 1, 2))),
            ("LEDGER-4.count", paged(ADMISSION, references=(2, 0, 0))),
            ("LEDGER-4.count", paged(ABORT, references=(1, 0, 0), free_ids=(1, 2))),
            ("LEDGER-4.no_room", after(ADMISSION, 0, computed_len=3)),
        ),
        (NEW, IDLE),
    ),
    "VICTIM-7": (
        (EVICTION,),
        (
            ("VICTIM-7.not_running", before(EVICTION, 1, status="waiting", held_blocks=0)),
            ("VICTIM-7.not_running", answered(EVICTION, preempted=(9,))),
            ("VICTIM-7.still_scheduled", ran(EVICTION, *EVICTION.answer.batch, LEFT)),
            ("VICTIM-7.keeps_blocks", after(EVICTION, 1, held_blocks=1)),
        ),
        (DECODE, ENQUEUE),
    ),
    "WORK-2": (
        (BOTH, EVICTION),
        (
            ("WORK-2", ran(BOTH, FIRST)),
            ("WORK-2.free_blocks", ran(GROWTH)),
        ),
        (ENQUEUE, ADMISSION, NEW),
    ),
    "BATCH-1": (
        (BOTH, ADMISSION),
        (
            ("BATCH-1.twice", ran(BOTH, FIRST, FIRST)),
            ("BATCH-1.no_token", ran(BOTH, FIRST, SECOND._replace(end=SECOND.start))),
            ("BATCH-1.preempted", ran(EVICTION, *EVICTION.answer.batch, LEFT)),
            ("BATCH-1.tokens", paged(BOTH, max_num_batched_tokens=1)),
            ("BATCH-1.seats", paged(BOTH, max_num_seqs=1)),
        ),
        (ENQUEUE, NEW, ran(BOTH)),
    ),
    "FAIR-1": (
        (FULL, EVICTION),
        (
            ("FAIR-1.passed", before(FULL, 2, arrival_index=-1)),
            ("FAIR-1.gave_way", before(EVICTION, 1, arrival_index=-1)),
            ("FAIR-1.passed_stronger", ranked(before(FULL, 2, priority=1))),
            ("FAIR-1.stronger_gave_way", ranked(before(EVICTION, 1, priority=1))),
        ),
        (DECODE, ENQUEUE, BOTH),
    ),
    "REJECT-1": (
        (ENQUEUE, REJECTION, TOO_LONG),
        (
            ("REJECT-1.too_many_blocks", answered(REJECTION, rejected=None)),
            ("REJECT-1.too_many_tokens", answered(TOO_LONG, rejected=None)),
            ("REJECT-1.fits", answered(ENQUEUE, rejected=("blocks", 9, 3))),
            ("REJECT-1.late", after(DECODE, 0, status="finished", finish_reason="rejected")),
        ),
        (DECODE, NEW, replace(ENQUEUE, must_refuse="prompt_len")),
    ),
    "ABORT-1": (
        (ABORT, ABORT_OF_ONE, ABORT_OF_A_WAITING_ONE, ABORT_AGAIN),
        (
            ("ABORT-1.others", after(ABORT_OF_ONE, 1, priority=7)),
            ("ABORT-1.again", replace(ABORT_AGAIN, free_after=2)),
            ("ABORT-1.goes_on", after(ABORT, 0, status="running", finish_reason=None)),
            ("ABORT-1.still_holds", after(ABORT, 0, held_blocks=1)),
            ("ABORT-1.freed", replace(ABORT, free_after=2)),
        ),
        (DECODE, NEW, gone(ABORT, 0)),
    ),
}
MORE_WAYS: dict[str, tuple[tuple[str, Edge], ...]] = {
    "LIFE-4": (
        ("LIFE-4.not_queued", paged(DECODE, running=())),
        ("LIFE-4.queued", paged(DECODE, waiting=(0,))),
        ("LIFE-4.not_queued", paged(DECODE, running=(), waiting=(0,))),
        ("LIFE-4.queued", paged(ENQUEUE, running=(0,), waiting=())),
        ("LIFE-4.not_queued", paged(after(BOTH, 0, status="finished"), running=(), waiting=())),
        ("LIFE-4.queued", paged(ABORT, running=(0,))),
        ("LIFE-4.stray", paged(DECODE, running=(0, 9))),
    ),
    "PROGRESS-1": (("PROGRESS-1.computed", after(DECODE, 0, computed_len=0)),),
    "PROGRESS-4": (("PROGRESS-4.hole", after(RECOMPUTE, 1, computed_len=1)),),
    "PREEMPT-1": (
        ("PREEMPT-1.no_token", before(EVICTION, 1, preemptions=1, advanced=False)),
    ),
}  # fmt: skip
"""Ways to break claims that are about all kinds of schedulers."""

BATCH_REACHED: dict[str, tuple[tuple[Edge, ...], tuple[Edge, ...]]] = {
    "REACH-GROWTH": ((GROWTH,), (DECODE, ENQUEUE)),
    "REACH-EVICTION": ((EVICTION,), (DECODE, ENQUEUE)),
    "REACH-RECOMPUTE": ((RECOMPUTE,), (ADMISSION, before(RECOMPUTE, 1, generated_len=0))),
    "REACH-SEATS": ((FULL,), (BOTH, SPENT)),
    "REACH-BUDGET": ((SPENT,), (FULL, BOTH, ENQUEUE)),
    "REACH-ABORT": ((ABORT,), (ABORT_OF_A_WAITING_ONE, DECODE)),
}
