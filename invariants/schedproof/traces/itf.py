"""Traces in the Informal Trace Format (ITF), which tools around TLA+ and Quint read and write.

Rules.
1. State 0 is the start and state n what action n led to. The action stands in
   `mbt::actionTaken`, its arguments in `mbt::nondetPicks`; the other variables are what can be
   seen of the scheduler, where that is known.
2. There are no nulls and no floats: what may be missing is a set of no or one value, a whole
   number is written as a bigint, and what ITF has no form for is a text marked as that.
3. What the format has no place for (scheduler, configuration, claim, which arguments were
   given at all) stands in `#meta`, so that what was written is read back as the same trace.
4. A trace of another tool needs the two variables of rule 1 only. Values may be options as
   Quint writes them (`Some`, `None`); arguments that are not there are the default ones.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, cast

from schedmodel import __version__
from schedproof.search.frames import Frame, states_of
from schedproof.subjects.actions import ENQUEUE_ARGUMENTS, Enqueue, from_json, to_json
from schedproof.subjects.contract import Config
from schedproof.subjects.observation import STORED_FIELDS
from schedproof.subjects.sources import BUILT_IN
from schedproof.traces.trace import SCHEMA, SCHEMA_VERSION, Provenance, Trace, TraceError

ACTION, PICKS, OURS = "mbt::actionTaken", "mbt::nondetPicks", "schedproof"
START, GIVEN = "init", "given"
SUFFIX = ".itf.json"

_HEAD = {
    "format": "ITF",
    "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
}
_SEEN = ("clock", "free", "requests", "served", "preempted", "refused")
_MAY_MISS = ("deadline_step", "state")
_ARGUMENTS = {"enqueue": ENQUEUE_ARGUMENTS, "deliver": ("index",), "abort": ("request_id",)}
_USUAL = {n: v for n, v in Enqueue(None, 1).arguments().items() if n != "request_id"}
_HAVE_A_PLACE = ("schema", "schema_version", "id", "actions")

Json = dict[str, Any]


def to_itf(trace: Trace, frames: Sequence[Frame] = ()) -> Json:
    """The document. `frames` are the states along the trace, if they are known."""
    complete = len(frames) == trace.length + 1
    actions: list[Json | None] = [None, *trace.actions]
    names = tuple(dict.fromkeys(n for a in trace.actions for n in a.get("args", {})))
    states = [_taken(action, names) for action in actions]
    if complete:
        seen = zip(states, frames, states_of(frames), strict=True)
        states = [{**state, **_seen(frame, requests)} for state, frame, requests in seen]
    return {
        "#meta": _meta(trace),
        "params": [],
        "vars": [ACTION, PICKS, *(_SEEN if complete else ())],
        "states": [
            {"#meta": {"index": index, GIVEN: [*(action or {}).get("args", {})]}, **state}
            for index, (action, state) in enumerate(zip(actions, states, strict=True))
        ],
    }


def to_itf_text(trace: Trace, frames: Sequence[Frame] = ()) -> str:
    """The document as it is written into a file."""
    return json.dumps(to_itf(trace, frames), indent=2, ensure_ascii=False) + "\n"


def empty_itf_text(subject: str) -> str:
    """A document for where nothing is broken: the start, and no action."""
    meta = {**_HEAD, "source": subject, "status": "ok"}
    states = [{"#meta": {"index": 0}, **_taken(None, ())}]
    record = {"#meta": meta, "params": [], "vars": [ACTION, PICKS], "states": states}
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def trace_in(text: str, path: str = "") -> Trace:
    """The trace in a text, whichever of the two forms it is in. Raises `TraceError`."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None  # what is wrong is told by the form that is usual
    return from_itf(record, path) if is_itf(record) else Trace.from_text(text, path)


def is_itf(record: Any) -> bool:
    """Whether a JSON document is meant to be in this format."""
    return isinstance(record, dict) and "states" in record and "schema" not in record


def from_itf(record: Any, path: str = "") -> Trace:
    """The trace of a document, ours or of another tool. Raises `TraceError`."""
    states: list[Any] | None = record.get("states") if is_itf(record) else None
    if type(states) is not list or not states:
        raise _unusable(path, "states", ValueError("a list of states is needed"))
    meta = record.get("#meta")
    ours = cast("Json", meta).get(OURS) if isinstance(meta, dict) else None
    actions: list[Json] = []
    for index, state in enumerate(states[1:], start=1):
        try:
            actions.append(_action(state))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _unusable(path, f"states/{index}", error) from None
    return _trace(ours, tuple(actions), path)


def _unusable(path: str, place: str, error: Exception) -> TraceError:
    text = f"no {error}" if isinstance(error, KeyError) else str(error)
    return TraceError("trace.itf", path=path, place=place, error=text)


