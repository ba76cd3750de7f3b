"""A live scheduler that is put into any state by writing only what differs.

Rules.
1. Everything is read after every action: each attribute of each request in the queue, the
   pool, the clock, the log, and what else the scheduler stores. What is written back is
   exactly what was read, so entering a state and reading it gives that state again.
2. This holds for schedulers whose whole state lies in plain attributes. All others are
   refused with `NotFlat`: those that store anything but numbers, texts and truth values,
   take requests out of the queue, or reorder it.
3. Rows are looked up by the row before them and the values read, so that a row is made
   once and equal rows are the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

from schedmodel.scheduler import DecodeSchedulerSim
from schedproof.search.exhaustive.situations import Led
from schedproof.search.exhaustive.space import (
    AS_EXPECTED,
    CLOCK,
    EXTRAS,
    FREE,
    ROWS,
    Enqueued,
    Extras,
    NotFlat,
    PathTo,
    State,
    Stepped,
    by_request_id,
)
from schedproof.subjects.actions import Enqueue
from schedproof.subjects.chapter import ATTRIBUTES, ChapterSubject
from schedproof.subjects.freezing import ATOMS, has_slots
from schedproof.subjects.observation import Row
from schedproof.subjects.reading import OUR_NAMES, read_ours

Values = tuple[Any, ...]


class InPlace:
    """One live scheduler for all states; `_rows[i]` is what `_requests[i]` holds right now."""

    restore = "in_place"

    def __init__(self, subject: ChapterSubject, by_id: bool) -> None:
        self._subject = subject.fresh()
        self._scheduler = scheduler = self._subject.scheduler
        self._by_id = by_id
        self._calls = subject.calls
        self._requests: list[Any] = []
        self._rows: list[Row] = []
        self._pool: dict[int, tuple[Any, Row]] = {}
        self._next: dict[tuple[Row | int, Values], Row] = {}
        ours = type(scheduler) is DecodeSchedulerSim
        self.memory = memory = OurMemory(scheduler) if ours else TheirMemory(scheduler)
        self._values_of: Callable[[Any], Values] = memory.values_of
        self._write: Callable[[Any, Row], None] = memory.write
        self._free, self._set_free = memory.free, memory.set_free
        self._has_extras = not ours
        self._known_extras: dict[Values, Extras] = {}
        self._extra_values: Values = ()
        self._extras: Extras = ()
        self._entered: State = ()

    def initial(self) -> State:
        """The state at the start."""
        self._entered = self._read()
        return self._entered

    # -- going there ---------------------------------------------------------

    def enter(self, state: State, index: int, path_to: PathTo) -> None:
        """Bring the scheduler into that state."""
        live = self._rows
        target = state[ROWS:]
        if len(live) == len(target) + 1:
            self._drop_newcomer()
        if len(live) != len(target):
            self._gather(target)
        else:
            for place, row in enumerate(target):
                if row is not live[place]:
                    if row.request_id != live[place].request_id:
                        self._gather(target)
                        break
                    self._write(self._requests[place], row)
                    live[place] = row
        scheduler = self._scheduler
        _empty(scheduler.timeline)
        scheduler.clock = state[CLOCK]
        self._set_free(state[FREE])
        if state[EXTRAS] is not self._extras:
            self._write_extras(state[EXTRAS])
        self._entered = state

    def _drop_newcomer(self) -> None:
        """Undo an enqueue: whoever came last leaves the queue, and is kept for later."""
        request, row = self._requests.pop(), self._rows.pop()
        self._pool[row.request_id] = (request, row)
        self._scheduler.queue.pop()

    def _gather(self, target: Sequence[Row]) -> None:
        """Make the queue hold exactly these requests, in this order."""
        pool = self._pool
        for request, row in zip(self._requests, self._rows, strict=True):
            pool[row.request_id] = (request, row)
        requests: list[Any] = []
        for row in target:
            request, holds = pool[row.request_id]
            if holds is not row:
                self._write(request, row)
            requests.append(request)
        self._scheduler.queue[:] = requests
        self._requests[:] = requests
        self._rows[:] = target

    def _write_extras(self, extras: Extras) -> None:
        self._scheduler.__dict__.update(extras)
        self._extras = extras
        self._extra_values = tuple(value for _, value in extras)

    # -- acting --------------------------------------------------------------

    def step(self, expected: Led | None = None, places: Sequence[int] = ()) -> Stepped:
        """Step from the state that was entered last; enter again afterwards.

        Where everything that is read is as expected, the rows need not be looked up.
        """
        scheduler = self._scheduler
        self._calls.action += 1
        try:
            event = scheduler.step()
        except NotFlat:
            raise
        except (Exception, SystemExit) as error:
            self._subject.fail("step", error)
        if expected is not None and event == expected.event and self._logged_only(event):
            after = self._read_as(expected, places)
            if after is not None:
                return after, AS_EXPECTED, True
        timeline = scheduler.timeline
        if event is None:
            return self._read(), None, not _length(timeline)
        logged = _first(timeline, 0) if _length(timeline) == 1 else None
        kept = logged is not None and bool(logged is event or logged == event)
        return self._read(), self._subject.event_values(event), kept

    def _logged_only(self, event: Any) -> bool:
        """Whether the log is this report alone; empty if there is none."""
        timeline = self._scheduler.timeline
        if event is None:
            return not _length(timeline)
        return _length(timeline) == 1 and _first(timeline, 0) is event

    def enqueue(self, action: Enqueue) -> Enqueued:
        """Enqueue in the state that was entered last; enter again afterwards."""
        accepted = self._accepts(action)
        if not accepted or not self._is_as_entered(newcomers=1):
            return self._read(), accepted, not _length(self._scheduler.timeline), None
        after = self._met(self._scheduler.queue[-1:])
        return after, True, True, self._rows[-1]

    def _accepts(self, action: Enqueue) -> bool:
        self._calls.action += 1
        try:
            self._scheduler.enqueue(**action.arguments())
        except ValueError:
            return False
        except NotFlat:
            raise
        except (Exception, SystemExit) as error:
            self._subject.fail("enqueue", error)
        return True

    def refused_and_unchanged(self, probes: Sequence[Enqueue]) -> bool:
        """Whether all of these are refused and leave the entered state as it was."""
        enqueue, calls, refused = self._scheduler.enqueue, self._calls, 0
        for probe in probes:
            calls.action += 1
            try:
                enqueue(**probe.__dict__)
            except ValueError:
                refused += 1
            except NotFlat:
                raise
            except (Exception, SystemExit) as error:
                self._subject.fail("enqueue", error)
        if refused == len(probes) and self._is_as_entered():
            return True
        self._read()  # whoever came in is met
        return False

    # -- seeing --------------------------------------------------------------

    def _is_as_entered(self, newcomers: int = 0) -> bool:
        """Whether all is as it was when the state was entered, but for so many who came."""
        scheduler, requests, entered = self._scheduler, self._requests, self._entered
        queue = scheduler.queue
        return (
            len(queue) == len(requests) + newcomers
            and all(map(is_, requests, queue))
            and list(map(self._values_of, requests)) == [row.raw for row in self._rows]
            and self._free() == entered[FREE]
            and scheduler.clock == entered[CLOCK]
            and (not self._has_extras or self._read_extras() is entered[EXTRAS])
            and not _length(scheduler.timeline)
        )

    def _read_as(self, expected: Led, places: Sequence[int]) -> State | None:
        """The live state, if it is what is expected from the entered one; else None."""
        scheduler, requests, rows = self._scheduler, self._requests, self._rows.copy()
        for place, row in zip(places, expected.rows):  # noqa: B905  equal lengths, hot path
            rows[place] = row
        clock = self._entered[CLOCK] + expected.ticks
        queue = scheduler.queue
        if (
            len(queue) == len(requests)
            and all(map(is_, requests, queue))
            and list(map(self._values_of, requests)) == [row.raw for row in rows]
            and self._free() == expected.free
            and scheduler.clock == clock
            and (not self._has_extras or self._read_extras() is expected.extras)
        ):
            self._rows = rows
            return (expected.free, clock, expected.extras, *rows)
        return None

    def _read(self) -> State:
        """The live state; rows that did not change are the same objects."""
        queue, requests, rows = self._scheduler.queue, self._requests, self._rows
        values_of, known = self._values_of, len(requests)
        if len(queue) < known or not all(map(is_, queue, requests)):
            raise NotFlat  # somebody left the queue or it was reordered: a replay keeps sight
        for place, request in enumerate(requests):
            values = values_of(request)
            if values != rows[place].raw:
                rows[place] = self._changed(request, values, rows[place], place)
        if len(queue) > known:
            return self._met(queue[known:])
        return (self._free(), self._scheduler.clock, self._read_extras(), *rows)

    def _met(self, newcomers: Sequence[Any]) -> State:
        """The live state with requests that were not there before."""
        for request in newcomers:
            place = len(self._rows)
            self._requests.append(request)
            self._rows.append(self._changed(request, self._values_of(request), None, place))
        rows = sorted(self._rows, key=by_request_id) if self._by_id else self._rows
        return (self._free(), self._scheduler.clock, self._read_extras(), *rows)

    def _changed(self, request: Any, values: Values, previous: Row | None, place: int) -> Row:
        came_from: Row | int = previous or (place if self._subject.by_arrival else 0)
        try:
            row = self._next.get((came_from, values))
        except TypeError:
            raise NotFlat from None
        if row is None:
            names = self.memory.checked_names(request, values)
            row = self._subject.intern(request, names, values, previous, place)
            self._next[came_from, values] = row
        return row

    def _read_extras(self) -> Extras:
        values = self.memory.extra_values()
        if values != self._extra_values:
            if not all(isinstance(value, ATOMS) for value in values):
                raise NotFlat
            named = tuple(zip(self.memory.extra_names, values, strict=True))
            self._extras = self._known_extras.setdefault(values, named)
            self._extra_values = values
        return self._extras


class OurMemory:
    """How our own scheduler's state is read and written."""

    extra_names: tuple[str, ...] = ()

    def __init__(self, scheduler: DecodeSchedulerSim) -> None:
        self._ledger = scheduler.ledger
        self.values_of: Callable[[Any], Values] = read_ours

    def checked_names(self, request: Any, values: Values) -> tuple[str, ...]:
        """The names of a request's values."""
        return OUR_NAMES

    def write(self, request: Any, row: Row) -> None:
        """Let the request be what the row says."""
        request.load_row((*row.raw, row.arrival_index))

    def free(self) -> int:
        """The free blocks now."""
        return self._ledger.free

    def set_free(self, free: int) -> None:
        """Let so many blocks be free."""
        self._ledger.free = free

    def extra_values(self) -> Values:
        """Nothing: the model stores no more."""
        return ()


