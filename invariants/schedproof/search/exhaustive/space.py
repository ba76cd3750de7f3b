"""The states of a real scheduler, and going from one to the next.

Rules.
1. A state is a flat tuple: free blocks, clock, the scheduler's further attributes, and one
   row for each request. Rows are interned, so hashing and comparing states is cheap.
2. `InPlace` keeps one live scheduler and writes into it only what differs from the state
   that is wanted. That is sound for schedulers whose whole state lies in plain attributes,
   so it refuses all others (`NotFlat`), and a sample of states is reached once more from
   the start on a new scheduler and compared.
3. `ByReplay` makes a new scheduler for each action and takes the whole path again. It needs
   nothing but that the same actions do the same.
4. In both, `step` and `enqueue` are the scheduler's own, on every single edge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

from schedmodel.scheduler import DecodeSchedulerSim
from schedproof.subjects.actions import STEP, Action, Enqueue
from schedproof.subjects.chapter import ATOMS, ATTRIBUTES, ChapterSubject, read_ours
from schedproof.subjects.observation import Observation, Row

State = tuple[Any, ...]
Extras = tuple[tuple[str, Any], ...]
FREE, CLOCK, EXTRAS, ROWS = 0, 1, 2, 3
Path = Callable[[], Sequence[Action]]


class Stepped(NamedTuple):
    """What a step led to: the next state, the report's values (None if nobody was served),
    and whether the log was kept."""

    state: State
    event: tuple[Any, ...] | None
    kept: bool


class Enqueued(NamedTuple):
    """What an enqueue led to: the next state, and whether it was accepted."""

    state: State
    accepted: bool
    kept: bool


class NotFlat(Exception):
    """The scheduler keeps state that cannot be written back in place."""


class Space(Protocol):
    """One scheduler that can be put into any state it was seen in."""

    restore: str

    def initial(self) -> State:
        """The state at the start."""
        ...

    def enter(self, state: State, path: Path) -> None:
        """Bring the scheduler into a state; `path` gives the actions that lead there."""
        ...

    def step(self) -> Stepped:
        """Step from the state that was entered last; enter again afterwards."""
        ...

    def enqueue(self, action: Enqueue) -> Enqueued:
        """Enqueue in the state that was entered last; enter again afterwards."""
        ...

    def refused_and_unchanged(self, probes: Sequence[Enqueue]) -> bool:
        """Whether all of these are refused and leave the entered state as it was."""
        ...


def flat_state(seen: Observation, by_id: bool) -> State:
    """An observation as a state; `by_id` sorts the rows, which leaves the queue order out."""
    rows = sorted(seen.rows, key=_id) if by_id else seen.rows
    return (seen.free, seen.clock, seen.extras, *rows)


_id = attrgetter("request_id")


class ByReplay:
    """Any deterministic scheduler: each action on a new one, after the whole path."""

    restore = "replay"

    def __init__(self, subject: ChapterSubject, by_id: bool) -> None:
        self._first = subject
        self._by_id = by_id
        self._path: Sequence[Action] = ()
        self._entered: State = ()

    def initial(self) -> State:
        return flat_state(self._first.fresh().observe(), self._by_id)

    def enter(self, state: State, path: Path) -> None:
        self._path, self._entered = path(), state

    def _arrived(self) -> ChapterSubject:
        subject = self._first.fresh()
        subject.observe()
        for action in self._path:
            subject.do(action)
            subject.observe()  # rows carry what they need of the past from row to row
        return subject

    def step(self) -> Stepped:
        subject = self._arrived()
        answer = subject.do(STEP)
        return Stepped(flat_state(subject.observe(), self._by_id), answer.event, answer.log_kept)

    def enqueue(self, action: Enqueue) -> Enqueued:
        subject = self._arrived()
        logged = len(subject.scheduler.timeline)
        accepted = bool(subject.do(action).accepted)
        kept = len(subject.scheduler.timeline) == logged
        return Enqueued(flat_state(subject.observe(), self._by_id), accepted, kept)

    def refused_and_unchanged(self, probes: Sequence[Enqueue]) -> bool:
        subject = self._arrived()
        before = subject.observe()
        refused = all(subject.do(probe).accepted is False for probe in probes)
        return refused and subject.observe() == before


class InPlace:
    """A scheduler whose whole state lies in plain attributes, written back as needed."""

    restore = "in_place"

    def __init__(self, subject: ChapterSubject, by_id: bool) -> None:
        self._subject = subject.fresh()
        self._scheduler = self._subject.scheduler
        self._by_id = by_id
        self._ours = type(self._scheduler) is DecodeSchedulerSim
        self._objects: dict[int, Any] = {}
        self._holds: dict[int, Row] = {}
        self._next: dict[tuple[Row | int, tuple[Any, ...]], Row] = {}
        self._names: tuple[str, ...] = ()
        self._live_extras: Extras = ()
        self._known_extras: dict[Extras, Extras] = {}
        self._entered: State = ()
        self._calls = subject.calls
        self._extra_names = () if self._ours else self._find_extras()

    def _find_extras(self) -> tuple[str, ...]:
        stored = getattr(self._scheduler, "__dict__", None)
        if stored is None or not all(name in stored for name in ATTRIBUTES):
            raise NotFlat
        if type(stored["queue"]) is not list or type(stored["timeline"]) is not list:
            raise NotFlat
        return tuple(name for name in stored if name not in ATTRIBUTES)

    def initial(self) -> State:
        self._entered = self._read()
        return self._entered

    # -- going there ---------------------------------------------------------

    def enter(self, state: State, path: Path) -> None:
        holds, objects = self._holds, self._objects
        queue = []
        for row in state[ROWS:]:
            request_id = row.request_id
            request = objects[request_id]
            if holds[request_id] is not row:
                self._write(request, row)
                holds[request_id] = row
            queue.append(request)
        scheduler = self._scheduler
        scheduler.queue[:] = queue
        scheduler.timeline.clear()
        scheduler.clock = state[CLOCK]
        if self._ours:
            scheduler.ledger.free = state[FREE]
        else:
            scheduler.free_kv_blocks = state[FREE]
            if state[EXTRAS] is not self._live_extras:
                scheduler.__dict__.update(state[EXTRAS])
                self._live_extras = state[EXTRAS]
        self._entered = state

    def _write(self, request: Any, row: Row) -> None:
        if self._ours:
            request.load_row((*row.raw, row.arrival_index))
        else:
            names, values = row.raw
            request.__dict__.update(zip(names, values, strict=True))

    # -- acting --------------------------------------------------------------

    def step(self) -> Stepped:
        scheduler = self._scheduler
        self._calls.action += 1
        try:
            event = scheduler.step()
        except (Exception, SystemExit) as error:
            self._subject.fail("step", error)
        timeline = scheduler.timeline
        if event is None:
            return Stepped(self._read(), None, not timeline)
        kept = len(timeline) == 1 and timeline[0] == event
        return Stepped(self._read(), self._subject.event_values(event), kept)

    def enqueue(self, action: Enqueue) -> Enqueued:
        accepted = self._accepts(action)
        return Enqueued(self._read(), accepted, not self._scheduler.timeline)

    def _accepts(self, action: Enqueue) -> bool:
        self._calls.action += 1
        try:
            self._scheduler.enqueue(**action.arguments())
        except ValueError:
            return False
        except (Exception, SystemExit) as error:
            self._subject.fail("enqueue", error)
        return True

    def refused_and_unchanged(self, probes: Sequence[Enqueue]) -> bool:
        refused = not any(self._accepts(probe) for probe in probes)
        unchanged = self._read() == self._entered and not self._scheduler.timeline
        return refused and unchanged

    # -- seeing --------------------------------------------------------------

    def _read(self) -> State:
        """The live state; rows that did not change are the same objects."""
        scheduler, known = self._scheduler, self._holds
        rows = []
        for request in scheduler.queue:
            values = read_ours(request) if self._ours else self._values(request)
            request_id = request.request_id
            row = known.get(request_id) if self._objects.get(request_id) is request else None
            if row is None or (row.raw if self._ours else row.raw[1]) != values:
                row = self._changed(request, values, row, len(rows))
            rows.append(row)
        if len(rows) < len(self._entered) - ROWS:
            raise NotFlat  # somebody left the queue: only a replay keeps sight of them
        if self._by_id:
            rows.sort(key=_id)
        free = scheduler.ledger.free if self._ours else scheduler.free_kv_blocks
        return (free, scheduler.clock, self._extras(), *rows)

    def _values(self, request: Any) -> tuple[Any, ...]:
        try:
            stored = request.__dict__
        except AttributeError:
            raise NotFlat from None
        if len(stored) != len(self._names):
            self._learn_names(stored)
        return tuple(stored.values())

    def _learn_names(self, stored: dict[str, Any]) -> None:
        if self._names:
            raise NotFlat
        self._names = tuple(stored)

    def _changed(
        self, request: Any, values: tuple[Any, ...], previous: Row | None, position: int
    ) -> Row:
        request_id = request.request_id
        came_from: Row | int = previous or (position if self._subject.by_arrival else 0)
        try:
            row = self._next.get((came_from, values))
        except TypeError:
            raise NotFlat from None
        if row is None:
            row = self._intern(request, values, previous, position)
            self._next[came_from, values] = row
        self._objects[request_id] = request
        self._holds[request_id] = row
        return row

    def _intern(
        self, request: Any, values: tuple[Any, ...], previous: Row | None, position: int
    ) -> Row:
        if not self._ours:
            if not all(isinstance(value, ATOMS) for value in values):
                raise NotFlat
            if tuple(request.__dict__) != self._names:
                raise NotFlat
        raw = values if self._ours else (self._names, values)
        return self._subject.intern(request, raw, previous, position)

    def _extras(self) -> Extras:
        if self._ours:
            return ()
        stored = self._scheduler.__dict__
        if len(stored) != len(self._extra_names) + len(ATTRIBUTES):
            raise NotFlat
        now = tuple([(name, stored[name]) for name in self._extra_names])
        if now == self._live_extras:
            return self._live_extras
        if not all(isinstance(value, ATOMS) for _, value in now):
            raise NotFlat
        self._live_extras = self._known_extras.setdefault(now, now)
        return self._live_extras


