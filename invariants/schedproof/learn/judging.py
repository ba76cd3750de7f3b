"""Judging the exercise: each TODO alone, then all of it together.

Rules.
1. All code of the learner's runs in child processes with limits; whatever becomes of a child is
   a result. Each TODO has a child of its own, so an endless loop in one says nothing of another.
2. TODO 1, 2 and 3 are tried on prepared cases; TODO 4 by the exhaustive search over all runs of
   two requests, with our parts for the others. For the first wrong TODO the search also looks
   for the shortest run that shows the mistake.
3. Only when none is open and none is wrong, the class as it stands is checked by the whole
   catalogue. A part that fails beside ours and works with the learner's own is not wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from schedproof.claims.catalogue import select
from schedproof.learn.bench import Benches, Mistaken
from schedproof.learn.evidence import OPEN, RIGHT, TOGETHER, UNKNOWN, WRONG, Seen, trouble_from
from schedproof.learn.exercise import POLICIES, TODOS, Todo, alone
from schedproof.learn.try_capacity import try_capacity
from schedproof.learn.try_enqueue import try_enqueue
from schedproof.learn.try_key import try_key
from schedproof.search import isolation
from schedproof.search.exhaustive.exhaustive_search import Asked
from schedproof.search.exhaustive.names import EXHAUSTIVE
from schedproof.search.exhaustive.scopes import DEFAULT_SCOPE, load_scope
from schedproof.search.isolation import Channel, Limits, Outcome
from schedproof.search.outcomes import JsonValue
from schedproof.search.policy_runs import Plan, run_plan, trouble_with_child
from schedproof.search.profiles import PROFILES, QUICK, Bounds
from schedproof.search.results import RunResult, Trouble, Verdict, worst
from schedproof.search.summing_up import trouble_of
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config, PolicyRefused, SubjectError
from schedproof.subjects.load_errors import Note, SubjectLoadError, TargetError
from schedproof.subjects.loading import load_class, open_todos, parse_target
from schedproof.subjects.sources import Loaded, Source

Before = Callable[[str], None]
LoadClass = Callable[[Before], tuple[type[Any], tuple[Note, ...]]]
Notes = tuple[tuple[str, dict[str, Any]], ...]

FEW_REQUESTS, MANY_REQUESTS = 2, 3
SECONDS_EACH = 60.0
ACTION_SECONDS = Plan.action_seconds
_TRIES: dict[int, Callable[[Benches], None]] = {1: try_enqueue, 2: try_key, 3: try_capacity}
SEARCHED = tuple(todo.number for todo in TODOS if todo.number not in _TRIES)


@dataclass(frozen=True)
class Exercise:
    """Somebody's exercise: what it is called, and how its class is loaded (in a child)."""

    name: str
    load: LoadClass


@dataclass(frozen=True)
class Judged:
    """What was found of an exercise. `trouble` tells why nothing else could be judged."""

    name: str
    todos: tuple[Seen, ...] = ()
    trouble: Trouble | None = None
    notes: Notes = ()

    def in_state(self, state: str) -> list[Seen]:
        """The parts in this state."""
        return [seen for seen in self.todos if seen.state == state]


def exercise_of(target: str | type[Any], cell: int | None = None) -> Exercise:
    """The exercise that a class or a text names. Raises `TargetError`."""
    if isinstance(target, type):
        return Exercise(target.__qualname__, lambda _before: (target, ()))
    parsed = parse_target(target)

    def load(before: Before) -> tuple[type[Any], tuple[Note, ...]]:
        found = load_class(parsed, cell, before=before)
        return found.cls, found.notes

    return Exercise(target, load)


