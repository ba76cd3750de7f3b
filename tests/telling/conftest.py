"""Counterexamples from real broken schedulers, reached by fixed actions, never by a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from schedproof.claims.catalogue import CLAIMS, applicable
from schedproof.claims.judge import Judge
from schedproof.search.finding_out import explained
from schedproof.search.profiles import Bounds
from schedproof.search.replay import attempt, counterexample
from schedproof.search.results import (
    ClaimResult,
    RunResult,
    Trouble,
    Verdict,
)
from schedproof.search.summing_up import claim_results
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


def found_in(
    scheduler: type[Any], actions: Sequence[Action], policy: str = "fixed_priority"
) -> RunResult:
    """What breaks when a scheduler is led through these actions, as a search reports it."""
    config = Config(policy, 3, 2)

    def start(config: Config) -> ChapterSubject:
        return ChapterSubject(from_class(scheduler), config)

    judge = Judge(applicable(CLAIMS, start(config)))
    violation = attempt(start, config, judge, actions)
    assert violation is not None
    assert violation.actions == tuple(actions)
    example = counterexample(start, violation, found_by="random")
    example = explained(example, start, CLAIMS, plain=False)
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
        counterexamples=(replace(example, kept_as=f"{example.claim}-7c1e"),),
        seed=7,
        examples=40,
    )
    return replace(run, claims=claim_results(CLAIMS, judge, run))


FOUND: dict[str, Callable[[], RunResult]] = {
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
def found() -> Callable[[str], RunResult]:
    """The run that found the counterexample of this name."""
    known: dict[str, RunResult] = {}

    def get(name: str) -> RunResult:
        if name not in known:
            known[name] = FOUND[name]()
        return known[name]

    return get


Make = Callable[..., RunResult]


@pytest.fixture(scope="session")
def clean_run() -> Make:
    """A made-up run that found nothing; any field can be given."""

    def make(**fields: Any) -> RunResult:
        told = [("LEDGER-1", "no_violation_found", 60), ("REACH-PREEMPTION", "reached", 4)]
        usual: dict[str, Any] = {
            "policy": "aging",
            "search": "random",
            "verdict": "no_violation_found",
            "identity": None,
            "bounds": {"requests": 3, "blocks": 3, "priorities": [-1, 3], "aging_interval": 2},
            "distinct_states": None,
            "transitions": 4321,
            "depth": 12,
            "seconds": 1.25,
            "claims": tuple(ClaimResult(*claim) for claim in told),
            "seed": 7,
            "examples": 100,
        }
        return RunResult(**{**usual, **fields})

    return make


@pytest.fixture(scope="session")
def trouble_run(clean_run: Make) -> Make:
    """A made-up run that ended in trouble."""

    def make(**fields: Any) -> RunResult:
        place = {"path": "mine.py", "line": 2, "function": "step", "cell": None}
        where = {**place, "lines": [[1, "def step(self):"], [2, "    return self.x"]]}
        values = {"call": "step", "type": "KeyError", "text": "'x'"}
        actions = ({"op": "step"}, {"op": "enqueue", "args": enqueue(1).arguments()})
        trouble = Trouble("raised", "error.raised", values, where, actions)
        return clean_run(**{"verdict": "error", "trouble": trouble, **fields})

    return make
