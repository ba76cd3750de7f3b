"""Doing something with a trace's scheduler in a child process, with limits.

Rules.
1. The scheduler is loaded in the child, as for a search; the parent runs none of its code.
2. A file that is named by a relative path and is not there is looked for beside the folder
   `.schedproof` that the trace lies in.
3. What a child cannot answer is trouble with the scheduler, told like that of a search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schedproof.claims.claim import Claim
from schedproof.claims.own import claims_of
from schedproof.search import isolation
from schedproof.search.exhaustive.exhaustive_search import StartChapter
from schedproof.search.isolation import Channel, JsonValue, Limits, Outcome
from schedproof.search.policy_runs import open_todos_of, starter, trouble_with_child
from schedproof.search.results import Trouble
from schedproof.subjects.load_errors import SubjectLoadError, TargetError
from schedproof.subjects.loading import load_module
from schedproof.subjects.sources import Source
from schedproof.traces.store import FOLDER
from schedproof.traces.trace import Trace
from schedproof.zoo.loading import source_named

LIMITS = Limits(seconds=30.0, memory_mib=1024, action_seconds=4.0)


@dataclass(frozen=True)
class Ready:
    """What a job in a child is given: the scheduler, its fingerprint, claims that are not ours."""

    start: StartChapter
    fingerprint: str | None
    own: tuple[Claim, ...]
    channel: Channel


Work = Callable[[Ready], Any]
"""What is done in the child; the answer must be fit for JSON."""


@dataclass(frozen=True)
class Task:
    """One piece of work with one scheduler."""

    source: Source
    work: Work
    claims_from: str | None = None


@dataclass(frozen=True)
class Answer:
    """What came of a task: its value, or the trouble with the scheduler."""

    value: Any = None
    trouble: Trouble | None = None


def source_of_trace(trace: Trace, folder: Path | None = None) -> Source:
    """The scheduler that a trace is about. Raises `UnknownFault` and `TargetError`."""
    target, factory = (_found(text, folder) for text in (trace.subject, trace.factory))
    return source_named(target, factory, trace.cell)


def _found(text: str | None, folder: Path | None) -> str | None:
    """The target with its file beside the folder of traces, where it is only there."""
    if text is None or folder is None or folder.name != FOLDER:
        return text
    path, colon, name = text.rpartition(":")
    beside = folder.parent / (path or name)
    if path and not Path(path).is_file() and not Path(text).is_file() and beside.is_file():
        return f"{beside}{colon}{name}"
    return text


def do_all(tasks: Sequence[Task], limits: Limits = LIMITS) -> list[Answer]:
    """All tasks, several at a time. Raises `TargetError` where a target names nothing."""
    outcomes = isolation.run_parallel([_job(task) for task in tasks], limits)
    return [_answer(outcome, limits) for outcome in outcomes]


def do(task: Task, limits: Limits = LIMITS) -> Answer:
    """One task."""
    return do_all([task], limits)[0]


def _job(task: Task) -> Callable[[Channel], JsonValue]:
    def job(channel: Channel) -> JsonValue:
        try:
            channel.begin("load")
            loaded = task.source.load(channel.begin)
            own = _own_claims(task, channel)
        except TargetError as error:
            return {"target": error.to_json()}
        except SubjectLoadError as error:
            place = error.place.to_json() if error.place else None
            return {"trouble": _plain(Trouble("load", error.message_id, dict(error.fields), place))}
        unfinished = open_todos_of(loaded)
        if unfinished is not None:
            return {"trouble": _plain(unfinished)}
        channel.begin("replay")
        ready = Ready(starter(loaded, channel), loaded.fingerprint, own, channel)
        return {"value": task.work(ready)}

    return job


def _own_claims(task: Task, channel: Channel) -> tuple[Claim, ...]:
    if task.claims_from is None:
        return ()
    module = load_module(task.claims_from, before=channel.begin)
    return tuple(own.claim for own in claims_of(vars(module)))


def _plain(trouble: Trouble) -> dict[str, Any]:
    return {**vars(trouble), "actions": list(trouble.actions)}


def _answer(outcome: Outcome, limits: Limits) -> Answer:
    if isinstance(outcome, isolation.Interrupted):
        raise KeyboardInterrupt
    found: Any = outcome.value if isinstance(outcome, isolation.Finished) else outcome.known
    if found is None:
        return Answer(trouble=trouble_with_child(limits, outcome))
    if "target" in found:
        raise TargetError.from_json(found["target"])
    if "trouble" in found:
        trouble = Trouble(**found["trouble"])
        return Answer(trouble=replace(trouble, actions=tuple(trouble.actions)))
    return Answer(value=found["value"])
