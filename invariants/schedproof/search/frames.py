"""The states along a trace, one frame for each action, each told as what it changed.

Rules.
1. The first frame is the state before any action. Every further one names only the values
   that differ from the frame before it, so that a long trace stays small.
2. What an action did is kept as lists: a step may serve several requests, or nobody.
3. Frames are read off the scheduler while a trace is written down, in the same process;
   nothing is run again to show them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Requests = Mapping[str, Mapping[str, Any]]
"""The fields of each request, by its id as text."""


@dataclass(frozen=True)
class Frame:
    """The state after an action, as a difference.

    `changed` holds by request the fields that are new or different, `removed` the fields that
    it no longer has, `gone` the requests that are no longer there. `served` and `preempted` are
    ids, `refused` tells that an enqueue was refused.
    """

    clock: int
    free: int
    changed: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    removed: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    gone: tuple[str, ...] = ()
    served: tuple[Any, ...] = ()
    preempted: tuple[Any, ...] = ()
    refused: bool = False

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Frame:
        """The frame that `asdict` wrote, also after a trip through JSON text."""
        made = dict(record)
        made["removed"] = {i: tuple(names) for i, names in record["removed"].items()}
        for name in ("gone", "served", "preempted"):
            made[name] = tuple(record[name])
        return cls(**made)


def frame_after(before: Requests, after: Requests, clock: int, free: int, **did: Any) -> Frame:
    """The frame that leads from one state of the requests to the next."""
    nothing: Mapping[str, Any] = {}
    changed: dict[str, dict[str, Any]] = {}
    removed: dict[str, tuple[str, ...]] = {}
    for request_id, fields in after.items():
        old = before.get(request_id, nothing)
        new = {name: value for name, value in fields.items() if _differs(old, name, value)}
        if new or request_id not in before:
            changed[request_id] = new
        lost = tuple(name for name in old if name not in fields)
        if lost:
            removed[request_id] = lost
    gone = tuple(request_id for request_id in before if request_id not in after)
    return Frame(clock, free, changed, removed, gone, **did)


def _differs(old: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether a field is another one now; True and 1 are not the same here."""
    return name not in old or old[name] != value or type(old[name]) is not type(value)


def states_of(frames: Iterable[Frame]) -> Iterator[dict[str, dict[str, Any]]]:
    """The requests after each frame in full, in the order of the ids' arrival."""
    now: dict[str, dict[str, Any]] = {}
    for frame in frames:
        now = {i: dict(fields) for i, fields in now.items() if i not in frame.gone}
        for request_id, fields in frame.changed.items():
            now.setdefault(request_id, {}).update(fields)
        for request_id, names in frame.removed.items():
            for name in names:
                now[request_id].pop(name, None)
        yield now
