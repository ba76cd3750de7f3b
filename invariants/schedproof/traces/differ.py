"""Two schedulers side by side: the same actions, and where they first do something else.

Rules.
1. After each action the answers are compared, and then the requests, the pool and the clock,
   field by field. Attributes that only one of the two has are not.
2. Both are explained at the step where they part: what the rules say, and what each did.
3. Each scheduler runs in a child process of its own; the parent compares what they report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from schedproof.claims.run import StartSubject
from schedproof.search.replay import plain
from schedproof.subjects.actions import Action, Step
from schedproof.subjects.contract import Config, Feature, PolicyRefused, SubjectError
from schedproof.subjects.observation import STORED_FIELDS, Answer, Observation
from schedproof.traces.why import why_of


@dataclass(frozen=True)
class Parting:
    """Where two schedulers part: at action `action`, counted from 1.

    `what` is refusal, served, preempted, tokens, report or state; `request` and `name` say which
    field, None and the name of the report's or the scheduler's own. `one` and `other` are the
    values.
    """

    action: int
    what: str
    request: int | None
    name: str
    one: Any
    other: Any


def record(start: StartSubject, config: Config, actions: Sequence[Action]) -> dict[str, Any]:
    """All that one scheduler does on these actions, as JSON has it."""
    try:
        subject = start(config)
    except PolicyRefused as error:
        return {"refused": str(error.args[1]), "steps": []}
    ruled = Feature.REFERENCE_ORDER in subject.features
    seen = subject.observe()
    steps: list[dict[str, Any]] = []
    for action in actions:
        before = seen
        try:
            answer = subject.do(action)
            seen = subject.observe()
        except SubjectError as error:
            kind = str(error.values.get("type", error.kind))
            steps.append({"raised": kind, "why": _why(before, config, action, ruled)})
            break
        steps.append({**_step(before, answer, seen), "why": _why(before, config, action, ruled)})
    return {"refused": None, "steps": steps}


def _why(before: Observation, config: Config, action: Action, ruled: bool) -> dict[str, Any] | None:
    why = why_of(before, config) if ruled and isinstance(action, Step) else None
    return None if why is None else asdict(why)


def _step(before: Observation, answer: Answer, after: Observation) -> dict[str, Any]:
    requests = {
        str(row.request_id): {name: plain(getattr(row, name)) for name in STORED_FIELDS}
        for row in after.rows
        if not row.finished
    }
    held_before = {row.request_id for row in before.rows if row.admitted}
    gone = [r.request_id for r in after.rows if r.request_id in held_before and _gave_way(r)]
    return {
        "raised": None,
        "refused": answer.accepted is False,
        "served": [plain(span.request_id) for span in answer.batch],
        "preempted": gone,
        "tokens": [
            f"r{plain(span.request_id)} {span.start}–{span.end - 1}"
            for span in answer.batch
            if span.start is not None and span.end is not None
        ],
        "report": None if answer.event is None else [plain(value) for value in answer.event],
        "free": after.free,
        "clock": after.clock,
        "requests": requests,
        "finished": sorted((plain(r.request_id) for r in after.rows if r.finished), key=str),
    }


def _gave_way(row: Any) -> bool:
    return not row.admitted and not row.finished


def parting(one: dict[str, Any], other: dict[str, Any], keys: Sequence[str]) -> Parting | None:
    """The first difference between two records; None if there is none.

    `keys` are the names of a report's values, in their order.
    """
    pairs = zip(one["steps"], other["steps"], strict=False)
    for number, (mine, theirs) in enumerate(pairs, start=1):
        found = _first(number, mine, theirs, keys)
        if found is not None:
            return found
    return None


def _first(
    number: int, one: dict[str, Any], other: dict[str, Any], keys: Sequence[str]
) -> Parting | None:
    if one["raised"] != other["raised"] or one["raised"]:
        return Parting(number, "raised", None, "", one["raised"], other["raised"])
    for what in ("refused", "served", "preempted", "tokens"):
        if one[what] != other[what]:
            return Parting(number, what, None, what, one[what], other[what])
    return _in_state(number, one, other) or _in_report(number, one, other, keys)


def _in_state(number: int, one: dict[str, Any], other: dict[str, Any]) -> Parting | None:
    """The first field of the state that differs."""
    for name in ("free", "clock", "finished"):
        if one[name] != other[name]:
            return Parting(number, "state", None, name, one[name], other[name])
    for request in dict.fromkeys((*one["requests"], *other["requests"])):
        mine, theirs = (each["requests"].get(request, {}) for each in (one, other))
        for name in dict.fromkeys((*mine, *theirs)):
            if mine.get(name) != theirs.get(name):
                return Parting(
                    number, "state", _id(request), name, mine.get(name), theirs.get(name)
                )
    return None


def _id(text: str) -> Any:
    """An id that was a key of JSON: a number again where it is one."""
    return int(text) if text.removeprefix("-").isdecimal() else text


def _in_report(
    number: int, one: dict[str, Any], other: dict[str, Any], keys: Sequence[str]
) -> Parting | None:
    """The first value of the reports that differs."""
    nothing = [None] * len(keys)
    reports = zip(keys, one["report"] or nothing, other["report"] or nothing, strict=False)
    for name, mine, their in reports:
        if mine != their:
            return Parting(number, "report", None, name, mine, their)
    return None
