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
from operator import attrgetter
from typing import Any

from schedmodel.lifecycle import State
from schedmodel.request import FIELDS, RequestState, state_of
from schedmodel.scheduler import DecodeSchedulerSim
from schedproof.subjects.actions import Action, Enqueue, Step
from schedproof.subjects.contract import Config, Feature, PolicyRefused, SubjectError
from schedproof.subjects.observation import (
    EVENT_KEYS,
    MISSING,
    Answer,
    Observation,
    Row,
    Span,
    make_row,
)

CHAPTER_FEATURES = frozenset(Feature) - {Feature.STRICT_TYPES}
ATTRIBUTES = ("queue", "timeline", "clock", "free_kv_blocks")
_EXTRA_FREE = ("arrival_index", "finish_reason", "_phase", "_state")
_ATOMS = (int, str, float, bool, type(None), bytes)

MakeScheduler = Callable[[Config], Any]


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

    def __init__(self, make: MakeScheduler, config: Config, strict_types: bool = False) -> None:
        self.config = config
        self.features = CHAPTER_FEATURES | ({Feature.STRICT_TYPES} if strict_types else set())
        self._make = make
        self._interned: dict[tuple[Any, ...], Row] = {}
        self._by_arrival = config.policy == "fcfs"
        self._start(self._construct())

    def _construct(self) -> Any:
        try:
            return self._make(self.config)
        except ValueError as error:
            raise PolicyRefused(self.config.policy, str(error)) from error
        except Exception as error:
            raise raised("constructor", error) from error

    def _start(self, scheduler: Any) -> None:
        for name in (*ATTRIBUTES, "enqueue", "step"):
            if not hasattr(scheduler, name):
                kind = type(scheduler).__name__
                raise SubjectError("contract", "contract.attribute", {"class": kind, "name": name})
        self.scheduler = scheduler
        self._rows: tuple[Row, ...] = ()
        self._accepted: dict[int, Any] = {}
        self._last_event: Any = None

    def fresh(self) -> ChapterSubject:
        """Another subject of the same make, at its start; it shares the table of rows."""
        twin = copy.copy(self)
        twin._start(twin._construct())
        return twin

    def fork(self) -> ChapterSubject:
        """An independent subject in the same state, by deep copy."""
        twin = copy.copy(self)
        twin.scheduler, twin._accepted = copy.deepcopy((self.scheduler, self._accepted))
        return twin

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

    def _enqueue(self, action: Enqueue) -> Answer:
        try:
            self.scheduler.enqueue(**action.arguments())
        except ValueError as error:
            return Answer(accepted=False, refusal=str(error))
        except Exception as error:
            raise raised("enqueue", error) from error
        return Answer(accepted=True)

    def _step(self) -> Answer:
        logged = len(self.scheduler.timeline)
        try:
            event = self.scheduler.step()
        except Exception as error:
            raise raised("step", error) from error
        timeline = self.scheduler.timeline
        if event is None:
            return Answer(log_kept=len(timeline) == logged)
        if not isinstance(event, dict) or "request_id" not in event:
            raise SubjectError("contract", "contract.event", {"got": repr(event)[:200]})
        values = tuple(_frozen(event.get(name, MISSING)) for name in EVENT_KEYS)
        kept = len(timeline) == logged + 1 and timeline[-1] == event
        if logged and self._last_event is not None:
            kept = kept and len(timeline) > 1 and timeline[-2] == self._last_event
        self._last_event = dict(event)
        victim = event.get("preempted_request_id")
        span = Span(event["request_id"], str(event.get("phase")))
        return Answer(
            batch=(span,),
            preempted=() if victim is None else (victim,),
            event=values,
            log_kept=kept,
        )

    # -- seeing ------------------------------------------------------------

    def observe(self) -> Observation:
        """The state now. Rows that did not change are the same objects as before."""
        scheduler = self.scheduler
        self._rows = self._read_rows(list(scheduler.queue))
        return Observation(
            scheduler.clock,
            self.config.blocks,
            scheduler.free_kv_blocks,
            self._rows,
            len(scheduler.timeline),
            self._extras(),
        )

    def _read_rows(self, queue: list[Any]) -> tuple[Row, ...]:
        before = {row.request_id: row for row in self._rows}
        rows = []
        for request in queue + self._gone(queue):
            raw = _raw(request)
            previous = before.get(_attribute(request, "request_id"))
            if previous is not None and previous.raw == raw:
                rows.append(previous)
            else:
                rows.append(self._intern(request, raw, previous, len(rows)))
        return tuple(rows)

    def _gone(self, queue: list[Any]) -> list[Any]:
        """Finished requests that their scheduler no longer keeps in its queue."""
        present = {id(request) for request in queue}
        for request in queue:
            self._accepted.setdefault(_attribute(request, "request_id"), request)
        return [
            request
            for request in self._accepted.values()
            if id(request) not in present and _attribute(request, "status") == "finished"
        ]

    def _intern(
        self, request: Any, raw: tuple[Any, ...], previous: Row | None, position: int
    ) -> Row:
        advanced = _advanced(request, previous)
        key = (raw, advanced, position if self._by_arrival else 0)
        row = self._interned.get(key)
        if row is None:
            row = self._interned[key] = _row(request, raw, advanced, position)
        return row

    def _extras(self) -> tuple[tuple[str, Any], ...]:
        if type(self.scheduler) is DecodeSchedulerSim:
            return ()
        return tuple(
            (name, _frozen(value))
            for name, value in _stored(self.scheduler).items()
            if name not in ATTRIBUTES
        )