def judge(exercise: Exercise) -> Judged:
    """Every TODO alone. Raises `TargetError` when the target names nothing."""
    limits = _limits()
    looked = isolation.run_isolated(lambda channel: _look(exercise, channel), limits)
    first = _after_look(exercise, looked)
    if first.trouble is not None:
        return first
    unknown = [seen.number for seen in first.todos if seen.state != OPEN]
    tried = isolation.run_parallel([_job(exercise, n) for n in unknown if n in _TRIES], limits)
    seen = {each.number: each for each in first.todos}
    for number, outcome in zip((n for n in unknown if n in _TRIES), tried, strict=True):
        seen[number] = _seen(number, outcome)
    for number in (n for n in unknown if n in SEARCHED):
        seen[number] = _searched(exercise, number)
    todos = tuple(seen[todo.number] for todo in TODOS)
    return _with_shortest(exercise, replace(first, todos=_together(exercise, todos)))


def _limits() -> Limits:
    return Limits(SECONDS_EACH, action_seconds=ACTION_SECONDS)


# -- in the child ----------------------------------------------------------


def _look(exercise: Exercise, channel: Channel) -> JsonValue:
    """Load the class and make it once; which parts are open, or what else is wrong."""
    channel.begin("load")
    try:
        cls, notes = exercise.load(channel.begin)
    except TargetError as error:
        return {"target": error.to_json()}
    except SubjectLoadError as error:
        place = error.place.to_json() if error.place else None
        trouble = Trouble("load", error.message_id, dict(error.fields), place)
        return {"trouble": asdict(trouble), "notes": [n.to_json() for n in error.notes]}
    missing = [todo.method for todo in TODOS if not hasattr(cls, todo.method)]
    failed = _cannot_be_made(alone(cls, None), channel)
    return {
        "open": [*missing, *open_todos(cls)],
        "notes": [note.to_json() for note in notes],
        "trouble": None if failed is None else asdict(failed),
    }


def _cannot_be_made(cls: type[Any], channel: Channel) -> Trouble | None:
    for policy in POLICIES:
        try:
            made = ChapterSubject(from_class(cls), Config(policy), calls=channel).scheduler
            if not isinstance(made.queue, list):
                values = {"class": cls.__name__, "name": "queue", "got": repr(made.queue)[:200]}
                return Trouble("contract", "contract.list", values)
        except PolicyRefused as error:
            values = {"policy": policy, "text": str(error.args[1])}
            return Trouble("given", "learn.policy_refused", values)
        except SubjectError as error:
            return trouble_of(error)
    return None


def _job(exercise: Exercise, number: int) -> Callable[[Channel], JsonValue]:
    """Try one part on its prepared cases."""

    def job(channel: Channel) -> JsonValue:
        channel.begin("load")
        cls, _notes = exercise.load(channel.begin)
        channel.begin(f"TODO {number}")
        benches = Benches(cls, TODOS[number - 1], channel)
        try:
            _TRIES[number](benches)
        except Mistaken as mistaken:
            return mistaken.seen.to_json()
        except Exception as error:  # of the learner's, where only attributes are looked at
            return Seen(number, WRONG, benches.tried, trouble=_raised(error)).to_json()
        return Seen(number, RIGHT, benches.tried).to_json()

    return job


def _raised(error: Exception) -> Trouble:
    try:
        ChapterSubject.fail("attribute", error)
    except SubjectError as told:
        return trouble_of(told)


# -- in the parent ---------------------------------------------------------


def _after_look(exercise: Exercise, outcome: Outcome) -> Judged:
    blank = Judged(exercise.name, notes=_printed(outcome))
    if not isinstance(outcome, isolation.Finished):
        return replace(blank, trouble=trouble_with_child(_limits(), outcome))
    found: Any = outcome.value
    if "target" in found:
        raise TargetError.from_json(found["target"])
    notes = (*blank.notes, *((n["message_id"], n["fields"]) for n in found["notes"]))
    blank = replace(blank, notes=notes)
    if found["trouble"] is not None:
        return replace(blank, trouble=trouble_from(found["trouble"]))
    todos = (Seen(t.number, OPEN if t.method in found["open"] else WRONG) for t in TODOS)
    return replace(blank, todos=tuple(todos))


def _printed(outcome: Outcome) -> Notes:
    if not outcome.output.lines:
        return ()
    first = outcome.output.first[0] if outcome.output.first else ""
    return (("note.printed", {"lines": outcome.output.lines, "first": first}),)


