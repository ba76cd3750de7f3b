"""Whether an answer does what its lesson asks for.

Rules.
1. An answer is a file, or what the file would define, as it is in a notebook. It is loaded and
   run in a child process with limits, whatever it does.
2. Schedulers and claims are judged by the same searches as everybody's. What is asked of them
   is asked of all: a test must pass on the right scheduler, a claim must hold on it.
3. A run counts up to its first action that breaks a claim; which one must be the lesson's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.resources import as_file, files
from typing import Any

from schedmodel import DecodeSchedulerSim
from schedproof import api
from schedproof.claims.catalogue import CLAIMS, applicable
from schedproof.claims.claim import Over
from schedproof.claims.judge import Judge
from schedproof.claims.own import OwnClaim, claims_of
from schedproof.learn.lessons.exercises import CLAIM, SCHEDULER, TEST, Lesson
from schedproof.learn.lessons.goals import GOALS
from schedproof.learn.lessons.recorder import Recorder, TooManyActions
from schedproof.search.exhaustive.exhaustive_search import Asked
from schedproof.search.exhaustive.names import EXHAUSTIVE
from schedproof.search.exhaustive.scopes import DEFAULT_SCOPE, load_scope
from schedproof.search.policy_runs import Plan, run_plan
from schedproof.search.profiles import PROFILES, QUICK, Bounds
from schedproof.search.replay import counterexample
from schedproof.search.results import (
    Counterexample,
    RunResult,
    Trouble,
    Verdict,
    counterexample_from_json,
)
from schedproof.subjects.loading import load_module
from schedproof.subjects.places import StopSubject
from schedproof.subjects.sources import OURS
from schedproof.traces.children import Ready, Task, do
from schedproof.traces.taken import play
from schedproof.zoo.all_faults import BY_NAME
from schedproof.zoo.loading import load_class, source_named

RIGHT, WRONG, FAILED = "right", "wrong", "failed"
FOUND_BY = "replay"
SECONDS = 120.0


@dataclass(frozen=True)
class Judged:
    """What became of an answer: `text` names what is told, with `values`."""

    state: str
    text: str = ""
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    example: Counterexample | None = None
    trouble: Trouble | None = None

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Judged:
        """What a child has said."""
        example = record.pop("example", None)
        return cls(**record, example=None if example is None else counterexample_from_json(example))


def judge(lesson: Lesson, answer: Any) -> Judged:
    """Judge an answer: the path of a file, or the function, class or claim itself."""
    if lesson.kind == SCHEDULER:
        return _judge_scheduler(lesson, answer)
    work = {TEST: _try_test, CLAIM: _try_claim}.get(lesson.kind, _try_run)
    found = do(Task(source_named(lesson.target), lambda ready: work(lesson, answer, ready)))
    if found.trouble is not None:
        return Judged(FAILED, trouble=found.trouble)
    judged = Judged.from_json(found.value)
    if lesson.kind == CLAIM and judged.state == RIGHT:
        return _judge_claim(lesson, answer, judged.values["ids"])
    return judged


def _said(state: str, text: str, **values: Any) -> dict[str, Any]:
    return {"state": state, "text": text, "values": values}


def _from(answer: Any, name: str) -> Callable[..., Any] | None:
    """The function of that name in a file, or the function itself."""
    found = getattr(load_module(answer), name, None) if isinstance(answer, str) else answer
    return found if callable(found) else None


def _raised(error: Exception) -> dict[str, Any]:
    return _said(FAILED, "lesson.raised", error=f"{type(error).__name__}: {error}")


# -- runs --------------------------------------------------------------------


def _try_run(lesson: Lesson, answer: Any, ready: Ready) -> dict[str, Any]:
    run = _from(answer, lesson.kind)
    if run is None:
        return _said(FAILED, "lesson.missing", name=lesson.kind)
    recorder = Recorder(ready.start(lesson.config), lesson.most)
    try:
        run(recorder)
    except TooManyActions:
        return _said(WRONG, "lesson.too_long", most=lesson.most)
    except StopSubject:
        raise
    except Exception as error:  # whatever a learner's function raises
        return _raised(error)
    if not recorder.moments:
        return _said(WRONG, "lesson.empty")
    if lesson.goal:
        missing = GOALS[lesson.goal](recorder.moments)
        text = f"lesson.goal.{lesson.goal}.{missing}" if missing else "lesson.reached"
        return _said(WRONG if missing else RIGHT, text, actions=len(recorder.moments))
    return _breaks(lesson, recorder, ready)


def _breaks(lesson: Lesson, recorder: Recorder, ready: Ready) -> dict[str, Any]:
    """Whether a run breaks the lesson's claim, and the story of what it breaks."""
    claims = [claim for claim in CLAIMS if claim.over not in (Over.RUN, Over.ROUNDS)]
    judge = Judge(applicable(claims, ready.start(lesson.config)))
    actions = [moment.action for moment in recorder.moments]
    found = play(ready.start, lesson.config, judge, actions, [])
    if found is None:
        return _said(WRONG, "lesson.holds", claim=lesson.claim)
    right = lesson.claim in (found.claim.id, *found.also_broken)
    text = "lesson.broken" if right else "lesson.breaks_another"
    values = {"claim": lesson.claim, "found": found.claim.id, "actions": len(found.actions)}
    told = asdict(counterexample(ready.start, found, FOUND_BY))
    return {**_said(RIGHT if right else WRONG, text, **values), "example": told}


