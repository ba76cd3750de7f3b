"""Schedulers of batches as subjects: what is asked of them, and what is seen of them.

Rules.
1. A scheduler of batches has `requests` by id, the queues `waiting` and `running`, a `pool`
   with `free_ids` and `references`, and the verbs `enqueue`, `step` and `abort`. Ours is one,
   and so is each of ours with a fault in it.
2. A row shows what is stored, whatever it is called. What such a scheduler has not (waits,
   deadlines, cache hits) is None. Arrival is counted here and not read, so that nobody is
   believed to have come before others because a scheduler says so.
3. What a request needs is what it takes at its longest; it has advanced since its last
   preemption when it has emitted a token: a repeated prefill alone is no progress.
4. The whole state is plain values in plain attributes, so that it can be taken down as a
   `Mark` and gone back to. A scheduler that stores anything else is refused: `NotPlain`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from schedmodel.lifecycle import State
from schedmodel.request import STATUS_OF
from schedproof.subjects.actions import Abort, Action, Enqueue, Step
from schedproof.subjects.chapter import CallCount, CallCounter, ChapterSubject, MakeScheduler
from schedproof.subjects.contract import (
    OF_BATCHES,
    Config,
    Feature,
    Limits,
    PolicyRefused,
    SubjectError,
)
from schedproof.subjects.freezing import ATOMS
from schedproof.subjects.observation import Answer, Observation, Paged, Row, Span, make_row
from schedproof.subjects.places import text_of

BATCH_FEATURES = OF_BATCHES | {
    Feature.LEDGER,
    Feature.LIFECYCLE,
    Feature.REFUSAL,
    Feature.ONE_UNIT,
    Feature.DRAIN_BOUND,
}
_OWN = ("_state", "_phase", "block_ids", "computed_len", "finish_reason")
_ATOMS = frozenset(ATOMS) | {State}
Values = tuple[Any, ...]
LIST = "[]"
"""Stands at the head of a tuple that was a list."""


class NotPlain(Exception):
    """The scheduler stores something that cannot be written back."""


class Mark(NamedTuple):
    """The whole state of a scheduler: its requests as rows, and all other attributes."""

    rows: tuple[Row, ...]
    pool: Values
    rest: Values


def from_batch_class(scheduler_class: Callable[..., Any]) -> MakeScheduler:
    """How a scheduler of batches is set up from a config."""

    def make(config: Config) -> Any:
        limits = config.limits or Limits()
        return scheduler_class(policy=config.policy, num_blocks=config.blocks, **limits._asdict())

    return make


class BatchSubject:
    """A scheduler of batches under test, in the state after its construction.

    Raises `PolicyRefused` where the constructor raises `ValueError`.
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
        self.features = BATCH_FEATURES | strict
        self._make = make
        self._limits = config.limits or Limits()
        self._interned: dict[Values, Row] = {}
        self._start()

    def _start(self) -> None:
        self.calls.action += 1
        try:
            self.scheduler = self._make(self.config)
        except ValueError as error:
            raise PolicyRefused(self.config.policy, str(error)) from error
        except (Exception, SystemExit) as error:
            ChapterSubject.fail("constructor", error)
        self._rows: dict[Any, Row] = {}
        self._objects: dict[Any, Any] = {}
        self._arrived: dict[Any, int] = {}

    def fresh(self) -> BatchSubject:
        """Another subject of the same make, at its start; it shares the table of rows."""
        twin = copy.copy(self)
        twin._start()
        return twin

    def fork(self) -> BatchSubject:
        """An independent subject in the same state."""
        twin = self.fresh()
        twin.reset(self.mark())
        return twin

    def add_wait(self, request_id: int, steps: int) -> None:
        """Nothing: no waits are counted here."""

    # -- doing -------------------------------------------------------------

    def do(self, action: Action) -> Answer:
        """Carry out one action. A `ValueError` from enqueue is a refusal, all else an error."""
        self.calls.action += 1
        kind = type(action).__name__.lower()
        try:
            if isinstance(action, Step):
                return _answer_of(self.scheduler.step())
            if isinstance(action, Enqueue):
                kind = "enqueue"
                return self._enqueue(action)
            if isinstance(action, Abort):
                self.scheduler.abort(action.request_id)
                return Answer()
        except (Exception, SystemExit) as error:
            ChapterSubject.fail(kind, error)
        raise SubjectError("contract", "contract.no_such_verb", {"action": kind})

    def _enqueue(self, action: Enqueue) -> Answer:
        try:
            rejection = self.scheduler.enqueue(
                request_id=action.request_id,
                prompt_len=action.prompt_len,
                max_new_tokens=action.max_new_tokens,
                priority=action.priority,
            )
        except ValueError as error:
            return Answer(accepted=False, refusal=text_of(error))
        self._arrived.setdefault(action.request_id, len(self._arrived))
        return Answer(accepted=True, rejected=None if rejection is None else tuple(rejection))

    # -- seeing ------------------------------------------------------------

    def observe(self) -> Observation:
        """The state now. Rows that did not change are the same objects as before."""
        return self._seen(self._read_rows())

    def _seen(self, rows: tuple[Row, ...]) -> Observation:
        scheduler = self.scheduler
        pool = scheduler.pool
        free_ids = tuple(pool.free_ids)
        paged = Paged(
            *self._limits,
            tuple(pool.references),
            free_ids,
            tuple([request.request_id for request in scheduler.running]),
            tuple([request.request_id for request in scheduler.waiting]),
        )
        return Observation(0, self.config.blocks, len(free_ids), rows, 0, (), (), paged)

    def _read_rows(self) -> tuple[Row, ...]:
        known, rows = self._rows, dict[Any, Row]()
        self._objects.update(self.scheduler.requests)
        for request_id, request in self.scheduler.requests.items():
            stored = request.__dict__
            raw = tuple([(LIST, *v) if v.__class__ is list else v for v in stored.values()])
            row = known.get(request_id)
            if row is None or row.raw != raw or len(row.names) != len(stored):
                row = self._intern(request, tuple(stored), raw, row)
            rows[request_id] = row
        self._rows = rows
        return tuple(rows.values())

    def _intern(self, request: Any, names: Any, raw: Values, previous: Row | None) -> Row:
        advanced = _advanced(request, previous)
        place = self._arrived.get(request.request_id, -1)
        key = (names, raw, advanced, place)
        row = self._interned.get(key)
        if row is None:
            _insist_on_atoms(raw)
            row = self._interned[key] = self._row(request, names, raw, advanced, place)
        return row

    def _row(self, request: Any, names: Any, raw: Values, advanced: bool, place: int) -> Row:
        told = ("request_id", "prompt_len", "generated_len", "max_new_tokens", "priority")
        longest = request.prompt_len + request.max_new_tokens
        shown: dict[str, Any] = {name: getattr(request, name) for name in told}
        known = {*told, *_OWN, "preemptible", "preemptions"}
        extra = {n: _told(v) for n, v in zip(names, raw, strict=True) if n not in known}
        return make_row(
            names,
            raw,
            **shown,
            state=request._state,
            status=STATUS_OF[request._state],
            phase=request._phase,
            cache_hit=None,
            wait_steps=None,
            deadline_step=None,
            required_blocks=-(-longest // self._limits.block_size),
            held_blocks=len(request.block_ids),
            preemptible=request.preemptible,
            preemptions=request.preemptions,
            arrival_index=place,
            finish_reason=request.finish_reason,
            advanced=advanced,
            extra=tuple(extra.items()),
            computed_len=request.computed_len,
            block_ids=tuple(request.block_ids),
        )

    # -- going back --------------------------------------------------------

    def mark(self) -> Mark:
        """The state now, to be gone back to; raises `NotPlain` where that cannot be."""
        return self.look()[1]

    def look(self) -> tuple[Observation, Mark]:
        """The state now, as claims see it and to be gone back to."""
        rows, flat = self._read_rows(), self._flat
        stored = self.scheduler.__dict__
        rest = [(n, flat(v)) for n, v in stored.items() if n not in ("requests", "pool")]
        pool = [(n, flat(v)) for n, v in stored["pool"].__dict__.items()]
        return self._seen(rows), Mark(rows, tuple(pool), tuple(rest))

    def _flat(self, value: Any) -> Any:
        """A value that can be compared and written back: requests are named by their ids."""
        kind: Any = value.__class__
        if kind in _ATOMS:
            return value
        if kind is list:
            return (LIST, *[v if type(v) is int else self._flat(v) for v in value])
        if self.scheduler.requests.get(getattr(value, "request_id", None)) is value:
            return ("request", value.request_id)
        if kind is self._kind_of_request():  # it is in a queue, and in the table no more
            return ("stray", *[(n, self._flat(v)) for n, v in value.__dict__.items()])
        raise NotPlain

    def reset(self, mark: Mark) -> None:
        """Go to that state, which this subject, or one of the same make, was in."""
        objects = self._objects
        stored = self.scheduler.__dict__
        requests = stored["requests"]
        requests.clear()
        for row in mark.rows:
            request_id = row.request_id
            request = objects.get(request_id)
            if request is None:
                request = objects[request_id] = object.__new__(self._kind_of_request())
            if self._rows.get(request_id) is not row:
                request.__dict__.clear()
                request.__dict__.update(zip(row.names, map(self._thaw, row.raw), strict=True))
                self._rows[request_id] = row
            requests[request_id] = request
        self._rows = {row.request_id: row for row in mark.rows}
        self._arrived = {row.request_id: row.arrival_index for row in mark.rows}
        for holder, values in ((stored, mark.rest), (stored["pool"].__dict__, mark.pool)):
            for name, value in values:
                holder[name] = self._thaw(value)

    def _thaw(self, value: Any) -> Any:
        if value.__class__ is not tuple:
            return value
        if value[0] == "request":
            return self.scheduler.requests[value[1]]
        if value[0] == "stray":
            stray = object.__new__(self._kind_of_request())
            stray.__dict__.update({name: self._thaw(part) for name, part in value[1:]})
            return stray
        return [part if type(part) is int else self._thaw(part) for part in value[1:]]

    def _kind_of_request(self) -> type[Any]:
        """The class of the scheduler's requests: that of one which it made."""
        if self._made is None:
            maker = self._make(self.config)
            maker.enqueue(0, 1)
            self._made = type(maker.requests[0])
        return self._made

    _made: type[Any] | None = None


def _insist_on_atoms(raw: Values) -> None:
    """Raise `NotPlain` unless a request stores atoms and lists of atoms only."""
    for value in raw:
        parts: Any = value[1:] if _is_a_list(value) else (value,)
        if not all(type(part) in _ATOMS for part in parts):
            raise NotPlain


def _told(value: Any) -> Any:
    """A value as claims see it: what a list holds, without the mark that it was one."""
    return value[1:] if _is_a_list(value) else value


def _is_a_list(value: Any) -> bool:
    return value.__class__ is tuple and bool(value[:1] == (LIST,))


def _answer_of(batch: Any) -> Answer:
    spans = tuple(
        [Span(i, grant.phase, 1, grant.start, grant.end) for i, grant in batch.grants.items()]
    )
    return Answer(batch=spans, preempted=tuple(batch.preempted))


def _advanced(request: Any, previous: Row | None) -> bool:
    """Whether the request has emitted a token since its last preemption; True before the first."""
    if previous is None:
        return True
    if request.preemptions > previous.preemptions:
        return False
    return previous.advanced or request.generated_len > previous.generated_len
