"""Counterexamples from real broken schedulers, reached by fixed actions, never by a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from schedproof.claims.catalogue import CLAIMS, applicable
from schedproof.claims.judge import Judge
from schedproof.search.profiles import Bounds
from schedproof.search.random_search import claim_results
from schedproof.search.replay import attempt, counterexample
from schedproof.search.results import Counterexample, RunResult, Verdict
from schedproof.subjects.actions import STEP, Action, Enqueue
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config
from schedproof.zoo.plain import PlainScheduler, Request


class LosesProgress(PlainScheduler):
    """Preemption starts the victim's tokens again."""

    def _preempt(self, victim: Request) -> None:
        super()._preempt(victim)
        victim.generated_len = 0


class LeaksBlocks(PlainScheduler):
    """Preemption gives back what the newcomer needs, not what the victim held."""

    def _find_victim(self, challenger: Request) -> Request | None:
        self.challenger = challenger
        return super()._find_victim(challenger)

    def _preempt(self, victim: Request) -> None:
        super()._preempt(victim)
        self.free_kv_blocks += self.challenger.required_blocks - victim.required_blocks


class PreemptsAnybody(PlainScheduler):
    """The choice of a victim does not look at `preemptible`."""

    def _find_victim(self, challenger: Request) -> Request | None:
        protected = [request for request in self.queue if not request.preemptible]
        for request in protected:
            request.preemptible = True
        victim = super()._find_victim(challenger)
        for request in protected:
            request.preemptible = False
        return victim


class GivesNothingBack(PlainScheduler):
    """Preemption forgets the victim's blocks."""

    def _preempt(self, victim: Request) -> None:
        super()._preempt(victim)
        self.free_kv_blocks -= victim.required_blocks


def enqueue(request_id: int, blocks: int = 1, **more: Any) -> Enqueue:
    """A request with a prompt of one token."""
    return Enqueue(request_id, 1, required_blocks=blocks, **more)


@dataclass(frozen=True)
class Found:
    """A counterexample and the run that found it."""

    example: Counterexample
    run: RunResult


def found_in(
    scheduler: type[Any], actions: Sequence[Action], policy: str = "fixed_priority"
) -> Found:
    """What breaks when a scheduler is led through these actions, as a search reports it."""
    config = Config(policy, 3, 2)

    def start(config: Config) -> ChapterSubject:
        return ChapterSubject(from_class(scheduler), config)

    judge = Judge(applicable(CLAIMS, start(config)))
    violation = attempt(start, config, judge, actions)
    assert violation is not None
    assert violation.actions == tuple(actions)
    example = counterexample(start, violation, found_by="random")
    run = RunResult(
        policy=policy,
        search="random",
        verdict=Verdict.VIOLATED.value,
        identity=None,
        bounds={"requests": Bounds().requests, "blocks": config.blocks, "aging_interval": 2},
        distinct_states=None,
        transitions=1234,
        depth=len(actions),
        seconds=0.5,
        counterexamples=(example,),
        seed=7,
        examples=40,
    )
    return Found(example, _with_claims(run, judge))


def _with_claims(run: RunResult, judge: Judge) -> RunResult:
    return RunResult(**{**run.__dict__, "claims": claim_results(CLAIMS, judge, run)})


FOUND: dict[str, Callable[[], Found]] = {
    "progress-2": lambda: found_in(
        LosesProgress,
        [
            enqueue(1, 2, max_new_tokens=3, priority=1),
            STEP,
            STEP,
            enqueue(2, 2, max_new_tokens=1, priority=9),
            STEP,
        ],
    ),
    "ledger-1": lambda: found_in(
        LeaksBlocks,
        [enqueue(1, 3, priority=1), STEP, enqueue(2, 2, priority=9), STEP],
    ),
    "ledger-2": lambda: found_in(
        GivesNothingBack,
        [enqueue(1, 2, priority=1), STEP, enqueue(2, 2, priority=9), STEP],
    ),
    "victim-2": lambda: found_in(
        PreemptsAnybody,
        [enqueue(1, 2, priority=1, preemptible=False), STEP, enqueue(2, 2, priority=9), STEP],
    ),
    "victim-2-aging": lambda: found_in(
        PreemptsAnybody,
        [
            enqueue(1, 2, max_new_tokens=9, preemptible=False),
            enqueue(2, 2, priority=-1),
            *[STEP] * 5,
        ],
        policy="aging",
    ),
}


@pytest.fixture(scope="session")
def found() -> Callable[[str], Found]:
    """The counterexample of this name, with its run."""
    known: dict[str, Found] = {}

    def get(name: str) -> Found:
        if name not in known:
            known[name] = FOUND[name]()
        return known[name]

    return get
