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
from typing import Any, Protocol, Union

from schedmodel.scheduler import DecodeSchedulerSim
from schedproof.subjects.actions import STEP, Action, Enqueue
from schedproof.subjects.chapter import (
    ATOMS,
    ATTRIBUTES,
    OUR_NAMES,
    ChapterSubject,
    read_ours,
)
from schedproof.subjects.observation import Observation, Row

State = tuple[Any, ...]
Extras = tuple[tuple[str, Any], ...]
FREE, CLOCK, EXTRAS, ROWS = 0, 1, 2, 3
PathTo = Callable[[int], Sequence[Action]]


Stepped = tuple[State, Union[tuple[Any, ...], None], bool]
"""What a step led to: the next state, the report's values (None if nobody was served), and
whether the log was kept."""

Enqueued = tuple[State, bool, bool]
"""What an enqueue led to: the next state, whether it was accepted, whether the log was kept."""


class NotFlat(Exception):
    """The scheduler keeps state that cannot be written back in place."""


class Space(Protocol):
    """One scheduler that can be put into any state it was seen in."""

    restore: str

    def initial(self) -> State:
        """The state at the start."""
        ...

    def enter(self, state: State, index: int, path_to: PathTo) -> None:
        """Bring the scheduler into state number `index`; `path_to` gives the way there."""
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

    def initial(self) -> State:
        return flat_state(self._first.fresh().observe(), self._by_id)

    def enter(self, state: State, index: int, path_to: PathTo) -> None:
        self._path = path_to(index)

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
        return flat_state(subject.observe(), self._by_id), answer.event, answer.log_kept

    def enqueue(self, action: Enqueue) -> Enqueued:
        subject = self._arrived()
        logged = len(subject.scheduler.timeline)
        accepted = bool(subject.do(action).accepted)
        kept = len(subject.scheduler.timeline) == logged
        return flat_state(subject.observe(), self._by_id), accepted, kept

    def refused_and_unchanged(self, probes: Sequence[Enqueue]) -> bool:
        subject = self._arrived()
        before = subject.observe()
        refused = all(subject.do(probe).accepted is False for probe in probes)
        return refused and subject.observe() == before


class InPlace:
    """A scheduler whose whole state lies in plain attributes, written back as needed.

    `_rows[i]` is what `_requests[i]`, the i-th request of the live queue, holds right now.
    """

    restore = "in_place"

    def __init__(self, subject: ChapterSubject, by_id: bool) -> None:
        self._subject = subject.fresh()
        self._scheduler = self._subject.scheduler
        self._by_id = by_id
        self._calls = subject.calls
        self._requests: list[Any] = []
        self._rows: list[Row] = []
        self._pool: dict[int, tuple[Any, Row]] = {}
        self._next: dict[tuple[Row | int, tuple[Any, ...]], Row] = {}
        self._known_extras: dict[tuple[Any, ...], Extras] = {}
        self._ours = type(self._scheduler) is DecodeSchedulerSim
        self._memory: _Ours | _Theirs = (_Ours if self._ours else _Theirs)(self._scheduler)
        self._extra_values: tuple[Any, ...] = ()
        self._extras: Extras = ()
        self._entered: State = ()

    def initial(self) -> State:
        self._entered = self._read()
        return self._entered

    # -- going there ---------------------------------------------------------

    def enter(self, state: State, index: int, path_to: PathTo) -> None:
        live, requests = self._rows, self._requests
        target = state[ROWS:]
        if len(target) != len(live):
            self._gather(target)
        else:
            for place, row in enumerate(target):
                if row is not live[place]:
                    if row.request_id != live[place].request_id:
                        self._gather(target)
                        break
                    self._memory.write(requests[place], row)
                    live[place] = row
        scheduler = self._scheduler
        scheduler.timeline.clear()
        scheduler.clock = state[CLOCK]
        self._memory.set_free(state[FREE])
        if state[EXTRAS] is not self._extras:
            scheduler.__dict__.update(state[EXTRAS])
            self._extras = state[EXTRAS]
            self._extra_values = tuple(value for _, value in self._extras)
        self._entered = state

    def _gather(self, target: Sequence[Row]) -> None:
        """Make the queue hold exactly these requests, in this order."""
        pool = self._pool
        for request, row in zip(self._requests, self._rows, strict=True):
            pool[row.request_id] = (request, row)
        requests = []
        for row in target:
            request, holds = pool[row.request_id]
            if holds is not row:
                self._memory.write(request, row)
            requests.append(request)
        self._scheduler.queue[:] = requests
        self._requests, self._rows = requests, list(target)

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
            return self._read(), None, not timeline
        kept = len(timeline) == 1 and (timeline[0] is event or timeline[0] == event)
        return self._read(), self._subject.event_values(event), kept

    def enqueue(self, action: Enqueue) -> Enqueued:
        accepted = self._accepts(action)
        return self._read(), accepted, not self._scheduler.timeline

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
        accepted = [probe for probe in probes if self._accepts(probe)]
        unchanged = self._read() == self._entered and not self._scheduler.timeline
        return unchanged and not accepted

    # -- seeing --------------------------------------------------------------

    def _read(self) -> State:
        """The live state; rows that did not change are the same objects."""
        scheduler, values_of = self._scheduler, self._memory.values_of
        requests, rows = self._requests, self._rows
        queue = scheduler.queue
        known = len(requests)
        if len(queue) < known:
            raise NotFlat  # somebody left the queue: only a replay keeps sight of them
        for place, request in enumerate(queue):
            values = values_of(request)
            if place < known and request is requests[place]:
                if values != rows[place].raw:
                    rows[place] = self._changed(request, values, rows[place], place)
            else:
                self._meet(request, values, place)
        free, clock = self._memory.free(), scheduler.clock
        if self._by_id and len(queue) > known:
            return (free, clock, self._read_extras(), *sorted(rows, key=_id))
        return (free, clock, self._read_extras(), *rows)

    def _meet(self, request: Any, values: tuple[Any, ...], place: int) -> None:
        """A request that was not at this place: a newcomer, or the queue was reordered."""
        before = self._entered[ROWS:]
        previous = next((r for r in before if r.request_id == request.request_id), None)
        if previous is not None:
            raise NotFlat
        self._requests.append(request)
        self._rows.append(self._changed(request, values, None, place))

    def _changed(
        self, request: Any, values: tuple[Any, ...], previous: Row | None, place: int
    ) -> Row:
        came_from: Row | int = previous or (place if self._subject.by_arrival else 0)
        try:
            row = self._next.get((came_from, values))
        except TypeError:
            raise NotFlat from None
        if row is None:
            names = self._memory.checked_names(request, values)
            row = self._subject.intern(request, names, values, previous, place)
            self._next[came_from, values] = row
        return row

    def _read_extras(self) -> Extras:
        values = self._memory.extra_values()
        if values != self._extra_values:
            if not all(isinstance(value, ATOMS) for value in values):
                raise NotFlat
            named = tuple(zip(self._memory.extra_names, values, strict=True))
            self._extras = self._known_extras.setdefault(values, named)
            self._extra_values = values
        return self._extras


