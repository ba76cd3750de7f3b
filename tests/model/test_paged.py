"""The paged scheduler by itself: prefills in parts, shared blocks, steps in flight, ids again."""

from __future__ import annotations

import pytest

from schedmodel.batch import Rejection
from schedmodel.errors import InvalidInput
from schedmodel.lifecycle import State
from schedmodel.paged import PagedScheduler, Step


def made(blocks: int = 4, seqs: int = 2, tokens: int = 8, policy: str = "fcfs") -> PagedScheduler:
    return PagedScheduler(policy, blocks, 2, seqs, tokens)


def spans(step: Step) -> list[tuple[int, int, int, bool]]:
    return [(g.request.request_id, g.start, g.end, g.emits) for g in step.grants]


def gave_way(step: Step) -> list[int]:
    return [request.request_id for request in step.preempted]


def deliver(scheduler: PagedScheduler, step: Step) -> list[int]:
    return scheduler.deliver(step, {g.request.request_id: 0 for g in step.grants})


def stepped(scheduler: PagedScheduler) -> list[tuple[int, int, int, bool]]:
    step = scheduler.schedule()
    if step.grants:
        deliver(scheduler, step)
    return spans(step)


def test_a_prefill_is_computed_in_parts_and_its_last_part_emits() -> None:
    scheduler = made(tokens=2)
    scheduler.enqueue(0, [0, 1, 0, 1, 0], 2)
    assert stepped(scheduler) == [(0, 0, 2, False)]
    assert scheduler.requests[0].phase == "prefill"
    assert stepped(scheduler) == [(0, 2, 4, False)]
    assert stepped(scheduler) == [(0, 4, 5, True)]
    assert scheduler.requests[0].phase == "decode"
    assert stepped(scheduler) == [(0, 5, 6, True)]
    assert (scheduler.requests[0].finish_reason, scheduler.pool.free_ids) == (
        "length",
        [3, 2, 1, 0],
    )
    assert stepped(scheduler) == []


def test_who_begins_alike_shares_the_computed_blocks_but_computes_its_last_token() -> None:
    scheduler = made(blocks=6)
    scheduler.enqueue(0, [1, 1, 0, 0], 3)
    stepped(scheduler)
    scheduler.enqueue(1, [1, 1, 0, 0], 1)
    scheduler.enqueue(2, [1, 1], 1)
    assert stepped(scheduler) == [(0, 4, 5, True), (1, 2, 4, True)]
    shared = scheduler.requests[0].block_ids[0]
    assert scheduler.pool.references[shared] == 1  # r1 has ended already
    assert stepped(scheduler)[1:] == [(2, 0, 2, True)]


def test_a_block_is_not_known_while_its_step_is_in_flight() -> None:
    scheduler = made()
    scheduler.enqueue(0, [1, 1], 2)
    step = scheduler.schedule()
    assert scheduler.pool.known == {}
    deliver(scheduler, step)
    assert list(scheduler.pool.known) == [(1, 1)]


def test_a_free_block_stays_known_until_it_is_handed_out() -> None:
    scheduler = made(blocks=2, seqs=1)
    scheduler.enqueue(0, [1, 1], 1)
    stepped(scheduler)
    assert scheduler.pool.known == {(1, 1): 0}
    scheduler.enqueue(1, [1, 1, 0], 1)
    assert stepped(scheduler) == [(1, 2, 3, True)]
    scheduler.enqueue(2, [0, 0, 0], 1)
    stepped(scheduler)
    assert list(scheduler.pool.known) == [(0, 0)]


def test_the_next_token_is_granted_before_the_last_one_is_there() -> None:
    scheduler = made()
    scheduler.enqueue(0, [1], 3)
    first, second, third = (scheduler.schedule() for _ in range(3))
    assert [spans(s) for s in (first, second, third)] == [
        [(0, 0, 1, True)],
        [(0, 1, 2, True)],
        [(0, 2, 3, True)],
    ]
    assert spans(scheduler.schedule()) == []
    assert (scheduler.requests[0].expected, scheduler.requests[0].generated_len) == (3, 0)
    with pytest.raises(InvalidInput, match="oldest step in flight"):
        deliver(scheduler, second)
    assert [deliver(scheduler, step) for step in (first, second, third)] == [[], [], [0]]


def test_the_weakest_gives_way_and_what_was_in_flight_for_it_is_dropped() -> None:
    scheduler = made(blocks=2)
    scheduler.enqueue(0, [1, 0], 3)
    scheduler.enqueue(1, [0], 4)
    in_flight = scheduler.schedule()
    step = scheduler.schedule()
    assert (spans(step), gave_way(step)) == ([(0, 2, 3, True)], [1])
    deliver(scheduler, in_flight)
    victim = scheduler.requests[1]
    assert (victim.state, victim.output, victim.expected) == (State.PREEMPTED, [], 0)
    deliver(scheduler, step)
    while victim.state is not State.FINISHED:
        assert stepped(scheduler)
    assert (victim.generated_len, victim.preemptions) == (4, 1)


def test_an_abort_frees_at_once_and_its_step_brings_nothing() -> None:
    scheduler = made()
    scheduler.enqueue(0, [1, 0], 2)
    step = scheduler.schedule()
    assert scheduler.abort(0)
    assert not scheduler.abort(0)
    assert len(scheduler.pool.free_ids) == 4
    scheduler.enqueue(0, [1, 1], 2)
    assert deliver(scheduler, step) == []
    assert (scheduler.requests[0].state, scheduler.pool.known) == (State.WAITING, {})


def test_an_id_is_free_again_when_its_request_has_ended() -> None:
    scheduler = made()
    scheduler.enqueue(7, [1], 1)
    with pytest.raises(InvalidInput, match="request_id"):
        scheduler.enqueue(7, [1], 1)
    stepped(scheduler)
    assert scheduler.enqueue(7, [0], 1) is None


def test_what_can_never_fit_is_rejected_with_the_reason() -> None:
    scheduler = made(blocks=2)
    assert scheduler.enqueue(0, [0, 0, 0], 3) == Rejection("blocks", 3, 2)
    assert scheduler.enqueue(1, [0, 0, 0], 2) is None
    for prompt in ([], [True], "0"):
        with pytest.raises(InvalidInput):
            scheduler.enqueue(2, prompt, 1)  # type: ignore[arg-type]
    assert 2 not in scheduler.requests


def test_priority_decides_who_is_let_in_and_who_gives_way() -> None:
    scheduler = made(blocks=2, policy="fixed_priority")
    scheduler.enqueue(0, [1, 0], 3)
    scheduler.enqueue(1, [0, 1], 3, priority=1)
    assert [span[0] for span in stepped(scheduler)] == [1, 0]
    step = scheduler.schedule()
    assert (spans(step), gave_way(step)) == ([(1, 2, 3, True)], [0])
