"""The indexed scheduler, all ways through the smallest shared scope: minutes for each policy.

    python -m pytest tests/conformance/slow_indexed.py

The search judges it by every claim, ORDER-1 among them, which says of each step whom the
reference serves; and it must meet exactly as many states as the model does.
"""

from __future__ import annotations

import random

import pytest
from tests.conformance.test_indexed import Script, nobody_comes

import schedproof
from schedmodel import KNOWN_POLICIES
from schedmodel.indexed import IndexedSchedulerSim


@pytest.mark.parametrize("policy", KNOWN_POLICIES)
def test_all_ways_through_the_small_scope_keep_the_claims(policy: str) -> None:
    asked = {"policy": policy, "scope": "small", "identity": "full", "time": "60m"}
    mine = schedproof.check(IndexedSchedulerSim, **asked)  # type: ignore[arg-type]
    model = schedproof.check(**asked)  # type: ignore[arg-type]
    assert mine.exit_code == 0, str(mine)
    assert mine.runs[0].distinct_states == model.runs[0].distinct_states
    assert mine.runs[0].transitions == model.runs[0].transitions


@pytest.mark.parametrize("policy", KNOWN_POLICIES)
def test_thousands_of_random_scripts_give_equal_events(policy: str) -> None:
    seeds = random.Random(policy)
    for _ in range(400):
        Script(seeds.randrange(10**9), policy).play(400)
        nobody_comes(seeds.randrange(10**9), policy)