def _meta(trace: Trace) -> Json:
    record = trace.to_json()
    ours = {name: value for name, value in record.items() if name not in _HAVE_A_PLACE}
    return {
        **_HEAD,
        "description": f"{trace.id}, written by schedproof {__version__}",
        "source": trace.subject,
        "status": "violation" if trace.claim else "error",
        OURS: _without_nulls(ours),
    }


def _without_nulls(value: Any) -> Any:
    """The value without what is None, and with other numbers than whole ones as texts."""
    if isinstance(value, dict):
        parts = cast("Json", value).items()
        return {name: _without_nulls(part) for name, part in parts if part is not None}
    if isinstance(value, (list, tuple)):
        return [_without_nulls(part) for part in cast("list[Any]", value)]
    return repr(value) if isinstance(value, float) else value


def _taken(action: Json | None, names: Sequence[str]) -> Json:
    """The two variables that say what was done; `names` are those of all arguments."""
    args: Json = {} if action is None else action.get("args", {})
    picks = {name: _option(args.get(name)) for name in names}
    return {ACTION: START if action is None else action["op"], PICKS: picks}


def _seen(frame: Frame, requests: dict[str, Json]) -> Json:
    pairs = [[_value(_id(i)), _request(fields)] for i, fields in requests.items()]
    return {
        "clock": _value(frame.clock),
        "free": _value(frame.free),
        "requests": {"#map": pairs},
        "served": {"#set": [_value(i) for i in dict.fromkeys(frame.served)]},
        "preempted": {"#set": [_value(i) for i in dict.fromkeys(frame.preempted)]},
        "refused": frame.refused,
    }


def _id(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdecimal() else text


def _request(fields: Json) -> Json:
    """A request as a record of the same shape for all; what only some have is a map."""
    there = [n for n in ("state", *STORED_FIELDS) if n in _MAY_MISS or fields.get(n) is not None]
    known = {n: (_option if n in _MAY_MISS else _value)(fields.get(n)) for n in there}
    extra = [[n, _option(v)] for n, v in fields.items() if n not in ("state", *STORED_FIELDS)]
    return {**known, "extra": {"#map": extra}}


def _option(value: Any) -> Json:
    return {"#set": [] if value is None else [_value(value)]}


def _value(value: Any) -> Any:
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return {"#bigint": str(value)}
    if isinstance(value, (list, tuple)):
        return [_value(part) for part in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {"#map": [[n, _option(v)] for n, v in cast("Json", value).items()]}
    return {"#unserializable": repr(value)}


# -- reading back ----------------------------------------------------------


def _action(state: Any) -> Json:
    """The action that led to a state, checked."""
    op, picks, meta = state[ACTION], state.get(PICKS, {}), state.get("#meta", {})
    if GIVEN not in meta:
        return _of_another_tool(op, picks)
    args = {name: _read(picks[name]) for name in meta[GIVEN]}
    record: Json = {"op": op, "args": args} if args else {"op": op}
    from_json(record)
    return record


def _of_another_tool(op: Any, picks: Json) -> Json:
    """An action whose arguments are the usual ones where nothing was picked."""
    args: Json = dict(_USUAL) if op == "enqueue" else {}
    for name in _ARGUMENTS.get(op, ()):
        if name in picks and _read(picks[name]) is not None:
            args[name] = _read(picks[name])
        elif name not in args:
            raise ValueError(f"{PICKS} must name {name}")
    return to_json(from_json({"op": op, "args": args}))


def _read(value: Any) -> Any:
    if type(value) in (list,):  # narrowed by no type checker
        return [_read(part) for part in value]
    if not isinstance(value, dict):
        return value
    parts = cast("Json", value)
    if "#bigint" in parts:
        return int(parts["#bigint"])
    if "#set" in parts:
        values = parts["#set"]
        if len(values) > 1:
            raise ValueError(f"a set of no or one value is needed, got {len(values)}")
        return _read(values[0]) if values else None
    if "tag" in parts:
        return None if parts["tag"] == "None" else _read(parts["value"])
    if "#unserializable" in parts:
        return _number(parts["#unserializable"])
    raise ValueError(f"a number, a text, a truth value or an option is needed, got {value}")


def _number(text: str) -> float:
    number = float(text)
    return math.nan if math.isnan(number) else number


def _trace(ours: Json | None, actions: tuple[Json, ...], path: str) -> Trace:
    """The trace, with what `#meta` says, or as one of another tool."""
    unknown = Provenance("", "itf")
    blank = Trace(BUILT_IN, None, Config(), actions, "violated", None, (), False, unknown)
    if ours is None:
        return blank
    if type(ours) is not dict:
        raise _unusable(path, f"#meta/{OURS}", ValueError("an object is needed"))
    # What is not there was nothing: nulls are not written.
    nothing = {name: None for name, value in blank.to_json().items() if value is None}
    head = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION}
    return Trace.from_json({**nothing, **ours, **head, "actions": list(actions)}, path)
