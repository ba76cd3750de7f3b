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
from schedproof.claims.claim import Claim, Kind
from schedproof.claims.judge import Judge
from schedproof.claims.run import StartSubject
from schedproof.search.pace import Pace
from schedproof.search.profiles import Bounds, Profile
from schedproof.search.replay import (
    counterexample,
    insist_on_repeating,
    not_deterministic,
    plain,
    shortened,
)
from schedproof.search.results import ClaimResult, ClaimVerdict, RunResult, Trouble, Verdict
from schedproof.search.session import ClaimBroken, Session, Violation
from schedproof.subjects.actions import to_json
from schedproof.subjects.contract import Config, PolicyRefused, SubjectError
from schedproof.subjects.places import StopSubject, locate
from schedproof.subjects.todos import is_open_todo

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

    def before_action(self, session: Session) -> None:
        """Keep the time; raises `Stopped` when it is up."""
        self.session = session
        now = time.monotonic()
        shrunk_enough = self.best is not None and now - self.found_at > SHRINK_SECONDS
        if now > self.pace.deadline or self.pace.interrupted or shrunk_enough:
            self.stopped = True
            raise Stopped

    def ended(self, session: Session) -> None:
        """Count a run that is over."""
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
    blank = RunResult(
        policy=config.policy,
        search="random",
        verdict=Verdict.ERROR.value,
        identity=None,
        bounds={**asdict(bounds), "blocks": config.blocks, "aging_interval": config.aging_interval},
        distinct_states=None,
        transitions=0,
        depth=0,
        seconds=0.0,
        seed=seed,
        examples=0,
    )
    try:
        judge = Judge(applicable(claims, start(config)))
    except PolicyRefused as refused:
        note = ("note.policy_refused", {"policy": config.policy, "text": plain(refused.args[1])})
        return replace(blank, verdict=Verdict.NOT_APPLICABLE.value, notes=(note,))
    except (SubjectError, StopSubject) as error:
        return replace(blank, trouble=trouble_of(error, None))
    ended = _search(start, config, judge, bounds, profile, seed, watcher)
    result = replace(
        blank,
        transitions=watcher.actions,
        depth=watcher.depth,
        examples=watcher.examples,
        interrupted=pace.interrupted,
        **ended,
    )
    result = _not_vacuous(result, judge, watcher)
    seconds = time.monotonic() - watcher.started
    return replace(result, seconds=seconds, claims=claim_results(claims, judge, result))


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
        return {"trouble": trouble_of(error, watcher.session)}
    except stateful.OutOfMemory as error:
        return {"trouble": trouble_of(error.args[0], watcher.session)}
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
    actions = watcher.session.actions if watcher.session else []
    return {"trouble": trouble_of(not_deterministic(len(actions), actions), None)}


def _violated(start: StartSubject, judge: Judge, violation: Violation) -> dict[str, Any]:
    """The result of a violation, once it has proved to repeat."""
    try:
        insist_on_repeating(start, violation)
        if violation.claim.id == "REPLAY-1":
            raise not_deterministic(violation.breach.values["action"], violation.actions)
        small = shortened(start, judge.claims, violation)
        told = counterexample(start, small, found_by="random")
    except (SubjectError, StopSubject) as error:
        return {"trouble": trouble_of(error, None)}
    return {"verdict": Verdict.VIOLATED.value, "counterexamples": (told,)}


def _not_vacuous(result: RunResult, judge: Judge, watcher: Watcher) -> RunResult:
    """The result, or vacuous where a clean run served nobody or judged nothing."""
    if result.verdict != Verdict.NO_VIOLATION_FOUND.value:
        return result
    if watcher.steps_served and not judge.nothing_was_judged():
        return result
    return replace(result, verdict=Verdict.VACUOUS.value)


def trouble_of(error: SubjectError | StopSubject, session: Session | None) -> Trouble:
    """What a person is told about a scheduler that failed as a program."""
    actions = tuple(to_json(a) for a in session.actions) if session else ()
    if not isinstance(error, SubjectError):
        return Trouble("hung", "error.hung", {}, _place(error), _plain_actions(actions))
    values = dict(error.values)
    actions = tuple(values.pop("actions", actions))
    kind, text = error.kind, error.message_id
    if error.cause is not None and is_open_todo(error.cause):
        kind, text = "open_todo", "error.open_todo"
    values = {name: plain(value) for name, value in values.items()}
    return Trouble(kind, text, values, _place(error.cause), _plain_actions(actions))


def _place(error: BaseException | None) -> dict[str, Any] | None:
    place = None if error is None else locate(error)
    return None if place is None else place.to_json()


def _plain_actions(actions: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {**action, "args": {name: plain(value) for name, value in action["args"].items()}}
        if "args" in action
        else action
        for action in actions
    )


def claim_results(
    claims: Sequence[Claim], judge: Judge, result: RunResult
) -> tuple[ClaimResult, ...]:
    """What the run came to for each of the claims that were asked for."""
    counts = judge.exercised()
    broken = {i for c in result.counterexamples for i in (c.claim, *c.also_broken)}
    if result.trouble is not None and result.trouble.kind == "not_deterministic":
        broken.add("REPLAY-1")
    return tuple(
        ClaimResult(claim.id, _claim_verdict(claim, counts, broken, result), counts.get(claim.id, 0))
        for claim in claims
    )


def _claim_verdict(
    claim: Claim, counts: dict[str, int], broken: set[str], result: RunResult
) -> str:
    if claim.id not in counts:
        return ClaimVerdict.NOT_APPLICABLE.value
    if claim.id in broken:
        return ClaimVerdict.VIOLATED.value
    if claim.kind is Kind.SOMETIMES:
        reached = counts[claim.id] > 0
        return (ClaimVerdict.REACHED if reached else ClaimVerdict.NOT_REACHED).value
    if not counts[claim.id]:
        return ClaimVerdict.NOT_EXERCISED.value
    complete = (Verdict.HOLDS_WITHIN_BOUNDS.value, Verdict.NO_VIOLATION_REDUCED.value)
    if result.verdict in complete:
        return result.verdict
    return ClaimVerdict.NO_VIOLATION_FOUND.value
