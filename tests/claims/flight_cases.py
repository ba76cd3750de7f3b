"""Edges of our paged scheduler, and what claims say of them when one thing is changed.

The table has the form of that in `batch_cases`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.claims.batch_cases import DECODE, paged
from tests.claims.conftest import NEW, after, answered, gone

from schedproof.claims.edge import Edge, make_edge
from schedproof.engines.paged_model import PagedModel
from schedproof.engines.pipelined import PipelinedSubject
from schedproof.subjects.actions import DELIVER, STEP, Action, EngineEnqueue
from schedproof.subjects.contract import Config, Limits

CONFIG = Config("fcfs", 3, 1, Limits(block_size=2, max_num_seqs=2, max_num_batched_tokens=4))


def edges_of(*actions: Action) -> list[Edge]:
    """The edges of these actions, on our own paged scheduler."""
    subject = PipelinedSubject(PagedModel(), CONFIG)
    seen, edges = subject.observe(), list[Edge]()
    for action in actions:
        answer, earlier = subject.do(action), seen
        seen = subject.observe()
        edges.append(make_edge(earlier, action, answer, seen, CONFIG.rules()))
    return edges


def play(*actions: Action) -> Edge:
    return edges_of(*actions)[-1]


A, B = EngineEnqueue.of(0, [0, 1, 1], 3), EngineEnqueue.of(1, [1], 4)
ARRIVAL, ADMITTED = play(A), play(A, STEP)
BROUGHT = play(A, STEP, DELIVER)
BOTH = play(A, B, STEP, DELIVER)
AGAIN = play(A, STEP, DELIVER, STEP, DELIVER)
LAST = play(EngineEnqueue.of(0, [0], 1), STEP, DELIVER)
BEHIND = play(A, STEP, DELIVER, B, STEP)
SHORT = [EngineEnqueue.of(i, [i], 2) for i in range(3)]
SEATS = play(*SHORT, STEP)
THREE = play(*SHORT, STEP, DELIVER)
TURNED = replace(THREE, before=THREE.before[::-1])
"""Who waits stands before those who got a token."""
WAITS = play(EngineEnqueue.of(0, [0] * 4, 1), B, STEP)
EVICTED = play(A, B, STEP, DELIVER, STEP, DELIVER, STEP)
assert EVICTED.victims, "nobody gives way in it"

GAVE_WAY = EVICTED.answer.ran
assert GAVE_WAY is not None
FLIGHT_CASES: dict[str, tuple[Any, Any, Any]] = {
    "FLIGHT-1": (
        (BROUGHT, BOTH, AGAIN, LAST, THREE, gone(BROUGHT, 0)),
        (
            ("FLIGHT-1", answered(BOTH, batch=BOTH.answer.batch[:1])),
            ("FLIGHT-1", answered(TURNED, batch=TURNED.answer.batch[:1])),
            ("FLIGHT-1.tokens", after(BROUGHT, 0, generated_len=2)),
            ("FLIGHT-1.tokens", after(LAST, 0, generated_len=0)),
            ("FLIGHT-1.lost", after(BROUGHT, 0, generated_len=0)),
            ("FLIGHT-1.lost", gone(after(BOTH, 1, generated_len=0), 0)),
        ),
        (NEW, ARRIVAL, ADMITTED),
    ),
    "ADMIT-1": (
        (ADMITTED, SEATS, WAITS),
        (
            ("ADMIT-1.number", after(ADMITTED, 0, held_blocks=3)),
            ("ADMIT-1.number", after(BEHIND, 1, held_blocks=3)),
            ("ADMIT-1.left_out", paged(WAITS, max_num_batched_tokens=9)),
        ),
        (NEW, DECODE, EVICTED),
    ),
    "PREEMPT-2": (
        (EVICTED, answered(EVICTED, ran=GAVE_WAY._replace(gave_way=GAVE_WAY.gave_way_max or 0))),
        (("PREEMPT-2", answered(EVICTED, ran=GAVE_WAY._replace(gave_way=9))),),
        (NEW, ADMITTED, DECODE),
    ),
}

PAST_THE_END = ADMITTED.answer.batch[0]._replace(end=6)
FLIGHT_WAYS = {"BATCH-1": (("BATCH-1.past_end", answered(ADMITTED, batch=(PAST_THE_END,))),)}
"""More ways to break claims that have cases elsewhere."""