def _refuse_to_be_read(_log: Any, *_: Any, **__: Any) -> Any:
    raise NotFlat


_READS = (
    "__len__ __getitem__ __iter__ __contains__ __reversed__ __add__ __eq__ __ne__ __lt__ __gt__ "
    "__le__ __ge__ __delitem__ __setitem__ index count copy pop"
).split()
UnreadLog: Any = type("UnreadLog", (list,), dict.fromkeys(_READS, _refuse_to_be_read))
"""A log that its scheduler only appends to; a scheduler that reads it cannot be entered.

The log is no part of a state, so it is emptied, and what is read from it would be wrong.
"""

_list: Any = list  # a list's own methods, which a log that refuses to be read still has
_length: Callable[[Any], int] = _list.__len__
_first: Callable[[Any, int], Any] = _list.__getitem__
_empty: Callable[[Any], None] = _list.clear


class TheirMemory:
    """How a stranger's is: all that its objects' dictionaries hold, if those are atoms."""

    def __init__(self, scheduler: Any) -> None:
        stored = getattr(scheduler, "__dict__", None)
        if stored is None or not all(name in stored for name in ATTRIBUTES):
            raise NotFlat
        if has_slots(scheduler):
            raise NotFlat
        if type(stored["queue"]) is not list or type(stored["timeline"]) is not list:
            raise NotFlat
        self._stored: dict[str, Any] = stored
        self._scheduler = scheduler
        scheduler.timeline = UnreadLog(stored["timeline"])
        self._names: tuple[str, ...] = ()
        self._named: dict[Row, dict[str, Any]] = {}
        self.extra_names = tuple(name for name in stored if name not in ATTRIBUTES)

    def values_of(self, request: Any) -> Values:
        """All that the request's dictionary holds."""
        try:
            return tuple(request.__dict__.values())
        except AttributeError:
            raise NotFlat from None

    def checked_names(self, request: Any, values: Values) -> tuple[str, ...]:
        """The names of the values, which must be atoms and named as all others are."""
        names = tuple(request.__dict__)
        self._names = self._names or names
        flat = names == self._names and not has_slots(request)
        if not flat or not all(isinstance(value, ATOMS) for value in values):
            raise NotFlat
        return names

    def write(self, request: Any, row: Row) -> None:
        """Let the request be what the row says."""
        named = self._named.get(row)
        if named is None:
            named = self._named[row] = dict(zip(row.names, row.raw, strict=True))
        request.__dict__.update(named)

    def free(self) -> int:
        """The free blocks now."""
        free: int = self._scheduler.free_kv_blocks
        return free

    def set_free(self, free: int) -> None:
        """Let so many blocks be free."""
        self._scheduler.free_kv_blocks = free

    def extra_values(self) -> Values:
        """The scheduler's further attributes."""
        stored = self._stored
        if len(stored) != len(self.extra_names) + len(ATTRIBUTES):
            raise NotFlat
        if not self.extra_names:
            return ()
        try:
            return tuple([stored[name] for name in self.extra_names])
        except KeyError:
            raise NotFlat from None
