"""TODO 3 alone: one call in every prepared state, beside ours.

Rules.
1. The states have up to two requests that may have to give way, one challenger, and few blocks:
   all combinations of what a victim is chosen by. Those with fewer requests come first.
2. The answer and everything that may have changed are compared: the challenger, the victim, the
   bystanders, and the free blocks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from schedproof.learn.bench import Bench, Benches, differences
from schedproof.learn.evidence import Difference


class _Other(NamedTuple):
    """A request besides the challenger; it holds its blocks unless it is only waiting."""

    priority: int = 0
    blocks: int = 1
    preemptible: bool = True
    wait: int = 0
    admitted: bool = True


class _State(NamedTuple):
    """One prepared state."""

    policy: str
    free: int
    needs: int
    others: tuple[_Other, ...] = ()
    admitted: bool = False
    resumes: bool = False
    wait: int = 0


CHALLENGER = 3
_IDS = (2, 1)  # the smaller id arrived later: a tie must not be decided by the queue
_AGED = 4
_HOLDERS = tuple(
    _Other(priority, blocks, preemptible)
    for preemptible in (True, False)
    for blocks in (1, 2)
    for priority in (0, 1, 2)
)
_WAITED = tuple(
    _Other(priority, blocks, True, wait)
    for blocks in (1, 2)
    for priority in (0, 1, 2)
    for wait in (0, _AGED)
)
_IDLE = _Other(0, 2, admitted=False)


def states() -> Iterator[_State]:
    """All states, the plainest first."""
    sizes = list(itertools.product((0, 1, 2), (1, 2, 3)))
    for free, needs in sizes:
        yield _State("fixed_priority", free, needs)
        yield _State("fixed_priority", free, needs, resumes=True)
        yield _State("fixed_priority", free, needs, admitted=True)
    for free, needs in sizes:
        yield _State("fixed_priority", free, needs, (_IDLE,))
    for count in (1, 2):
        for others in itertools.product(_HOLDERS, repeat=count):
            for free, needs in sizes:
                yield _State("fixed_priority", free, needs, others)
                if count == 1:
                    yield _State("deadline", free, needs, others)
                    yield _State("fixed_priority", free, needs, others, wait=_AGED)
                    yield _State("fixed_priority", free, needs, others, admitted=True)
        for others in itertools.product(_WAITED, repeat=count):
            for wait in (0, _AGED):
                yield _State("aging", 0, 2, others, wait=wait)


def try_capacity(benches: Benches) -> None:
    """Raise `Mistaken` with the first state in which the answer or the effect is wrong."""
    for state in states():
        bench = benches.new(state.policy, state.free)
        _prepare(bench, state)
        _judge(benches, bench, state)


def _prepare(bench: Bench, state: _State) -> None:
    for place, (request_id, other) in enumerate(zip(_IDS, state.others, strict=False)):
        bench.enqueue(
            request_id,
            4,
            max_new_tokens=3,
            priority=other.priority,
            required_blocks=other.blocks,
            preemptible=other.preemptible,
        )
        if other.admitted:
            bench.assign(place, admitted=True, status="running", phase="decode", generated_len=1)
        if other.wait:
            bench.assign(place, wait_steps=other.wait)
    place = len(state.others)
    bench.enqueue(CHALLENGER, 4, priority=1, required_blocks=state.needs)
    if state.admitted:
        bench.assign(place, admitted=True, status="running", phase="decode")
    if state.resumes:
        bench.assign(place, status="preempted", phase="decode", generated_len=1, preemptions=1)
    if state.wait:
        bench.assign(place, wait_steps=state.wait)


def _judge(benches: Benches, bench: Bench, state: _State) -> None:
    line = f"s._ensure_capacity(s.queue[{len(state.others)}])"
    mine, ours = bench.mine.queue[-1], bench.ours.queue[-1]
    got = benches.call(bench, line, lambda: bench.mine._ensure_capacity(mine))
    answer = bench.ours._ensure_capacity(ours)
    shown = differences(bench.ours, bench.mine)
    if not _is(answer, got):
        shown.insert(0, Difference(None, "return", answer, got))
    if shown:
        values = {"request": CHALLENGER, "needs": state.needs, "free": state.free, "victim": answer}
        raise benches.wrong(bench, line, _text(state, answer), values, shown)


def _is(answer: int | None, got: Any) -> bool:
    return got is None if answer is None else got == answer and not isinstance(got, bool)


def _text(state: _State, answer: int | None) -> str:
    """Which of the cases of TODO 3 it is."""
    if state.admitted:
        return "learn.capacity.admitted"
    if state.needs <= state.free:
        return "learn.capacity.fits"
    return "learn.capacity.nobody" if answer is None else "learn.capacity.victim"