def raised(call: str, error: Exception) -> SubjectError:
    """The scheduler raised in one of its calls."""
    values = {"call": call, "type": type(error).__name__, "text": str(error)}
    return SubjectError("raised", "error.raised", values, cause=error)


def _stored(thing: Any) -> dict[str, Any]:
    """The attributes that an object stores, by name."""
    stored = getattr(thing, "__dict__", None)
    if stored is not None:
        return dict(stored)
    names = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    return {name: getattr(thing, name) for name in names if hasattr(thing, name)}


_read_ours = attrgetter(*RequestState.__slots__)


def _raw(request: Any) -> tuple[Any, ...]:
    if type(request) is RequestState:
        return _read_ours(request)
    stored = _stored(request)
    values = tuple(stored.values())
    return (tuple(stored), *(values if _is_flat(values) else map(_frozen, values)))


def _is_flat(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, _ATOMS) for value in values)


def _frozen(value: Any) -> Any:
    """A hashable stand-in that is equal exactly when the values look equal."""
    if isinstance(value, _ATOMS):
        return value
    if isinstance(value, dict):
        return ("dict", *((_frozen(k), _frozen(v)) for k, v in value.items()))
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *map(_frozen, value))
    if isinstance(value, (set, frozenset)):
        return ("set", frozenset(map(_frozen, value)))
    return value if isinstance(value, Hashable) else repr(value)


def _attribute(request: Any, name: str) -> Any:
    try:
        return getattr(request, name)
    except AttributeError:
        kind = type(request).__name__
        values = {"class": kind, "name": name}
        raise SubjectError("contract", "contract.attribute", values) from None


def _advanced(request: Any, previous: Row | None) -> bool:
    """Whether the request was served since its last preemption; True before the first."""
    if previous is None:
        return True
    if request.preemptions > previous.preemptions:
        return False
    progress = (request.phase, request.generated_len)
    return previous.advanced or progress != (previous.phase, previous.generated_len)


def _row(request: Any, raw: tuple[Any, ...], advanced: bool, position: int) -> Row:
    fields = {name: _frozen(_attribute(request, name)) for name in FIELDS}
    known = {*FIELDS, *_EXTRA_FREE}
    extra = {n: _frozen(v) for n, v in _stored(request).items() if n not in known}
    return make_row(
        raw,
        state=_state(request, fields),
        held_blocks=fields["required_blocks"] if fields.pop("admitted") else 0,
        arrival_index=position,
        finish_reason=getattr(request, "finish_reason", None),
        advanced=advanced,
        extra=tuple(extra.items()),
        **fields,
    )


def _state(request: Any, fields: dict[str, Any]) -> State | None:
    if type(request) is RequestState:
        return request.state
    try:
        return state_of(fields["status"], fields["phase"])
    except ValueError:
        return None
