"""The search of an engine in a child process, with limits of time and memory.

Rules.
1. As in `policy_runs`: the engine is loaded and led in a child only, and whatever becomes of the
   child is a result. Only the large libraries, which take longer to import than a call may, are
   imported before the child is made.
2. A call that does not come back is ended after a moment and told as a broken claim, because it is
   the engine's and can be made smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from schedproof.claims.catalogue import CLAIMS
from schedproof.claims.claim import Claim, Over
from schedproof.engines.adapter import EngineAdapter
from schedproof.engines.named import EngineTarget, load_adapter, loaded_before
from schedproof.engines.source import mark_of
from schedproof.search import isolation
from schedproof.search.engines.engine_search import Within, search_engine
from schedproof.search.engines.self_test import SelfTest, Tried, self_test
from schedproof.search.isolation import Channel, Limits, Outcome
from schedproof.search.outcomes import JsonValue
from schedproof.search.policy_runs import trouble_with_child
from schedproof.search.results import RunResult, Trouble, Verdict
from schedproof.subjects.load_errors import SubjectLoadError, TargetError

ACTION_SECONDS = 2.0
Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class EnginePlan:
    """What to search, by which claims, how far, and within what limits."""

    target: EngineTarget
    claims: tuple[Claim, ...]
    within: Within
    seconds: float = 30.0
    memory_mib: int = 1024
    action_seconds: float = ACTION_SECONDS

    @property
    def limits(self) -> Limits:
        """Those of the child."""
        return Limits(self.seconds, self.memory_mib, self.action_seconds)


def run_engine(plan: EnginePlan, tell: Tell) -> RunResult:
    """The result of a plan. Raises `TargetError` when the target names no engine."""
    outcome = isolation.run_isolated(_job(plan, loaded_before(plan.target)), plan.limits, tell)
    if isinstance(outcome, isolation.Finished) or (
        isinstance(outcome, isolation.Interrupted) and outcome.returned
    ):
        value: Any = outcome.value if isinstance(outcome, isolation.Finished) else outcome.partial
        return _result(plan, value)
    return _without_answer(plan, outcome)


SELF_TEST_SECONDS = 120.0


def run_self_test(target: EngineTarget) -> SelfTest:
    """The self-test of an adapter, in a child. Raises `TargetError`, or `RuntimeError`."""

    loaded = loaded_before(target)

    def job(channel: Channel) -> JsonValue:
        try:
            adapter = loaded or load_adapter(target, channel.begin)
        except TargetError as error:
            return {"target": error.to_json()}
        tested = self_test(adapter, judged_on_edges(CLAIMS), channel)
        tried = [asdict(each) for each in tested.tried]
        return {"plain": tested.plain.to_json(), "missing": [*tested.missing], "tried": tried}

    limits = Limits(SELF_TEST_SECONDS, 1024, ACTION_SECONDS)
    outcome = isolation.run_isolated(job, limits)
    value: Any = outcome.value if isinstance(outcome, isolation.Finished) else None
    if value is None:
        trouble = trouble_with_child(limits, outcome)
        raise TargetError("target.no_self_test", reason=trouble.message_id)
    if "target" in value:
        raise TargetError.from_json(value["target"])
    tried = tuple(Tried(**each) for each in value["tried"])
    return SelfTest(RunResult.from_json(value["plain"]), tuple(value["missing"]), tried)


def judged_on_edges(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims that are judged while an engine runs."""
    return tuple(claim for claim in claims if claim.over not in (Over.RUN, Over.ROUNDS))


def _job(plan: EnginePlan, loaded: EngineAdapter | None) -> Callable[[Channel], JsonValue]:
    def job(channel: Channel) -> JsonValue:
        try:
            adapter = loaded or load_adapter(plan.target, channel.begin)
        except TargetError as error:
            return {"target": error.to_json()}
        except SubjectLoadError as error:
            place = error.place.to_json() if error.place else None
            trouble = Trouble("load", error.message_id, dict(error.fields), place)
            return {"trouble": asdict(trouble)}
        channel.begin(plan.target.text)
        found = search_engine(adapter, plan.claims, plan.within, channel)
        return replace(found, fingerprint=mark_of(adapter)).to_json()

    return job


def _result(plan: EnginePlan, value: Any) -> RunResult:
    if "target" in value:
        raise TargetError.from_json(value["target"])
    if "policy" in value:
        return RunResult.from_json(value)
    record: dict[str, Any] = value["trouble"]
    trouble = replace(Trouble(**record), actions=tuple(record["actions"]))
    return replace(_blank(plan), trouble=trouble)


def _without_answer(plan: EnginePlan, outcome: Outcome) -> RunResult:
    blank = replace(_blank(plan), seconds=outcome.seconds)
    if isinstance(outcome, isolation.Interrupted):
        verdict = Verdict.INCOMPLETE.value
        return replace(blank, verdict=verdict, interrupted=True, stopped_by="interrupt")
    return replace(blank, trouble=trouble_with_child(plan.limits, outcome))


def _blank(plan: EnginePlan) -> RunResult:
    within = plan.within
    bounds = {"requests": within.requests, "blocks": within.blocks}
    return replace(RunResult.blank(plan.target.adapter, "random", bounds), seed=within.seed)
