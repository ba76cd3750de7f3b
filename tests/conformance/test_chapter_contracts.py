"""The nine contracts of the course chapter, in our words and with other numbers.

Each is asked of the model and of the plain scheduler. A section is one contract: what a
new request looks like, what decides the order, that waiting is only looked at unless
aging is asked for, what aging does, how blocks are granted and given back, what survives
preemption, what protects a request and what a deadline does, how a run proceeds to its
end, and which calls are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

# Two classes that share an interface and no type.
Scheduler: TypeAlias = Any
Make: TypeAlias = Callable[..., Scheduler]

EVENT_KEYS = [
    "request_id",
    "phase",
    "action",
    "prompt_len",
    "generated_len",
    "max_new_tokens",
    "wait_steps",
    "free_kv_blocks",
    "preempted_request_id",
    "deadline_missed",
]


def served(sim: Scheduler, steps: int) -> list[int]:
    """The ids of the next `steps` steps; each must serve somebody."""
    ids: list[int] = []
    for _ in range(steps):
        event = sim.step()
        assert event is not None
        ids.append(event["request_id"])
    return ids


def in_order(sim: Scheduler) -> list[int]:
    return [request.request_id for request in sorted(sim.queue, key=sim._schedule_key)]


# 1. A new request.


def test_a_new_request_waits_in_prefill_without_blocks(make: Make) -> None:
    sim = make(free_kv_blocks=6)
    sim.enqueue(12, 30, required_blocks=2)
    request = sim.queue[0]
    assert (request.status, request.phase, request.admitted) == ("waiting", "prefill", False)
    assert (request.generated_len, request.wait_steps, request.preemptions) == (0, 0, 0)
    assert (request.total_len, request.done) == (30, False)
    assert (sim.free_kv_blocks, sim.clock, sim.timeline) == (6, 0, [])


def test_a_new_request_keeps_what_was_submitted_and_defaults_for_the_rest(make: Make) -> None:
    sim = make()
    sim.enqueue(1, 3)
    sim.enqueue(2, 5, 7, -4, True, 6, 11, False)
    names = "prompt_len max_new_tokens priority cache_hit required_blocks deadline_step preemptible"
    submitted = [[getattr(request, name) for name in names.split()] for request in sim.queue]
    assert submitted == [[3, 2, 0, False, 1, None, True], [5, 7, -4, True, 6, 11, False]]


# 2. The order of decision.


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param({}, {"phase": "decode", "cache_hit": True, "priority": 50}, id="phase"),
        pytest.param({"cache_hit": True}, {"priority": 50}, id="cache"),
        pytest.param({"priority": 4}, {"priority": 3, "prompt_len": 1}, id="priority"),
        pytest.param({"prompt_len": 6}, {"prompt_len": 7, "request_id": 0}, id="length"),
        pytest.param({"request_id": 1}, {"request_id": 2}, id="id"),
    ],
)
@pytest.mark.parametrize("policy", ["fixed_priority", "aging", "deadline"])
@pytest.mark.parametrize("better_comes_first", [True, False])
def test_each_column_decides_before_all_that_follow(
    make: Make,
    policy: str,
    better: dict[str, Any],
    worse: dict[str, Any],
    better_comes_first: bool,
) -> None:
    sim = make(policy=policy)
    first = {"request_id": 10, "prompt_len": 8, **better}
    second = {"request_id": 20, "prompt_len": 8, **worse}
    for fields in (first, second) if better_comes_first else (second, first):
        phase = fields.pop("phase", "prefill")
        sim.enqueue(max_new_tokens=3, **fields)
        sim.queue[-1].phase = phase
    assert in_order(sim) == [first["request_id"], second["request_id"]]
    assert served(sim, 1) == [first["request_id"]]


def test_the_key_has_the_six_columns_in_their_order(make: Make) -> None:
    sim = make("deadline")
    sim.enqueue(4, 9, 3, priority=5, cache_hit=True, deadline_step=20)
    sim.enqueue(5, 9, 3, priority=-5)
    keys = [sim._schedule_key(request) for request in sim.queue]
    assert keys == [(16, 0, 0, -5, 9, 4), (1_000_000_000, 0, 1, 5, 9, 5)]
    sim.run(2)
    keys = [sim._schedule_key(request) for request in sim.queue]
    assert keys == [(16, 1, 0, -5, 10, 4), (1_000_000_000, 0, 1, 5, 9, 5)]


# 3. Waiting is looked at, not acted upon.


@pytest.mark.parametrize("policy", ["fixed_priority", "deadline", "fcfs"])
def test_waiting_moves_nobody_without_aging(make: Make, policy: str) -> None:
    sim = make(policy=policy, aging_interval=1)
    for request_id in (1, 2, 3):
        sim.enqueue(request_id, 6, 2, cache_hit=True)
    keys = [sim._schedule_key(request) for request in sim.queue]
    for request, waited in zip(sim.queue, (0, 7, 900), strict=True):
        request.wait_steps = waited
    assert [sim._schedule_key(request) for request in sim.queue] == keys
    assert [sim._effective_priority(request) for request in sim.queue] == [0, 0, 0]
    assert served(sim, 1) == [1]


def test_the_event_tells_how_long_the_served_one_had_waited(make: Make) -> None:
    sim = make()
    sim.enqueue(1, 6, 2)
    sim.enqueue(2, 6, 1)
    events = sim.run()
    assert [(e["request_id"], e["wait_steps"]) for e in events] == [
        (1, 0),
        (2, 1),
        (1, 1),
        (2, 2),
        (1, 2),
    ]


# 4. Aging.


@pytest.mark.parametrize(
    ("interval", "waited", "gain"), [(1, 5, 5), (3, 2, 0), (3, 3, 1), (3, 8, 2), (100, 99, 0)]
)
def test_aging_turns_waiting_into_priority(
    make: Make, interval: int, waited: int, gain: int
) -> None:
    sim = make("aging", aging_interval=interval)
    sim.enqueue(1, 6, priority=-2)
    request = sim.queue[0]
    request.wait_steps = waited
    assert sim._effective_priority(request) == -2 + gain
    assert sim._schedule_key(request)[3] == 2 - gain
    assert request.priority == -2


def test_an_aged_request_overtakes_a_higher_priority(make: Make) -> None:
    sim = make("aging", aging_interval=4)
    sim.enqueue(1, 6, priority=2)
    sim.enqueue(2, 6, priority=4)
    sim.queue[0].wait_steps = 3
    assert in_order(sim) == [2, 1]
    sim.queue[0].wait_steps = 12
    assert in_order(sim) == [1, 2]
    assert served(sim, 1) == [1]


# 5. Capacity.


def test_what_does_not_fit_is_passed_over_and_finishing_gives_the_blocks_back(make: Make) -> None:
    sim = make(free_kv_blocks=5)
    sim.enqueue(1, 6, 2, priority=7, required_blocks=6)
    sim.enqueue(2, 6, 2, priority=1, required_blocks=4)
    assert served(sim, 1) == [2]
    assert sim.free_kv_blocks == 1
    assert served(sim, 2) == [2, 2]
    assert sim.timeline[-1]["action"] == "finish"
    assert sim.timeline[-1]["free_kv_blocks"] == sim.free_kv_blocks == 5
    assert sim.step() is None
    assert [request.admitted for request in sim.queue] == [False, False]


def test_blocks_are_granted_once_and_kept_while_running(make: Make) -> None:
    sim = make(free_kv_blocks=5)
    sim.enqueue(1, 6, 3, required_blocks=2)
    sim.enqueue(2, 6, 3, required_blocks=3)
    free = [event["free_kv_blocks"] for event in sim.run()]
    assert free == [3, 0, 0, 0, 0, 0, 2, 5]


# 6. Preemption.


def test_a_victim_keeps_phase_tokens_and_deadline_and_goes_on_later(make: Make) -> None:
    sim = make(free_kv_blocks=3)
    sim.enqueue(1, 6, 4, priority=2, required_blocks=3, deadline_step=40)
    sim.run(3)
    victim = sim.queue[0]
    sim.enqueue(2, 6, 1, priority=3, required_blocks=1)
    event = sim.step()
    assert event is not None
    assert (event["request_id"], event["preempted_request_id"]) == (2, 1)
    assert event["free_kv_blocks"] == 2
    assert (victim.status, victim.admitted, victim.preemptions) == ("preempted", False, 1)
    assert (victim.phase, victim.generated_len, victim.deadline_step) == ("decode", 2, 40)
    assert victim.wait_steps == 1
    events = sim.run()[4:]
    assert [(e["request_id"], e["generated_len"], e["phase"]) for e in events] == [
        (2, 1, "decode"),
        (1, 3, "decode"),
        (1, 4, "decode"),
    ]
    assert all(e["preempted_request_id"] is None for e in events)
    assert (victim.status, victim.preemptions, sim.free_kv_blocks) == ("finished", 1, 3)


@pytest.mark.parametrize(
    ("holders", "victim"),
    [
        pytest.param([(1, 0, 2), (2, -1, 2)], 2, id="the lowest priority"),
        pytest.param([(1, 0, 2), (2, 0, 3)], 2, id="then the most blocks"),
        pytest.param([(3, 0, 2), (2, 0, 2)], 2, id="then the lowest id"),
        pytest.param([(1, -9, 1), (2, 0, 2)], 2, id="but only one that is large enough"),
    ],
)
def test_the_victim_is_the_least(
    make: Make, holders: list[tuple[int, int, int]], victim: int
) -> None:
    sim = make(free_kv_blocks=sum(blocks for _, _, blocks in holders))
    for request_id, priority, blocks in holders:
        sim.enqueue(request_id, 6, 5, priority=priority, required_blocks=blocks)
    sim.run(len(holders))
    assert sim.free_kv_blocks == 0
    sim.enqueue(9, 6, 1, priority=1, required_blocks=2)
    event = sim.step()
    assert event is not None
    assert (event["request_id"], event["preempted_request_id"]) == (9, victim)


@pytest.mark.parametrize("priority", [4, 5, 6])
def test_only_a_strictly_higher_priority_preempts(make: Make, priority: int) -> None:
    sim = make(free_kv_blocks=1)
    sim.enqueue(1, 6, 2, priority=5)
    sim.step()
    sim.enqueue(2, 6, 2, priority=priority)
    assert served(sim, 1) == [2 if priority > 5 else 1]


# 7. Protection and deadlines.


def test_a_request_that_is_not_preemptible_keeps_its_blocks(make: Make) -> None:
    sim = make(free_kv_blocks=4)
    sim.enqueue(1, 6, 3, priority=-3, required_blocks=4, preemptible=False)
    sim.step()
    sim.enqueue(2, 6, 1, priority=30)
    assert served(sim, 5) == [1, 1, 1, 2, 2]
    assert all(event["preempted_request_id"] is None for event in sim.timeline)


def test_the_least_slack_goes_first_and_only_under_deadline(make: Make) -> None:
    for policy, first in (("deadline", 2), ("fixed_priority", 1), ("aging", 1), ("fcfs", 1)):
        sim = make(policy=policy)
        sim.enqueue(1, 6, 3, priority=8, deadline_step=30)
        sim.enqueue(2, 6, 2, priority=1, deadline_step=10)
        assert served(sim, 1) == [first]


@pytest.mark.parametrize("policy", ["fixed_priority", "aging", "deadline", "fcfs"])
@pytest.mark.parametrize(("deadline", "missed"), [(3, True), (4, False), (None, False)])
def test_a_miss_is_told_as_soon_as_the_steps_left_are_too_many(
    make: Make, policy: str, deadline: int | None, missed: bool
) -> None:
    sim = make(policy=policy)
    sim.enqueue(1, 6, 3, deadline_step=deadline)
    assert [event["deadline_missed"] for event in sim.run()] == [missed] * 4


# 8. The way of a run.


def test_a_run_leads_every_request_through_prefill_and_all_its_tokens(make: Make) -> None:
    sim = make()
    tokens = {1: 3, 2: 1, 3: 4}
    for request_id, limit in tokens.items():
        sim.enqueue(request_id, 6 + request_id, limit, cache_hit=request_id == 2)
    events = sim.run(50)
    assert len(events) == sim.clock == sum(limit + 1 for limit in tokens.values())
    for request_id, limit in tokens.items():
        own = [event for event in events if event["request_id"] == request_id]
        assert [event["generated_len"] for event in own] == [0, *range(1, limit + 1)]
        assert [event["action"] for event in own] == [
            "prefill_to_decode",
            *["decode_one_step"] * (limit - 1),
            "finish",
        ]
        assert [event["phase"] for event in own] == ["prefill"] + ["decode"] * limit
        assert {event["max_new_tokens"] for event in own} == {limit}
        assert {event["prompt_len"] for event in own} == {6 + request_id}
    assert [(r.status, r.done, r.admitted) for r in sim.queue] == [("finished", True, False)] * 3
    assert sum(request.wait_steps for request in sim.queue) > 0
    assert sim.step() is None


def test_an_event_is_a_plain_dict_with_ten_keys(make: Make) -> None:
    sim = make(free_kv_blocks=3)
    sim.enqueue(1, 6, 2, required_blocks=2, deadline_step=9)
    event: dict[str, object] = sim.step()
    assert type(event) is dict
    assert list(event) == EVENT_KEYS
    assert list(event.values()) == [1, "prefill", "prefill_to_decode", 6, 0, 2, 0, 1, None, False]
    assert sim.timeline[0] is event


# 9. Refusals, and the limit of a run.


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt_len": 0},
        {"prompt_len": -1},
        {"max_new_tokens": 0},
        {"max_new_tokens": -7},
        {"required_blocks": 0},
        {"required_blocks": -2},
        {"request_id": 1},
        {"deadline_step": 1},
        {"deadline_step": 0},
        {"deadline_step": -1},
    ],
    ids=str,
)
def test_a_wrong_request_is_refused(make: Make, fields: dict[str, int]) -> None:
    sim = make()
    sim.enqueue(1, 6, 3)
    sim.step()
    good: dict[str, int] = {"request_id": 2, "prompt_len": 6}
    with pytest.raises(ValueError, match=next(iter(fields))):
        sim.enqueue(**{**good, **fields})
    assert (len(sim.queue), sim.clock) == (1, 1)
    sim.enqueue(**good)


@pytest.mark.parametrize(
    "settings",
    [{"policy": "sjf"}, {"free_kv_blocks": -1}, {"aging_interval": 0}, {"aging_interval": -3}],
    ids=str,
)
def test_a_wrong_setting_is_refused(make: Make, settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        make(**settings)


def test_a_run_stops_at_its_limit_and_goes_on_when_asked_again(make: Make) -> None:
    sim = make()
    sim.enqueue(1, 6, 200)
    assert len(sim.run(0)) == 0
    assert len(sim.run(3)) == 3
    assert len(sim.run()) == 103, "a hundred steps unless told otherwise"
    with pytest.raises(ValueError, match="max_steps"):
        sim.run(-1)
    assert len(sim.run(1_000)) == 201