# -- tests -------------------------------------------------------------------


def _try_test(lesson: Lesson, answer: Any, _ready: Ready) -> dict[str, Any]:
    test = _from(answer, lesson.kind)
    if test is None:
        return _said(FAILED, "lesson.missing", name=lesson.kind)
    failed = _failure(test, DecodeSchedulerSim)
    if failed is not None:
        told = f"{type(failed).__name__}: {failed}"
        return _said(WRONG, "lesson.fails_on_right", error=told)
    alive = [name for name in lesson.faults if _failure(test, load_class(BY_NAME[name])) is None]
    counts = {"of": len(lesson.faults), "caught": len(lesson.faults) - len(alive)}
    return _said(WRONG if alive else RIGHT, "lesson.caught", **counts, alive=alive)


def _failure(test: Callable[..., Any], scheduler: type[Any]) -> Exception | None:
    try:
        test(scheduler)
    except StopSubject:
        raise
    except Exception as error:  # an assertion, or whatever a broken scheduler leads to
        return error
    return None


# -- schedulers and claims ---------------------------------------------------


def _judge_scheduler(lesson: Lesson, answer: Any) -> Judged:
    """A full search must find something, and the reduced one must not."""
    with as_file(files("schedproof.learn.lessons") / lesson.scope) as scope:
        asked: dict[str, Any] = {"policy": lesson.policy, "scope": str(scope), "time": SECONDS}
        full = api.check(answer, **asked)
        if full.verdict != Verdict.VIOLATED:
            return Judged(WRONG, "lesson.full", {"verdict": full.verdict})
        reduced = api.check(answer, reduce=lesson.reduce, **asked)
    first = full.first
    if reduced.verdict != Verdict.NO_VIOLATION_REDUCED:
        return Judged(WRONG, "lesson.seen", {"verdict": reduced.verdict}, first)
    assert first is not None
    values = {"claim": first.claim, "actions": first.length}
    return Judged(RIGHT, "lesson.escapes", values, first)


def _try_claim(_lesson: Lesson, answer: Any, _ready: Ready) -> dict[str, Any]:
    """Which claims there are."""
    own = claims_of(vars(load_module(answer))) if isinstance(answer, str) else [answer]
    if not own or not all(isinstance(each, OwnClaim) for each in own):
        return _said(FAILED, "lesson.no_claim")
    return _said(RIGHT, "lesson.claims", ids=[each.claim.id for each in own])


def _judge_claim(lesson: Lesson, answer: Any, ids: list[str]) -> Judged:
    """The claims must hold on the model, and one must bite on the fault."""
    right, broken = (_search(target, lesson, answer, ids) for target in (OURS, lesson.target))
    for run in (right, broken):
        if run.trouble is not None:
            return Judged(FAILED, trouble=run.trouble)
    verdict = Verdict(right.verdict)
    if verdict is not Verdict.HOLDS_WITHIN_BOUNDS:
        stopped = {Verdict.VIOLATED: "too_strict", Verdict.VACUOUS: "never_asked"}
        values = {"actions": sum(found.length for found in right.counterexamples)}
        return Judged(WRONG, f"lesson.claim.{stopped.get(verdict, 'stopped')}", values)
    if not broken.counterexamples:
        return Judged(WRONG, "lesson.claim.harmless", {"fault": lesson.target})
    found = broken.counterexamples[0]
    told = {"claim": found.claim, "fault": lesson.target, "actions": found.length}
    return Judged(RIGHT, "lesson.claim.bites", told)


def _search(target: str, lesson: Lesson, answer: Any, ids: list[str]) -> RunResult:
    """One search by these claims alone."""
    in_file = isinstance(answer, str)
    plan = Plan(
        source=source_named(target),
        policies=(lesson.policy,),
        claims=() if in_file else (answer.claim,),
        searches=(EXHAUSTIVE,),
        asked=Asked(load_scope(DEFAULT_SCOPE)),
        bounds=Bounds(),
        profile=PROFILES[QUICK],
        seed=0,
        seconds=SECONDS,
        claims_from=answer if in_file else None,
        claim_names=tuple(ids) if in_file else (),
    )
    (run,) = run_plan(plan, lambda _progress: None)
    return run
