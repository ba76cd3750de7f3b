"""Which lines of the user's code wrote the guilty fields.

Rules.
1. The trace is taken once more on a new scheduler. During its last action Python reports each
   line of the user's files; whenever a guilty field has another value than before, the line
   that ran last wrote it. So it does not matter how it was written.
2. A write that a library does for the user is told by the user's line that called it.
3. Reading the fields is guarded: a property that fails, or a request that is gone, is a
   value like any other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from schedproof.claims.run import StartSubject
from schedproof.search.evidence import Write
from schedproof.search.replay import plain
from schedproof.subjects.actions import Action
from schedproof.subjects.contract import Config, SubjectError
from schedproof.subjects.places import Spot, is_written, place_at

GONE = "<gone>"
WRITES_MAX = 20
Guilty = tuple[int | None, str]
STORED_AS = {"held_blocks": ("admitted", "required_blocks"), "state": ("status", "phase")}
"""Fields that are worked out from others."""
_LOOKED_AT = frozenset({"line", "return", "exception"})


@dataclass
class _Watcher:
    """Looks at the guilty fields of a scheduler after each line."""

    scheduler: Any
    guilty: tuple[Guilty, ...]
    writes: list[Write] = field(default_factory=list[Write])
    _at: tuple[FrameType, int] | None = None

    def __post_init__(self) -> None:
        self.first = self.values = self._read()

    def _read(self) -> tuple[Any, ...]:
        return tuple(self._value(*one) for one in self.guilty)

    def _value(self, request_id: int | None, name: str) -> Any:
        try:
            holder = self.scheduler if request_id is None else self._request(request_id)
            return GONE if holder is None else plain(getattr(holder, name, GONE))
        except Exception:
            return GONE

    def _request(self, request_id: int) -> Any:
        queue: Iterable[Any] = self.scheduler.queue
        return next((each for each in queue if each.request_id == request_id), None)

    def trace(self, frame: FrameType, event: str, _argument: Any) -> Any:
        """What Python calls; it goes on with frames of the user's files only."""
        if event == "call":
            self._look()
            if not _is_users(frame):
                return None
            self._at = (frame, frame.f_lineno)
            return self.trace
        if event in _LOOKED_AT:
            self._look()
            self._at = (frame, frame.f_lineno)
            if event == "return":
                caller = frame.f_back
                users = caller is not None and _is_users(caller)
                self._at = (caller, caller.f_lineno) if users and caller else None
        return self.trace

    def _look(self) -> None:
        values = self._read()
        if values == self.values:
            return
        if self._at is None or len(self.writes) >= WRITES_MAX:
            self.values = values  # somebody else wrote it
            return
        frame, line = self._at
        place = place_at(frame.f_code.co_filename, line, frame.f_code.co_name).to_json()
        for (request_id, name), old, new in zip(self.guilty, self.values, values, strict=True):
            if old != new:
                self.writes.append(Write(request_id, name, old, new, place))
        self.values = values

    def finish(self) -> None:
        """Look once more, after the last line."""
        self._look()


def _is_users(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__")
    code = frame.f_code
    return is_written(Spot(code.co_filename, 0, code.co_name, str(module or ""), code))


def who_wrote(
    start: StartSubject, config: Config, actions: Sequence[Action], guilty: Iterable[Guilty]
) -> tuple[tuple[Write, ...], tuple[Guilty, ...]]:
    """The writes of the last action, and the fields whose value it left as it was."""
    fields = _as_stored(guilty)
    if not fields:
        return (), ()
    subject = start(config)
    subject.observe()
    for action in actions[:-1]:
        subject.do(action)
        subject.observe()
    scheduler = getattr(subject, "scheduler", None)
    if scheduler is None:
        return (), ()
    watcher = _Watcher(scheduler, fields)
    try:
        _watched(watcher, lambda: subject.do(actions[-1]))
    except SubjectError:
        return (), ()
    watcher.finish()
    pairs = zip(watcher.guilty, watcher.first, watcher.values, strict=True)
    written = {(write.request, write.name) for write in watcher.writes}
    unwritten = [one for one, old, new in pairs if old == new != GONE and one not in written]
    return tuple(watcher.writes), tuple(unwritten)


def _as_stored(guilty: Iterable[Guilty]) -> tuple[Guilty, ...]:
    """The attributes behind the guilty fields, each once."""
    known = dict.fromkeys(
        (request_id, stored)
        for request_id, name in guilty
        for stored in STORED_AS.get(name, (name,))
    )
    return tuple(known)


def _watched(watcher: _Watcher, call: Callable[[], Any]) -> None:
    before = sys.gettrace()
    sys.settrace(watcher.trace)
    try:
        call()
    finally:
        sys.settrace(before)
