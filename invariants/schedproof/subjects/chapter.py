"""Schedulers shaped like the chapter's `DecodeSchedulerSim`, judged as they are.

Rules.
1. Any object with `enqueue`, `step`, `queue`, `timeline`, `clock`, `free_kv_blocks` and
   requests with the chapter's fields is a subject, without an adapter of its own. Ours is
   one of them.
2. Where a request stands is read from `status` (running: admitted before its prefill,
   else decode), what it holds from `admitted`: the two are stored apart in such a class,
   and a claim compares them.
3. All attributes are read, the chapter's and any other; those that are neither numbers nor
   names nor flags are frozen for comparison, and rule out restoring in place.
4. A request that leaves the queue when it is finished is still seen, from the object that
   was accepted; one that leaves it unfinished is lost.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from typing import Any, NoReturn, Protocol

from schedmodel.scheduler import DecodeSchedulerSim
from schedproof.subjects.actions import Action, Enqueue, Step
from schedproof.subjects.contract import (
    OF_BATCHES,
    OF_ENGINES,
    Config,
    Feature,
    PolicyRefused,
    SubjectError,
)
from schedproof.subjects.freezing import NOBODY, Names, can_be_hashed, frozen, stored
from schedproof.subjects.observation import (
    EVENT_KEYS,
    MISSING,
    Answer,
    Observation,
    Row,
    Span,
)
from schedproof.subjects.places import text_of
from schedproof.subjects.reading import (
    attribute,
    collection,
    elsewhere,
    has_advanced,
    names_and_values,
    names_of,
    new_row,
    number,
)

_NOT_OF_ALL = frozenset((Feature.STRICT_TYPES, Feature.ENDLESS_ARRIVALS))
CHAPTER_FEATURES = frozenset(Feature) - OF_BATCHES - OF_ENGINES - _NOT_OF_ALL
ATTRIBUTES = ("queue", "timeline", "clock", "free_kv_blocks")
_SERVED, _PREEMPTED = (EVENT_KEYS.index(n) for n in ("request_id", "preempted_request_id"))

MakeScheduler = Callable[[Config], Any]


class CallCounter(Protocol):
    """Somebody who watches that calls into the scheduler come back."""

    action: int


class CallCount:
    """A counter that nobody watches."""

    action = 0


def from_class(scheduler_class: Callable[..., Any]) -> MakeScheduler:
    """How a class with the chapter's constructor is set up from a config."""

    def make(config: Config) -> Any:
        return scheduler_class(
            policy=config.policy,
            free_kv_blocks=config.blocks,
            aging_interval=config.aging_interval,
        )

    return make


