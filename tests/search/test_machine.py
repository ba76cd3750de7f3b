"""The Hypothesis machine: three properties in full view, and the machine under every policy.

Each property is a run of the machine with only its own claims. It passes on our model and on
the plain scheduler, and fails where the fault that it is there for is planted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.exhaustive.conftest import (
    LEAKS,
    MODEL,
    PINNED,
    THE_SEVEN,
    ZEROES,
    Edit,
    planted,
    starter,
)

from schedproof.claims.catalogue import applicable, select
from schedproof.claims.judge import Judge
from schedproof.search import stateful
from schedproof.search.profiles import Bounds, Profile
from schedproof.search.session import ClaimBroken
from schedproof.subjects.contract import Config, Limits
from schedproof.zoo import plain
from schedproof.zoo.plain import PlainScheduler

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

SEEDS = [Profile("short", examples=60, actions=25, seed=seed) for seed in range(8)]
SHORT = SEEDS[0]
TARGETS = pytest.mark.parametrize("target", [MODEL, PlainScheduler])


def run(
    target: type[Any],
    claims: Sequence[str],
    policy: str = "fixed_priority",
    blocks: int = 3,
    profile: Profile = SHORT,
) -> Judge:
    """Run the machine with only these claims; raises `ClaimBroken` at a violation."""
    start, config = starter(target), Config(policy, blocks)
    judge = Judge(applicable(select(claims), start(config)))
    machine = stateful.make_machine(start, config, judge, Bounds(blocks=blocks))
    stateful.run_machine(machine, profile, profile.seed or 0)
    return judge


def broken(target: type[Any], claims: Sequence[str]) -> str:
    """The claim that a run breaks, of the first seed that finds anything."""
    for profile in SEEDS:
        try:
            run(target, claims, profile=profile)
        except ClaimBroken as caught:
            return caught.violation.claim.id
    pytest.fail(f"nothing was found with {len(SEEDS)} seeds")


def exercised(target: type[Any], claims: Sequence[str]) -> bool:
    """Whether each claim is exercised under one seed or another, and none is broken.

    What one seed draws depends on the constants in the modules that happen to be loaded:
    Hypothesis takes some of its values from there.
    """
    total: dict[str, int] = {}
    for profile in SEEDS:
        for claim, times in run(target, claims, profile=profile).exercised().items():
            total[claim] = total.get(claim, 0) + times
        if all(total.values()):
            return True
    return False


@TARGETS
def test_capacity_ledger(target: type[Any]) -> None:
    """After every action free and held blocks make up the pool."""
    assert exercised(target, ["LEDGER"])


@TARGETS
def test_progress_preservation(target: type[Any]) -> None:
    """Nobody loses a token or goes back to prefill, preempted or not."""
    assert exercised(target, ["PROGRESS"])


@TARGETS
def test_victim_eligibility(target: type[Any]) -> None:
    """Only a preemptible request gives way, and only to a more urgent one that needs it."""
    assert exercised(target, ["VICTIM"])


FAULTS: dict[str, tuple[Edit, str, str]] = {
    "a finish returns no blocks": (LEAKS, "LEDGER", "LEDGER-1"),
    "a preemption zeroes the tokens": (ZEROES, "PROGRESS", "PROGRESS-2"),
    "pinned requests are preempted": (PINNED, "VICTIM", "VICTIM-2"),
    "equals are preempted": (THE_SEVEN["equals are preempted"], "VICTIM", "VICTIM-3"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_property_fails_where_its_fault_is_planted(fault: str) -> None:
    edit, family, claim = FAULTS[fault]
    assert broken(planted(edit), [family]) == claim


@TARGETS
@pytest.mark.parametrize("policy", plain.POLICIES)
@pytest.mark.parametrize("blocks", [1, 3, 12], ids=["tight", "usual", "roomy"])
def test_the_machine_finds_nothing_under_any_policy(
    target: type[Any], policy: str, blocks: int
) -> None:
    judge = run(target, (), policy, blocks, Profile("moment", 12, 20, seed=1))
    counts = judge.exercised()
    assert counts["LEDGER-1"] > 12
    assert counts["INPUT-1"] > 0


def test_runs_of_the_machine_preempt_and_pass_over() -> None:
    counts = run(MODEL, ["REACH"]).exercised()
    assert counts["REACH-SKIP"] > 0
    assert exercised(MODEL, ["REACH-PREEMPTION"])


def test_a_machine_without_room_still_has_something_to_do() -> None:
    start, config = starter(MODEL), Config("aging", 0)
    judge = Judge(applicable(select(()), start(config)))
    machine = stateful.make_machine(start, config, judge, Bounds(requests=1, blocks=0))
    stateful.run_machine(machine, Profile("moment", 5, 10), 3)
    assert judge.exercised()["INPUT-2"] > 0


def test_a_machine_has_no_rule_that_could_never_be_used() -> None:
    start, config = starter(MODEL), Config("aging", 3)
    judge = Judge(applicable(select(()), start(config)))
    of_the_chapter = stateful.make_machine(start, config, judge, Bounds())
    batches = Config("fcfs", 3, limits=Limits())
    of_batches = stateful.make_machine(start, batches, judge, Bounds())
    assert [hasattr(machine, "abort") for machine in (of_the_chapter, of_batches)] == [False, True]
