"""A random search of one engine, from a seed to a result.

Rules.
1. A clean end is `no violation found`, with its runs, steps and seed, and never more than that.
2. The first broken claim ends the search, or with `keep_going` every claim is told once: a claim
   that is already broken is not judged any more. Only an exception and a call that does not come
   back are told apart, though both break the same claim.
3. A violation is told after it was made smaller and played again: an engine that answers
   differently the second time is not deterministic, which is an error of its own.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from schedproof.claims.claim import Claim
from schedproof.claims.judge import Judge
from schedproof.engines.adapter import EngineAdapter
from schedproof.engines.guard import Guard
from schedproof.engines.source import start_engine
from schedproof.engines.subject import EngineSubject, features_of
from schedproof.search.engines import box
from schedproof.search.engines.box import drawn
from schedproof.search.engines.playing import StartEngine, play
from schedproof.search.engines.shrinking import SECONDS, Found, shrunk
from schedproof.search.pace import Pace
from schedproof.search.replay import counterexample, insist_on_repeating
from schedproof.search.results import Counterexample, RunResult, Verdict
from schedproof.search.session import Violation
from schedproof.search.summing_up import claim_results, not_vacuous, trouble_of
from schedproof.subjects.contract import Config, SubjectError

TAKE_LONG, MANY_FACES = ("STALL-2.endless",), ("STALL-2",)
HANGS_MAX = 3
LOOK_EVERY, COLLECT_EVERY = 16, 2000
ENGINE_RUNS_EACH = 50
"""A run of an engine takes about a fiftieth of the time of a run of the other random search."""


@dataclass(frozen=True)
class Within:
    """How far: inputs to play, what they stay within, and whether to go on after a violation.

    `shrink_seconds` is the most that is spent on making one violation smaller.
    """

    runs: int = 5000
    seed: int = 0
    requests: int = box.REQUESTS_MAX
    blocks: int = box.BLOCKS_MAX
    keep_going: bool = False
    shrink_seconds: float = SECONDS

    def bounds(self, adapter: EngineAdapter) -> dict[str, Any]:
        """The bounds that a verdict states."""
        sizes = adapter.block_sizes
        return {
            "requests": self.requests,
            "blocks": self.blocks,
            "max_new_tokens": box.NEW_MAX,
            "prompt_len": box.PROMPT_MAX,
            "block_size": max(sizes),
            "vocabulary": box.VOCABULARY_MAX,
        }


@dataclass
class Tally:
    """What was done so far."""

    examples: int = 0
    actions: int = 0
    steps: int = 0
    served: int = 0
    depth: int = 0
    hung: int = 0
    stopped_by: str | None = None
    found: list[Found] = field(default_factory=list[Found])

    def is_new(self, violation: Violation) -> bool:
        """Whether the same claim was not found broken in the same words."""
        return all(
            (old.claim.id, old.breach.text) != (violation.claim.id, violation.breach.text)
            for _, old in self.found
        )


def starter(adapter: EngineAdapter, pace: Pace) -> StartEngine:
    """Starts engines; all share their table of rows."""
    rows: dict[Any, Any] = {}
    guard = Guard()

    def start(config: Config) -> EngineSubject:
        return start_engine(adapter, config, pace, rows, guard)

    return start


def search_engine(
    adapter: EngineAdapter, claims: Sequence[Claim], within: Within, pace: Pace
) -> RunResult:
    """Search one engine; the adapter has been loaded."""
    began = time.monotonic()
    bounds = within.bounds(adapter)
    blank = replace(RunResult.blank(adapter.policy, "random", bounds), seed=within.seed, examples=0)
    start = starter(adapter, pace)
    try:
        judge = Judge([claim for claim in claims if claim.needs <= features_of(adapter)])
        tally = _searched(start, adapter, judge, within, pace)
        told = tuple(
            _told(start, adapter, judge.claims, each, pace.deadline, within.shrink_seconds)
            for each in tally.found
        )
    except SubjectError as error:
        return replace(blank, trouble=trouble_of(error), seconds=time.monotonic() - began)
    result = replace(
        blank,
        verdict=_verdict(tally).value,
        transitions=tally.actions,
        depth=tally.depth,
        examples=tally.examples,
        interrupted=pace.interrupted,
        stopped_by=tally.stopped_by,
        counterexamples=told,
    )
    result = not_vacuous(result, judge, tally.served)
    seconds = time.monotonic() - began
    return replace(result, seconds=seconds, claims=claim_results(claims, judge, result))


def _verdict(tally: Tally) -> Verdict:
    if tally.found:
        return Verdict.VIOLATED
    return Verdict.INCOMPLETE if tally.stopped_by else Verdict.NO_VIOLATION_FOUND


def _searched(
    start: StartEngine, adapter: EngineAdapter, judge: Judge, within: Within, pace: Pace
) -> Tally:
    tally, random = Tally(), Random(within.seed)
    gc.disable()  # engines are dropped as they were made; what goes round in circles is rare
    open_claims = Judge(judge.claims)
    for number in range(within.runs):
        if number % LOOK_EVERY == 0 and _must_stop(tally, adapter, within, pace):
            break
        if tally.hung >= HANGS_MAX:
            break
        if number % COLLECT_EVERY == COLLECT_EVERY - 1:
            gc.collect()
        plan = drawn(random, adapter, within.requests, within.blocks)
        played = play(start, plan, open_claims)
        tally.examples += 1
        tally.actions += played.actions
        tally.steps += played.steps
        tally.served += played.served
        tally.depth = max(tally.depth, played.actions)
        tally.hung += played.hung
        if played.violation is not None and tally.is_new(played.violation):
            tally.found.append((plan, played.violation))
            if not within.keep_going:
                break
            if played.violation.claim.id not in MANY_FACES:
                open_claims = _without(judge, open_claims, played.violation.claim)
    gc.enable()
    _count(judge, open_claims)
    return tally


def _without(judge: Judge, open_claims: Judge, broken: Claim) -> Judge:
    _count(judge, open_claims)
    return Judge([claim for claim in open_claims.claims if claim.id != broken.id])


def _count(judge: Judge, done: Judge) -> None:
    for claim_id, times in done.exercised().items():
        judge.count(claim_id, times)


def _must_stop(tally: Tally, adapter: EngineAdapter, within: Within, pace: Pace) -> bool:
    pace.progress({"policy": adapter.policy, "done": tally.examples, "of": within.runs})
    if pace.interrupted:
        tally.stopped_by = "interrupt"
    elif time.monotonic() > pace.deadline:
        tally.stopped_by = "time"
    return tally.stopped_by is not None


def _told(
    start: StartEngine,
    adapter: EngineAdapter,
    claims: Sequence[Claim],
    found: Found,
    deadline: float,
    seconds: float,
) -> Counterexample:
    alone = Judge([claim for claim in claims if claim.id == found[1].claim.id])
    _, violation = shrunk(start, adapter, alone, found, deadline, seconds)
    if violation.breach.text not in TAKE_LONG:
        insist_on_repeating(start, violation)
    return counterexample(start, violation, found_by="random")