class ChapterSubject:
    """A chapter-shaped scheduler under test, in the state after its construction.

    Raises `PolicyRefused` where the constructor raises `ValueError`, and `SubjectError`
    where it fails otherwise or lacks what the contract needs.
    """

    def __init__(
        self,
        make: MakeScheduler,
        config: Config,
        strict_types: bool = False,
        calls: CallCounter | None = None,
    ) -> None:
        self.config = config
        self.calls = calls or CallCount()
        strict = frozenset({Feature.STRICT_TYPES}) if strict_types else frozenset[Feature]()
        self.features = CHAPTER_FEATURES | strict
        self._make = make
        self._interned: dict[tuple[Any, ...], Row] = {}
        self.by_arrival = config.policy == "fcfs"
        self.left_out = frozenset[str]()
        self._start(self._construct())

    def _construct(self) -> Any:
        self.calls.action += 1
        try:
            return self._make(self.config)
        except ValueError as error:
            raise PolicyRefused(self.config.policy, text_of(error)) from error
        except (Exception, SystemExit) as error:
            self.fail("constructor", error)

    def _start(self, scheduler: Any) -> None:
        for name in (*ATTRIBUTES, "enqueue", "step"):
            if not hasattr(scheduler, name):
                kind = type(scheduler).__name__
                raise SubjectError("contract", "contract.attribute", {"class": kind, "name": name})
        for name in ("queue", "timeline"):
            collection(scheduler, name)
        self.scheduler = scheduler
        self._rows: tuple[Row, ...] = ()
        self._shown: Names = NOBODY
        self._accepted: dict[int, Any] = {}
        self._arrived: dict[Any, int] = {}
        self._last_event: Any = None

    def fresh(self) -> ChapterSubject:
        """Another subject of the same make, at its start; it shares the table of rows."""
        twin = copy.copy(self)
        twin._start(twin._construct())
        return twin

    def leave_out(self, names: frozenset[str]) -> None:
        """Let nobody see these attributes any more, of requests or of the scheduler."""
        self.left_out |= names

    def fork(self) -> ChapterSubject:
        """An independent subject in the same state, by deep copy."""
        twin = copy.copy(self)
        try:
            twin.scheduler, twin._accepted = copy.deepcopy((self.scheduler, self._accepted))
            twin._arrived = dict(self._arrived)
        except Exception as error:
            self.fail("deepcopy", error)
        return twin

    def parts(self) -> tuple[Any, ...]:
        """All that changes, to be copied as a whole; `put_back` takes a copy."""
        return self.scheduler, self._accepted, self._arrived, self._last_event

    def put_back(self, parts: tuple[Any, ...], rows: tuple[Row, ...]) -> None:
        """Go to where a copy of the parts was made, and these rows were seen."""
        self.scheduler, self._accepted, self._arrived, self._last_event = parts
        self._rows = rows

    def add_wait(self, request_id: int, steps: int) -> None:
        """Let the request have waited `steps` longer."""
        for request in self.scheduler.queue:
            if request.request_id == request_id:
                request.wait_steps += steps

    # -- doing -------------------------------------------------------------

    def do(self, action: Action) -> Answer:
        """Carry out one action. A `ValueError` from enqueue is a refusal, all else an error."""
        if isinstance(action, Step):
            return self._step()
        if isinstance(action, Enqueue):
            return self._enqueue(action)
        values = {"action": type(action).__name__.lower()}
        raise SubjectError("contract", "contract.no_such_verb", values)

    def _logged(self) -> int:
        return len(collection(self.scheduler, "timeline"))

    def _enqueue(self, action: Enqueue) -> Answer:
        logged = self._logged()
        self.calls.action += 1
        refusal = None
        try:
            self.scheduler.enqueue(**action.arguments())
        except ValueError as error:
            refusal = text_of(error)
        except (Exception, SystemExit) as error:
            self.fail("enqueue", error)
        if refusal is None and isinstance(action.request_id, Hashable):
            self._arrived.setdefault(action.request_id, len(self._arrived))
        kept = self._logged() == logged
        return Answer(accepted=refusal is None, refusal=refusal, log_kept=kept)

    def _step(self) -> Answer:
        logged = self._logged()
        self.calls.action += 1
        try:
            event = self.scheduler.step()
        except (Exception, SystemExit) as error:
            self.fail("step", error)
        timeline = collection(self.scheduler, "timeline")
        if event is None:
            return Answer(log_kept=len(timeline) == logged)
        values = self.event_values(event)
        kept = len(timeline) == logged + 1 and timeline[-1] == event
        if logged and self._last_event is not None:
            kept = kept and len(timeline) > 1 and timeline[-2] == self._last_event
        self._last_event = dict(event)
        victim = values[_PREEMPTED]
        span = Span(values[_SERVED], str(event.get("phase")))
        return Answer(
            batch=(span,),
            preempted=() if victim is None or victim is MISSING else (victim,),
            event=values,
            log_kept=kept,
        )

    @staticmethod
    def event_values(event: Any) -> tuple[Any, ...]:
        """A report's values in the order of `EVENT_KEYS`; `SubjectError` if it is no report."""
        kind = event.__class__
        if kind is dict and tuple(event) == EVENT_KEYS:
            values: tuple[Any, ...] = tuple(event.values())
            if can_be_hashed(values):
                return values
        if not issubclass(kind, dict) or "request_id" not in event:
            raise SubjectError("contract", "contract.event", {"got": repr(event)[:200]})
        return tuple(frozen(event.get(name, MISSING)) for name in EVENT_KEYS)

    @staticmethod
    def fail(call: str, error: BaseException) -> NoReturn:
        """Tell an exception of the scheduler's apart: out of memory, exited, or just raised."""
        if isinstance(error, SubjectError):
            raise error
        kind = "raised"
        if isinstance(error, MemoryError):
            kind = "memory"
        elif isinstance(error, SystemExit):
            kind = "exited"
        values = {"call": call, "type": type(error).__name__, "text": text_of(error)}
        raise SubjectError(kind, f"error.{kind}", values, cause=error) from error

    # -- seeing ------------------------------------------------------------

    def observe(self) -> Observation:
        """The state now. Rows that did not change are the same objects as before."""
        scheduler = self.scheduler
        self._rows = self._read_rows(list(collection(scheduler, "queue")))
        return Observation(
            number(scheduler, "clock", attribute(scheduler, "clock")),
            self.config.blocks,
            number(scheduler, "free_kv_blocks", attribute(scheduler, "free_kv_blocks")),
            self._rows,
            self._logged(),
            self._extras(),
        )

    def _read_rows(self, queue: list[Any]) -> tuple[Row, ...]:
        before = {row.request_id: row for row in self._rows}
        rows: list[Row] = []
        requests = queue + self._gone(queue)
        self._shown = names_of(self.scheduler, requests)
        for request in requests:
            names, raw = names_and_values(request, self._shown, self.left_out)
            request_id = attribute(request, "request_id")
            previous = before.get(request_id)
            same = previous is not None and previous.raw == raw and previous.names == names
            if previous is not None and same and not elsewhere(names):
                rows.append(previous)
            else:
                place = self._arrived.get(request_id, len(rows))
                rows.append(self.intern(request, names, raw, previous, place))
        return tuple(rows)

    def _gone(self, queue: list[Any]) -> list[Any]:
        """Finished requests that their scheduler no longer keeps in its queue."""
        present = {id(request) for request in queue}
        for request in queue:
            self._accepted.setdefault(attribute(request, "request_id"), request)
        return [
            request
            for request in self._accepted.values()
            if id(request) not in present and attribute(request, "status") == "finished"
        ]

    def intern(
        self,
        request: Any,
        names: tuple[str, ...],
        raw: tuple[Any, ...],
        previous: Row | None,
        position: int,
    ) -> Row:
        """The row of a request with these values; `previous` is its row one action ago."""
        advanced = has_advanced(request, previous)
        key = (names, raw, advanced, position if self.by_arrival else 0)
        if elsewhere(names):
            key += tuple(frozen(attribute(request, name)) for name in elsewhere(names))
        row = self._interned.get(key)
        if row is None:
            newcomer = previous is None
            row = new_row(request, names, raw, advanced, position, newcomer)
            self._interned[key] = row
        return row

    def _extras(self) -> tuple[tuple[str, Any], ...]:
        if type(self.scheduler) is DecodeSchedulerSim:
            return ()
        return tuple(
            (name, frozen(value, self._shown))
            for name, value in stored(self.scheduler).items()
            if name not in ATTRIBUTES and name not in self.left_out
        )
