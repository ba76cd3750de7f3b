"""The batch scheduler: what a step runs, who gives way, who is let in, and that nothing is lost."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from schedmodel.batch import (
    BATCH_POLICIES,
    Batch,
    BatchRequest,
    BatchScheduler,
    Grant,
    Rejection,
    made_up_token,
)
from schedmodel.errors import InvalidInput
from schedmodel.lifecycle import HOLDING, State

BY_POLICY = pytest.mark.parametrize("policy", BATCH_POLICIES)


def scheduler(blocks: int = 4, policy: str = "fcfs", seats: int = 3, tokens: int = 8) -> Any:
    return BatchScheduler(policy, blocks, 2, seats, tokens)


def filled(*prompts: int, blocks: int = 4, new: int = 2, **about: Any) -> BatchScheduler:
    made: BatchScheduler = scheduler(blocks, **about)
    for request_id, prompt_len in enumerate(prompts, start=1):
        assert made.enqueue(request_id, prompt_len, new) is None
    return made


def spans(batch: Batch) -> dict[int, tuple[str, int, int]]:
    return {i: (grant.phase, grant.start, grant.end) for i, grant in batch.grants.items()}


def states(made: BatchScheduler) -> dict[int, str]:
    return {request.request_id: request.state.value for request in made.requests.values()}


def drain(made: BatchScheduler, limit: int = 200) -> int:
    """Steps until everybody is finished."""
    for count in range(limit):
        if all(request.state is State.FINISHED for request in made.requests.values()):
            return count
        assert made.step().grants, "somebody is unfinished and nobody was served"
    raise AssertionError("it does not end")


def sound(made: BatchScheduler) -> None:
    """What must be so at any moment, said once more and differently than the claims say it."""
    owners = Counter(i for request in made.requests.values() for i in request.block_ids)
    assert [owners[i] for i in range(made.num_blocks)] == made.pool.references
    assert made.pool.free_ids == [i for i in range(made.num_blocks) if not owners[i]]
    for request in made.requests.values():
        holds, waits = request in made.running, request in made.waiting
        assert holds == (request.state in HOLDING)
        assert waits == (request.state in (State.WAITING, State.PREEMPTED))
        assert len(request.block_ids) == (
            made.pool.blocks_for(request.computed_len) if holds else 0
        )
        assert len(request.output) == request.generated_len <= request.max_new_tokens
        if holds:
            assert request.computed_len == request.total_len
        elif waits:
            assert request.computed_len == 0
    assert made.waiting == sorted(made.waiting, key=made._order)
    assert len(made.running) <= made.max_num_seqs


def test_a_request_is_prefilled_whole_and_then_gets_a_token_a_step() -> None:
    made = filled(3)
    assert spans(made.step()) == {1: ("prefill", 0, 3)}
    assert (states(made), made.requests[1].block_ids) == ({1: "decode"}, [0, 1])
    assert spans(made.step()) == {1: ("decode", 3, 4)}
    batch = made.step()
    assert (spans(batch), batch.finished) == ({1: ("decode", 4, 5)}, [1])
    assert made.requests[1].output == [1001, 1002]
    assert (made.requests[1].finish_reason, made.pool.free_ids) == ("length", [0, 1, 2, 3])
    assert spans(made.step()) == {}


def test_several_are_served_in_one_step() -> None:
    made = filled(1, 2)
    assert spans(made.step()) == {1: ("prefill", 0, 1), 2: ("prefill", 0, 2)}
    assert spans(made.step()) == {1: ("decode", 1, 2), 2: ("decode", 2, 3)}


def test_a_block_is_taken_when_the_last_one_is_full_and_not_before() -> None:
    made = filled(1, new=3)
    held: list[int] = []
    for _ in range(4):
        made.step()
        held.append(len(made.requests[1].block_ids))
    assert held == [1, 1, 2, 0]


def test_the_one_that_asks_gives_way_itself_when_it_is_the_weakest() -> None:
    made = filled(2, 1, blocks=3, new=4)
    made.step()
    made.step()
    batch = made.step()
    assert (spans(batch), batch.preempted) == ({1: ("decode", 3, 4)}, [2])
    gone = made.requests[2]
    assert (gone.state, gone.phase, gone.computed_len) == (State.PREEMPTED, "prefill", 0)
    assert (gone.block_ids, gone.output, gone.preemptions) == ([], [2001], 1)


def test_who_gives_way_after_it_was_scheduled_is_not_run_and_nobody_misses_a_turn() -> None:
    made = scheduler(blocks=5, policy="fixed_priority")
    made.enqueue(1, 3, 4, priority=0)
    made.step()
    made.enqueue(2, 1, 4, priority=2)
    made.enqueue(3, 1, 4, priority=1)
    made.step()
    made.step()
    assert [request.request_id for request in made.running] == [1, 2, 3]
    batch = made.step()  # 1 is scheduled first, then 2 grows into its blocks; 3 comes after them
    assert batch.preempted == [1]
    assert spans(batch) == {2: ("decode", 2, 3), 3: ("decode", 2, 3)}
    assert made.requests[1].generated_len == len(made.requests[1].output) == 2


def test_a_repeated_prefill_covers_what_was_generated() -> None:
    made = filled(2, 1, blocks=3, new=4)
    while not made.requests[2].preemptions:
        made.step()
    while made.requests[2].state is State.PREEMPTED:
        batch = made.step()
    assert batch.grants[2] == Grant("prefill", 0, 2)
    drain(made)
    assert made.requests[2].output == [2001, 2002, 2003, 2004]


def test_the_preempted_come_before_who_is_newer_and_after_who_is_stronger() -> None:
    for policy, priority, expected in (
        ("fcfs", 0, [2, 3]),
        ("fixed_priority", 0, [2, 3]),
        ("fixed_priority", 1, [3, 2]),
    ):
        made = filled(2, 1, blocks=3, new=4, policy=policy)
        made.step()
        made.step()
        made.enqueue(3, 1, 1, priority)
        made.step()
        assert [request.request_id for request in made.waiting] == expected


def test_who_does_not_fit_holds_back_all_behind_it() -> None:
    made = filled(3, 5, 1, blocks=4, new=1)
    assert set(made.step().grants) == {1}
    assert [request.request_id for request in made.waiting] == [2, 3]


@pytest.mark.parametrize(
    ("about", "served"),
    [({"seats": 2}, {1, 2}), ({"tokens": 3}, {1, 2}), ({"tokens": 4}, {1, 2, 3}), ({}, {1, 2, 3})],
)
def test_seats_and_tokens_limit_a_batch(about: dict[str, int], served: set[int]) -> None:
    assert set(filled(1, 2, 1, blocks=9, new=1, **{"seats": 3, **about}).step().grants) == served


def test_an_admission_leaves_room_for_the_next_token_of_everybody() -> None:
    made = filled(2, 1, blocks=2, new=2)
    assert set(made.step().grants) == {1}, "the second block is the first one's next"
    made = filled(2, 1, blocks=3, new=2)
    assert set(made.step().grants) == {1, 2}
    assert set(made.step().grants) == {1, 2}


@pytest.mark.parametrize(
    ("prompt_len", "new", "rejection"),
    [
        (4, 4, None),
        (5, 4, Rejection("blocks", 5, 4)),
        (4, 5, Rejection("blocks", 5, 4)),
        (1, 6, None),
        (1, 7, Rejection("tokens", 7, 6)),
    ],
)
def test_what_can_never_fit_is_rejected_with_a_reason(
    prompt_len: int, new: int, rejection: Rejection | None
) -> None:
    made = scheduler(blocks=4, tokens=8 if prompt_len > 1 else 6)
    assert made.enqueue(1, prompt_len, new) == rejection
    assert made.requests[1].finish_reason == ("rejected" if rejection else None)
    assert len(made.waiting) == (0 if rejection else 1)
    drain(made)


def test_what_fits_exactly_is_served_to_its_end_also_when_its_prefill_is_repeated() -> None:
    made = filled(1, 1, blocks=4, new=6, tokens=6)
    drain(made)
    assert [len(request.output) for request in made.requests.values()] == [6, 6]


@pytest.mark.parametrize("steps", range(6))
@pytest.mark.parametrize("request_id", [1, 2, 3])
def test_an_abort_frees_what_was_held_once_and_touches_nothing_else(
    steps: int, request_id: int
) -> None:
    made = filled(2, 1, 4, blocks=3, new=2)
    for _ in range(steps):
        made.step()
    request = made.requests[request_id]
    before, free, held = states(made), len(made.pool.free_ids), len(request.block_ids)
    done = request.state is State.FINISHED
    assert made.abort(request_id) is not done
    assert states(made) == {**before, request_id: "finished"}
    assert len(made.pool.free_ids) == free + held
    assert request.finish_reason == ("length" if done else "aborted")
    assert made.abort(request_id) is False
    sound(made)
    drain(made)


def test_aborting_who_is_unknown_changes_nothing() -> None:
    made = filled(1)
    assert made.abort(7) is False
    assert states(made) == {1: "waiting"}


def test_an_id_is_never_used_twice_and_a_refused_call_changes_nothing() -> None:
    made = scheduler()
    made.enqueue(1, 99)
    for bad in ({"request_id": 1}, {"prompt_len": 0}, {"max_new_tokens": True}, {"priority": 1.5}):
        with pytest.raises(InvalidInput):
            made.enqueue(**{"request_id": 2, "prompt_len": 1, **bad})
    assert set(made.requests) == {1}
    assert made.waiting == []


@pytest.mark.parametrize(
    "bad",
    [
        {"policy": "aging"},
        {"num_blocks": -1},
        {"block_size": 0},
        {"max_num_seqs": 0},
        {"max_num_seqs": 3, "max_num_batched_tokens": 2},
    ],
)
def test_a_set_up_that_cannot_work_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        BatchScheduler(**bad)


def test_tokens_are_the_same_ones_however_a_request_was_scheduled() -> None:
    request = BatchRequest(3, 1, 9, 0, 0, generated_len=4)
    assert made_up_token(request) == 3004


@BY_POLICY
def test_runs_at_random_stay_sound_and_end(policy: str) -> None:
    draw, preempted = random.Random(7), 0
    for _ in range(150):
        made = scheduler(draw.randint(3, 5), policy, draw.randint(2, 3), draw.randint(5, 9))
        for request_id in range(draw.randint(1, 6)):
            made.enqueue(request_id, draw.randint(1, 3), draw.randint(2, 6), draw.randint(0, 2))
            for _ in range(draw.randint(0, 3)):
                made.step()
                sound(made)
            if draw.random() < 0.2:
                made.abort(draw.randint(0, 6))
                sound(made)
        drain(made)
        sound(made)
        preempted += sum(request.preemptions for request in made.requests.values())
        for request in made.requests.values():
            if request.finish_reason == "length":
                expected = [
                    1000 * request.request_id + n + 1 for n in range(request.max_new_tokens)
                ]
                assert request.output == expected
    assert preempted > 40
