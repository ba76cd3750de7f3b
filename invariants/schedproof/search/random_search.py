"""A random search of one policy, from a seed to a result.

Rules. The Hypothesis machine does the searching; this module keeps the time, counts what
was done, and turns whatever ended the search into a `RunResult`. Out of time means
incomplete, unless a violation is already in hand: then that is the result, shortened as
far as time allows. A clean end is `no violation found`: never more than that.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from schedproof.claims.catalogue import applicable
from schedproof.claims.claim import Claim
from schedproof.claims.judge import Judge
from schedproof.claims.run import StartSubject
from schedproof.search.pace import Pace
from schedproof.search.profiles import Bounds, Profile
from schedproof.search.replay import (
    counterexample,
    insist_on_repeating,
    not_deterministic,
    shortened,
)
from schedproof.search.results import RunResult, Verdict
from schedproof.search.session import ClaimBroken, Session, Violation
from schedproof.search.summing_up import claim_results, not_vacuous, refused, trouble_of
from schedproof.subjects.actions import Action
from schedproof.subjects.contract import Config, PolicyRefused, SubjectError
from schedproof.subjects.places import StopSubject

SHRINK_SECONDS = 3.0


class Stopped(BaseException):
    """Ends a search from inside a rule; not an `Exception`, so that nothing catches it."""


@dataclass
class Watcher:
    """What is known of a search while it runs."""

    pace: Pace
    profile: Profile
    started: float
    session: Session | None = None
    best: Violation | None = None
    found_at: float = 0.0
    examples: int = 0
    actions: int = 0
    depth: int = 0
    steps_served: int = 0
    stopped: bool = False
    shrinking: bool = False

    @property
    def taken(self) -> Sequence[Action]:
        """The actions of the run at hand."""
        return self.session.actions if self.session else ()

    def before_action(self, session: Session) -> None:
        """Keep the time; raises `Stopped` when it is up."""
        self.session = session
        now = time.monotonic()
        shrunk_enough = self.best is not None and now - self.found_at > SHRINK_SECONDS
        if now > self.pace.deadline or self.pace.interrupted or shrunk_enough:
            self.stopped = True
            raise Stopped

    def ended(self, session: Session) -> None:
        """Count a run that is over; those that only shrink a violation are not searching."""
        if self.shrinking:
            return
        self.shrinking = self.best is not None
        self.examples += 1
        self.actions += len(session.actions)
        self.depth = max(self.depth, len(session.actions))
        self.steps_served += session.steps_served
        self.pace.progress(
            {"policy": session.config.policy, "done": self.examples, "of": self.profile.examples}
        )

    def keep(self, violation: Violation) -> None:
        """Remember the shortest violation so far."""
        if self.best is None:
            self.found_at = time.monotonic()
        if self.best is None or len(violation.actions) <= len(self.best.actions):
            self.best = violation


def search_randomly(
    start: StartSubject,
    config: Config,
    claims: Sequence[Claim],
    bounds: Bounds,
    profile: Profile,
    seed: int,
    pace: Pace,
) -> RunResult:
    """Search one policy until the profile's examples are used up or something ends it."""
    watcher = Watcher(pace, profile, time.monotonic())
    within = bounds_of(bounds, config)
    blank = replace(RunResult.blank(config.policy, "random", within), seed=seed, examples=0)
    try:
        judge = Judge(applicable(claims, start(config)))
    except PolicyRefused as error:
        return refused(blank, error)
    except (SubjectError, StopSubject) as error:
        return replace(blank, trouble=trouble_of(error))
    ended = _search(start, config, judge, bounds, profile, seed, watcher)
    result = replace(
        blank,
        transitions=watcher.actions,
        depth=watcher.depth,
        examples=watcher.examples,
        interrupted=pace.interrupted,
        **ended,
    )
    result = not_vacuous(result, judge, watcher.steps_served)
    seconds = time.monotonic() - watcher.started
    return replace(result, seconds=seconds, claims=claim_results(claims, judge, result))


def bounds_of(bounds: Bounds, config: Config) -> dict[str, Any]:
    """What random runs stay within; for batches what these know of."""
    if config.limits is None:
        return {
            **asdict(bounds),
            "blocks": config.blocks,
            "aging_interval": config.aging_interval,
        }
    told = {"requests": bounds.requests, "blocks": config.blocks, **config.limits._asdict()}
    return {**told, "priorities": bounds.priorities}


def _search(
    start: StartSubject,
    config: Config,
    judge: Judge,
    bounds: Bounds,
    profile: Profile,
    seed: int,
    watcher: Watcher,
) -> dict[str, Any]:
    """Run the machine; what it ended with, as fields of a `RunResult`."""
    from schedproof.search import stateful  # Hypothesis takes a while to import

    machine = stateful.make_machine(
        start, config, judge, bounds, watcher.before_action, watcher.ended, watcher.keep
    )
    try:
        stateful.run_machine(machine, profile, seed)
    except (Stopped, *stateful.FLAKY):  # a run that was cut short may seem flaky to Hypothesis
        if watcher.best is None:
            return _cut_short(watcher)
    except (SubjectError, StopSubject) as error:
        return {"trouble": trouble_of(error, watcher.taken)}
    except stateful.OutOfMemory as error:
        return {"trouble": trouble_of(error.args[0], watcher.taken)}
    except ClaimBroken as broken:
        watcher.keep(broken.violation)
    if watcher.best is None:
        return {"verdict": Verdict.NO_VIOLATION_FOUND.value}
    return _violated(start, judge, watcher.best)


def _cut_short(watcher: Watcher) -> dict[str, Any]:
    """What a search without a violation ended with before its last example."""
    if watcher.stopped:
        stopped_by = "interrupt" if watcher.pace.interrupted else "time"
        return {"verdict": Verdict.INCOMPLETE.value, "stopped_by": stopped_by}
    actions = watcher.taken
    return {"trouble": trouble_of(not_deterministic(len(actions), actions))}


def _violated(start: StartSubject, judge: Judge, violation: Violation) -> dict[str, Any]:
    """The result of a violation, once it has proved to repeat."""
    try:
        insist_on_repeating(start, violation)
        if violation.claim.id == "REPLAY-1":
            raise not_deterministic(violation.breach.values["action"], violation.actions)
        small = shortened(start, judge.claims, violation)
        told = counterexample(start, small, found_by="random")
    except (SubjectError, StopSubject) as error:
        return {"trouble": trouble_of(error)}
    return {"verdict": Verdict.VIOLATED.value, "counterexamples": (told,)}
