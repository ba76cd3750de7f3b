"""Hunting faults: the search that `check` makes by default, over one fault after the other.

Rules. A hunt does what `check` does without options, whatever the reader's settings are, so
that what is found does not depend on them. Each search has a child process of its own; a
fault that crashes or does not end is a result like any other. A crash is a kill only where
the fault is one: then its kind of trouble stands in the place of the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schedproof.claims.catalogue import select
from schedproof.search.exhaustive.exhaustive_search import Asked
from schedproof.search.exhaustive.names import EXHAUSTIVE
from schedproof.search.exhaustive.scopes import (
    DEFAULT_BATCH_SCOPE,
    DEFAULT_PAGED_SCOPE,
    DEFAULT_SCOPE,
    load_scope,
)
from schedproof.search.isolation import Channel, JsonValue, Limits, run_parallel
from schedproof.search.policy_runs import Plan, job_of, result_of
from schedproof.search.profiles import PROFILES, QUICK, Bounds
from schedproof.search.results import RunResult
from schedproof.zoo.faults import BATCH, CHAPTER, OF_PAGED, Fault
from schedproof.zoo.hunted import Hunted
from schedproof.zoo.loading import source_of_fault

SECONDS_EACH = 60.0
USUAL = {
    CHAPTER: DEFAULT_SCOPE,
    BATCH: DEFAULT_BATCH_SCOPE,
    **dict.fromkeys(OF_PAGED, DEFAULT_PAGED_SCOPE),
}
"""Where faults are searched that name no scope of their own."""
Prey = tuple[Fault, str]
Begun = Callable[[int, Prey], None]


def prey_of(faults: Sequence[Fault], policies: Sequence[str] = ()) -> list[Prey]:
    """Each fault with each of these policies that it shows under; its first if none is named."""
    return [
        (fault, policy)
        for fault in faults
        for policy in (fault.policies if policies else fault.policies[:1])
        if policy in (policies or fault.policies)
    ]


def hunt(prey: Sequence[Prey], begun: Begun, seconds_each: float = SECONDS_EACH) -> list[Hunted]:
    """Search for each, several at a time; `begun` hears of each search as it begins."""
    plans = [plan_of(fault, policy, seconds_each) for fault, policy in prey]
    limits = Limits(seconds_each, Plan.memory_mib, Plan.action_seconds)
    outcomes = run_parallel(
        [_announced(plan) for plan in plans],
        limits,
        on_progress=lambda index, data: begun(index, prey[index]) if "begun" in data else None,
    )
    return [
        hunted(each, result_of(plan, EXHAUSTIVE, plan.policies[0], outcome))
        for each, plan, outcome in zip(prey, plans, outcomes, strict=True)
    ]


def plan_of(fault: Fault, policy: str, seconds: float = SECONDS_EACH) -> Plan:
    """What `check fault:NAME --policy POLICY` does."""
    return Plan(
        source=source_of_fault(fault),
        policies=(policy,),
        claims=tuple(select(())),
        searches=(EXHAUSTIVE,),
        asked=Asked(load_scope(fault.scope or USUAL[fault.level])),
        bounds=Bounds(),
        profile=PROFILES[QUICK],
        seed=0,
        seconds=seconds,
    )


def _announced(plan: Plan) -> Callable[[Channel], JsonValue]:
    job = job_of(plan, EXHAUSTIVE, plan.policies[0])

    def announced(channel: Channel) -> JsonValue:
        channel.progress({"begun": True})
        return job(channel)

    return announced


def hunted(prey: Prey, result: RunResult) -> Hunted:
    """What a search came to, beside what it should have come to."""
    fault, policy = prey
    found = next(iter(result.counterexamples), None)
    trouble = result.trouble
    claim = found.claim if found else trouble.kind if trouble else None
    length = found.length if found else len(trouble.actions) if trouble else None
    return Hunted(
        fault=fault.name,
        policy=policy,
        expected=fault.kill(policy),
        verdict=result.verdict,
        claim=claim,
        length=length,
        also_broken=found.also_broken if found else (),
        shortest=found is not None and found.shortest,
        transitions=result.transitions,
        seconds=result.seconds,
    )