def _seen(number: int, outcome: Outcome) -> Seen:
    if isinstance(outcome, isolation.Finished):
        value: Any = outcome.value
        return Seen.from_json(value)
    return Seen(number, WRONG, trouble=trouble_with_child(_limits(), outcome))


def most_requests(number: int) -> int:
    """How many requests the search for a shortest run goes up to, for a TODO."""
    return MANY_REQUESTS if number > 1 else FEW_REQUESTS


def _search(
    exercise: Exercise, todo: Todo | None, requests: int, policies: Sequence[str] = POLICIES
) -> tuple[RunResult, ...]:
    """Search the class with our parts for all others; with none of ours for None."""

    def load(before: Before) -> Loaded:
        cls, _notes = exercise.load(before)
        return Loaded(from_class(cls if todo is None else alone(cls, todo)))

    scope = load_scope(DEFAULT_SCOPE).resized(requests, None)
    plan = Plan(
        source=Source(exercise.name, load),
        policies=tuple(policies),
        claims=tuple(select(())),
        searches=(EXHAUSTIVE,),
        asked=Asked(scope),
        bounds=Bounds(),
        profile=PROFILES[QUICK],
        seed=0,
        seconds=SECONDS_EACH * len(policies),
        action_seconds=ACTION_SECONDS,
        explaining=True,
    )
    return tuple(run_plan(plan, lambda _progress: None))


def _searched(exercise: Exercise, number: int) -> Seen:
    """One part as the exhaustive search sees it."""
    todo = TODOS[number - 1]
    runs: tuple[RunResult, ...] = ()
    for policies in filter(None, (POLICIES[:1], POLICIES[1:])):  # many mistakes show at once
        runs += _search(exercise, todo, FEW_REQUESTS, policies)
        if not all(map(_is_clean, runs)):
            break
    tried = sum(run.transitions for run in runs)
    trouble = next((run.trouble for run in runs if run.trouble is not None), None)
    if trouble is not None:
        state = OPEN if trouble.kind == "open_todo" else WRONG
        return Seen(number, state, tried, trouble=trouble, runs=runs)
    verdict = worst([run.verdict for run in runs])
    state = {Verdict.VIOLATED: WRONG, Verdict.VACUOUS: WRONG}.get(verdict, UNKNOWN)
    return Seen(number, RIGHT if all(map(_is_clean, runs)) else state, tried, runs=runs)


def _is_clean(run: RunResult) -> bool:
    """Whether all of a run was searched, and nothing is broken."""
    return run.verdict in (Verdict.HOLDS_WITHIN_BOUNDS, Verdict.NO_VIOLATION_REDUCED)


def _together(exercise: Exercise, todos: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """Parts that cannot be used beside ours, while all of them together do what they should."""
    failing = [seen for seen in todos if seen.state == WRONG and seen.trouble is not None]
    others = [seen for seen in todos if seen.state != RIGHT and seen not in failing]
    if not failing or others:
        return todos
    runs = _search(exercise, None, FEW_REQUESTS)
    if not all(map(_is_clean, runs)):
        return todos
    return tuple(replace(s, state=TOGETHER, runs=runs) if s in failing else s for s in todos)


def _with_shortest(exercise: Exercise, judged: Judged) -> Judged:
    """The same with the shortest run that shows the first wrong part, if the search finds one."""
    wrong = next(iter(judged.in_state(WRONG)), None)
    if wrong is None or wrong.number in SEARCHED or wrong.trouble is not None:
        return judged
    todo = TODOS[wrong.number - 1]
    runs = _search(exercise, todo, FEW_REQUESTS)
    if not any(run.counterexamples for run in runs) and most_requests(todo.number) > FEW_REQUESTS:
        policy = POLICIES[:1] if wrong.case is None else (wrong.case.policy,)
        runs = _search(exercise, todo, MANY_REQUESTS, policy)
    told = replace(wrong, runs=tuple(runs))
    return replace(judged, todos=tuple(told if s is wrong else s for s in judged.todos))