class _Ours:
    """How our own scheduler's state is read and written."""

    extra_names: tuple[str, ...] = ()

    def __init__(self, scheduler: DecodeSchedulerSim) -> None:
        self._ledger = scheduler.ledger
        self.values_of = read_ours

    def checked_names(self, request: Any, values: tuple[Any, ...]) -> tuple[str, ...]:
        return OUR_NAMES

    def write(self, request: Any, row: Row) -> None:
        request.load_row((*row.raw, row.arrival_index))

    def free(self) -> int:
        return self._ledger.free

    def set_free(self, free: int) -> None:
        self._ledger.free = free

    def extra_values(self) -> tuple[Any, ...]:
        return ()


class _Theirs:
    """How a stranger's is: all that its objects' dictionaries hold, if those are atoms."""

    def __init__(self, scheduler: Any) -> None:
        stored = getattr(scheduler, "__dict__", None)
        if stored is None or not all(name in stored for name in ATTRIBUTES):
            raise NotFlat
        if type(stored["queue"]) is not list or type(stored["timeline"]) is not list:
            raise NotFlat
        self._stored: dict[str, Any] = stored
        self._scheduler = scheduler
        self._names: tuple[str, ...] = ()
        self.extra_names = tuple(name for name in stored if name not in ATTRIBUTES)

    def values_of(self, request: Any) -> tuple[Any, ...]:
        try:
            return tuple(request.__dict__.values())
        except AttributeError:
            raise NotFlat from None

    def checked_names(self, request: Any, values: tuple[Any, ...]) -> tuple[str, ...]:
        """The names of the values, which must be atoms and named as all others are."""
        names = tuple(request.__dict__)
        self._names = self._names or names
        if names != self._names or not all(isinstance(value, ATOMS) for value in values):
            raise NotFlat
        return names

    def write(self, request: Any, row: Row) -> None:
        request.__dict__.update(zip(row.names, row.raw, strict=True))

    def free(self) -> int:
        free: int = self._scheduler.free_kv_blocks
        return free

    def set_free(self, free: int) -> None:
        self._scheduler.free_kv_blocks = free

    def extra_values(self) -> tuple[Any, ...]:
        stored = self._stored
        if len(stored) != len(self.extra_names) + len(ATTRIBUTES):
            raise NotFlat
        return tuple([stored[name] for name in self.extra_names])
