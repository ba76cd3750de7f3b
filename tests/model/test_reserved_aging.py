"""The policy that lets nobody starve: aged priority first, and a pool kept for whoever waits.

What it shows over endless arrivals is in `tests/liveness`; here are its rules, one at a time.
"""

from __future__ import annotations

from typing import Any

import pytest

from schedmodel import KNOWN_POLICIES, POLICIES, DecodeSchedulerSim
from schedmodel.choice import Passed


def sim_of(*requests: dict[str, Any], blocks: int = 2, policy: str = "reserved_aging") -> Any:
    """A scheduler with these requests, numbered from 0."""
    sim = DecodeSchedulerSim(policy, blocks, aging_interval=2)
    for number, request in enumerate(requests):
        sim.enqueue(number, **{"prompt_len": 1, "max_new_tokens": 1, **request})
    return sim


SMALL = {"preemptible": False}
LARGE = {"required_blocks": 2}


def served(sim: Any, steps: int) -> list[int]:
    return [sim.step()["request_id"] for _ in range(steps)]


def test_it_is_known_and_is_none_of_the_four() -> None:
    assert set(KNOWN_POLICIES) - set(POLICIES) == {"reserved_aging"}
    assert DecodeSchedulerSim("reserved_aging").policy == "reserved_aging"


def test_waiting_counts_more_than_phase_and_cache_hit() -> None:
    waited, newcomer = {"cache_hit": False}, {"cache_hit": True}
    for policy, first in (("aging", 1), ("reserved_aging", 0)):
        sim = sim_of(waited, newcomer, policy=policy)
        sim.queue[0].wait_steps = 2
        assert served(sim, 1) == [first]


def test_phase_decides_among_equals() -> None:
    sim = sim_of({"max_new_tokens": 3, "preemptible": False})
    served(sim, 1)
    sim.enqueue(1, 1)
    assert served(sim, 1) == [1]


def test_nobody_behind_the_first_without_room_is_admitted() -> None:
    sim = sim_of({**SMALL, "max_new_tokens": 3}, LARGE, SMALL)
    sim.queue[1].wait_steps = 4
    sim.queue[0].wait_steps = 6
    assert served(sim, 2) == [0, 0]  # holds its blocks, so it goes on
    sim.queue[0].wait_steps = 0
    assert served(sim, 2) == [0, 0]  # r2 would have fitted: r1 keeps the place for itself
    assert served(sim, 2) == [1, 1]
    assert served(sim, 2) == [2, 2]


def test_without_a_reservation_the_small_one_goes_first() -> None:
    sim = sim_of({**SMALL, "max_new_tokens": 3}, LARGE, SMALL, policy="aging")
    assert served(sim, 2) == [0, 2]


def test_a_request_larger_than_the_pool_reserves_nothing() -> None:
    sim = sim_of({"required_blocks": 3, "priority": 9}, SMALL)
    assert served(sim, 2) == [1, 1]
    assert sim.step() is None
    assert sim.is_stuck


def test_why_names_for_whom_the_pool_is_kept() -> None:
    sim = sim_of({**SMALL, "max_new_tokens": 3}, LARGE, SMALL)
    served(sim, 1)
    sim.queue[1].wait_steps = 4
    places = {place.request_id: place for place in sim.why().places}
    assert [place.outcome for place in sim.why().places] == ["passed", "passed", "chosen"]
    assert isinstance(places[1].passed, Passed)
    assert places[1].passed.reserved_for is None
    assert places[2].passed is not None
    assert (places[2].passed.reserved_for, places[2].passed.free) == (1, 1)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_four_reserve_nothing(policy: str) -> None:
    sim = sim_of({**SMALL, "max_new_tokens": 3}, LARGE, SMALL, policy=policy)
    served(sim, 1)
    assert all(p.passed is None or p.passed.reserved_for is None for p in sim.why().places)
    assert served(sim, 1) == [0 if policy == "fcfs" else 2]
