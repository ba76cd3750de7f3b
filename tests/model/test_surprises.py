"""The surprises of the chapter's rules, pinned down one by one.

Each is a small scene with the events that it leads to. None of them is a fault of the
model: it does what the chapter says.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from tests.model.conftest import BY_POLICY, row, served

from schedmodel import DecodeSchedulerSim, RequestState
from schedmodel.choice import Obstacle


def test_only_one_victim_may_go_so_an_urgent_request_waits_behind_two_small_ones() -> None:
    sim = DecodeSchedulerSim(free_kv_blocks=2)
    sim.enqueue(1, 4, 3)
    sim.enqueue(2, 4, 3)
    sim.run(2)
    sim.enqueue(3, 4, 1, priority=9, required_blocks=2)
    passed = sim.why().places[0].passed
    assert passed is not None
    assert [(h.request_id, h.obstacle) for h in passed.holders] == [
        (1, Obstacle.TOO_SMALL),
        (2, Obstacle.TOO_SMALL),
    ]
    assert served(sim, 6) == [1, 2, 1, 2, 1, 3], "until one has ended; then the other must go"
    assert sim.timeline[-1]["preempted_request_id"] == 2
    assert sim.queue[2].wait_steps == 5


@BY_POLICY
def test_a_request_larger_than_the_pool_is_accepted_and_never_served(policy: str) -> None:
    sim = DecodeSchedulerSim(policy, free_kv_blocks=3)
    sim.enqueue(1, 4, 2, priority=99, cache_hit=True, required_blocks=4)
    sim.enqueue(2, 4, 2)
    assert [event["request_id"] for event in sim.run()] == [2, 2, 2]
    assert (sim.clock, sim.is_stuck, sim.is_done) == (3, True, False)
    assert sim.queue[0].status == "waiting"


def test_late_requests_alternate_and_drag_one_another() -> None:
    sim = DecodeSchedulerSim("deadline")
    sim.enqueue(1, 4, 10, deadline_step=5)
    sim.enqueue(2, 4, 10, deadline_step=8)
    sim.run()
    order = [event["request_id"] for event in sim.timeline]
    assert order[:10] == [1, 1, 1, 2, 1, 2, 1, 2, 1, 2]
    assert all(event["deadline_missed"] for event in sim.timeline), "both from the first step on"


def test_a_request_that_could_be_in_time_is_passed_by_one_that_cannot() -> None:
    sim = DecodeSchedulerSim("deadline")
    sim.enqueue(1, 4, 10, deadline_step=5)
    sim.enqueue(2, 4, 2, deadline_step=4)
    assert sim._schedule_key(sim.queue[0])[0] < 0 < sim._schedule_key(sim.queue[1])[0]
    sim.run()
    misses = [event["deadline_missed"] for event in sim.timeline if event["request_id"] == 2]
    assert sim.timeline[0]["request_id"] == 1
    assert misses[-1] is True


@pytest.mark.parametrize("interval", [1, 2, 3, 5])
def test_equal_requests_take_the_blocks_from_each_other_under_aging(interval: int) -> None:
    sim = DecodeSchedulerSim("aging", free_kv_blocks=1, aging_interval=interval)
    sim.enqueue(1, 4, 100)
    sim.enqueue(2, 4, 100)
    sim.run(10 * interval)
    swaps = [e["preempted_request_id"] for e in sim.timeline if e["preempted_request_id"]]
    at = [step for step, e in enumerate(sim.timeline) if e["preempted_request_id"] is not None]
    assert swaps[:4] == [1, 2, 1, 2]
    assert {later - earlier for earlier, later in pairwise(at)} == {2 * interval}


def test_a_deadline_gives_no_right_to_preempt() -> None:
    sim = DecodeSchedulerSim("deadline", free_kv_blocks=1)
    sim.enqueue(1, 4, 3, priority=1)
    sim.step()
    sim.enqueue(2, 4, 1, deadline_step=sim.clock + 2)
    first = sim.why().places[0]
    assert (first.request_id, first.outcome) == (2, "passed"), "it is the most urgent by far"
    assert served(sim, 5) == [1, 1, 1, 2, 2]
    assert sim.timeline[-1]["deadline_missed"] is True


def test_priority_alone_lets_a_request_without_deadline_push_out_an_urgent_one() -> None:
    sim = DecodeSchedulerSim("deadline", free_kv_blocks=1)
    sim.enqueue(1, 4, 3, deadline_step=4)
    sim.step()
    sim.enqueue(2, 4, 1, priority=1)
    assert served(sim, 4) == [1, 1, 1, 2], "slack orders: the urgent one stands before it"
    assert sim.queue[0].preemptions == 0


def test_finished_requests_stay_in_the_queue() -> None:
    sim = DecodeSchedulerSim()
    sim.enqueue(1, 4, 1)
    sim.enqueue(2, 4, 1)
    sim.run()
    assert [(r.request_id, r.status, r.done) for r in sim.queue] == [
        (1, "finished", True),
        (2, "finished", True),
    ]


def test_slack_stands_before_the_phase() -> None:
    sim = DecodeSchedulerSim("deadline")
    sim.enqueue(1, 4, 3, deadline_step=5)
    sim.step()
    sim.enqueue(2, 4, 1, deadline_step=30)
    assert sim.queue[0].phase == "decode"
    assert served(sim, 3) == [1, 1, 1]


@BY_POLICY
def test_a_stuck_step_adds_no_wait_and_no_tick(policy: str) -> None:
    sim = DecodeSchedulerSim(policy, free_kv_blocks=1)
    sim.enqueue(1, 4, 1, required_blocks=2)
    before = row(sim)
    assert served(sim, 3) == [None] * 3
    assert sim.run() == []
    assert row(sim) == before


Scene = Callable[[DecodeSchedulerSim], None]


def hungry_prefill(sim: DecodeSchedulerSim) -> None:
    """A stream of cache hits: enqueue one, two steps, again."""
    for number in range(60):
        sim.enqueue(100 + number, 4, 1, cache_hit=True)
        sim.run(2)


def higher_priority(sim: DecodeSchedulerSim) -> None:
    """A stream of requests of higher priority."""
    for number in range(60):
        sim.enqueue(100 + number, 4, 1, priority=1, cache_hit=True)
        sim.run(2)


@pytest.mark.parametrize(
    ("policy", "scene"),
    [
        ("aging", hungry_prefill),
        ("fixed_priority", hungry_prefill),
        ("fixed_priority", higher_priority),
    ],
)
def test_a_stream_starves_a_request_in_decode(policy: str, scene: Scene) -> None:
    sim = DecodeSchedulerSim(policy, aging_interval=1)
    sim.enqueue(1, 4, 2)
    sim.step()
    scene(sim)
    assert sim.queue[0].generated_len == 0
    assert sim.queue[0].wait_steps == 120


def stream_of_small_requests(sim: DecodeSchedulerSim) -> RequestState:
    """One small request always runs, the next comes before it ends; the large one's state."""
    sim.enqueue(1, 4, 3, preemptible=False)
    sim.step()
    sim.enqueue(0, 4, 1, priority=9, cache_hit=True, required_blocks=2)
    for number in range(2, 40):
        sim.run(2)
        sim.enqueue(number, 4, 3, preemptible=False)
        sim.run(2)
    return sim.queue[1]


@pytest.mark.parametrize("policy", ["fixed_priority", "aging", "deadline"])
def test_a_large_request_starves_behind_small_ones(policy: str) -> None:
    sim = DecodeSchedulerSim(policy, free_kv_blocks=2, aging_interval=1)
    large = stream_of_small_requests(sim)
    assert (large.status, large.phase) == ("waiting", "prefill")
    assert large.wait_steps > 100
    assert sum(1 for request in sim.queue if not request.done) <= 3


def test_under_fcfs_no_small_newcomer_gets_between_so_the_large_one_is_served() -> None:
    large = stream_of_small_requests(DecodeSchedulerSim("fcfs", free_kv_blocks=2))
    assert large.status == "finished"
    assert large.wait_steps == 3, "only until the one that was running had ended"
