"""An engine with steps in flight as a subject: it decides a step, and runs it when it is delivered.

Rules.
1. Steps are run in the order in which they were decided, so what a step finds in the blocks is
   what the steps before it left there, whatever was decided in the meantime.
2. What a step does for a request that was preempted or ended since the decision is void: it is
   computed all the same, and its token handed over, but nothing may come of it.
3. A delivery is answered with the parts that are not void: just these requests may advance.
4. All there is of such a subject can be taken down as a `Mark` and gone back to: the engine as
   bytes, and the books of the kit. The bytes tell states apart, so nothing is hidden.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

from schedproof.engines.adapter import Setup, Work
from schedproof.engines.forward import Tokens
from schedproof.engines.known import Known
from schedproof.engines.subject import EngineSubject
from schedproof.subjects.actions import Action, Deliver
from schedproof.subjects.contract import SubjectError
from schedproof.subjects.observation import Answer, Foreign, Observation, Ran, Row, Span
from schedproof.subjects.places import StopSubject

BOOKS = ("_since_token", "_idle", "_emitted", "_gave_way", "_over", "_miscount", "_strayed")
OF_KNOWN = (
    *("request", "arrival", "identity", "computed", "preemptions", "held", "advanced", "ended"),
    *("behind", "expected"),
)


class Flight(NamedTuple):
    """A step in flight: its parts, the preemptions of each request by then, and who emits."""

    batch: tuple[Work, ...]
    lives: tuple[int, ...]
    emits: tuple[bool, ...]
    spans: tuple[Span, ...]


class Mark:
    """A state: the `key` that tells it apart, and what else is needed to go back to it."""

    __slots__ = ("key", "seen", "writers")

    def __init__(self, key: tuple[Any, ...], writers: tuple[Any, ...], seen: Observation):
        self.key, self.writers, self.seen = key, writers, seen

    @property
    def rows(self) -> tuple[Row, ...]:
        """The requests as claims see them."""
        return self.seen.rows

    @property
    def live(self) -> list[int]:
        """Who is not finished."""
        return [row.request_id for row in self.rows if not row.finished]

    @property
    def free_names(self) -> list[int]:
        """Who is, and whose id nobody has used since."""
        again = {known[0].reuses for known in self.known}
        return [r.request_id for r in self.rows if r.finished and r.request_id not in again]

    @property
    def known(self) -> tuple[Any, ...]:
        """The requests that were handed in, with the kit's books of them."""
        known: tuple[Any, ...] = self.key[2]
        return known

    @property
    def in_flight(self) -> int:
        """How many steps are in flight."""
        return len(self.key[3])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mark) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class PipelinedSubject(EngineSubject):
    """An engine under test that keeps decision and result apart."""

    def __init__(self, *parts: Any) -> None:
        self._flights: list[Flight] = []
        super().__init__(*parts)
        self._promised = self.adapter.preemptions_max(Setup(self.config.blocks, *self.limits))

    def fresh(self) -> PipelinedSubject:
        """Another subject of the same make, at its start."""
        return type(self)(self.adapter, self.config, self.calls, self._rows, self._guard)

    # -- doing -------------------------------------------------------------

    def do(self, action: Action) -> Answer:
        """Carry out one action; a delivery is of the oldest step in flight."""
        if not isinstance(action, Deliver):
            return super().do(action)
        self.calls.action += 1
        if self._over is not None:
            return Answer(ran=Ran(raised=self._over))
        if action.index != 0 or not self._flights:
            raise SubjectError("contract", "contract.no_such_verb", {"action": "deliver"})
        return self._deliver(self._flights.pop(0))

    def _step(self) -> Answer:
        call, spans = "schedule", tuple[Span, ...]()
        try:
            batch = tuple(self.adapter.schedule())
            spans = tuple([self._span(work) for work in batch])
            call = "observe"
            for request_id in self.adapter.preempted:
                self._known[request_id].start_again(self.adapter.chunked_prefill)
                self._gave_way += 1
            if batch:
                self._take_off(batch, spans)
            self._seen = self._look()
        except (Exception, StopSubject) as error:
            return self._failed(call, error, spans)
        if batch or not self._flights:  # an empty step beside others is no step at all
            self._since_token += 1
            self._idle = 0 if batch else self._idle + 1
        victims = tuple(self.adapter.preempted)
        return Answer(batch=spans, preempted=victims, ran=self._ran(0, None))

    def _take_off(self, batch: tuple[Work, ...], spans: tuple[Span, ...]) -> None:
        """Put a step in flight."""
        lives: list[int] = []
        emits: list[bool] = []
        for work in batch:
            known = self._known[work.request_id]
            lives.append(known.preemptions)
            emits.append(work.end == len(known.tokens.ids) + known.expected)
            known.expected += emits[-1]
        self._flights.append(Flight(batch, tuple(lives), tuple(emits), spans))
        self._flying = (*self._flying, spans)

    def _span(self, work: Work) -> Span:
        known = self._known[work.request_id]
        goes_on = known.expected > 0 or not (known.behind or known.computed < work.start)
        decodes = goes_on and work.start >= known.tokens.prompt_len and work.end - work.start <= 1
        return Span(work.request_id, "decode" if decodes else "prefill", 1, work.start, work.end)

    def _deliver(self, flight: Flight) -> Answer:
        adapter, call = self.adapter, "deliver"
        self._flying = self._flying[1:]
        valid, spans = self._valid(flight)
        attended, foreign = self._cache.run(valid, self._tokens)
        before = self._emitted
        try:
            for work in valid:
                known = self._known[work.request_id]
                known.behind = work.end < len(known.tokens.ids)
            adapter.deliver({work.request_id: self._token(work) for work in flight.batch})
            call = "observe"
            self._seen = self._look(valid)
        except (Exception, StopSubject) as error:
            if foreign is None:
                return self._failed(call, error, spans)
            return Answer(batch=spans, ran=Ran(attended, foreign))
        if self._emitted > before:
            self._since_token = self._gave_way = 0
        return Answer(batch=spans, ran=self._ran(attended, foreign))

    def _valid(self, flight: Flight) -> tuple[list[Work], tuple[Span, ...]]:
        """The parts of a step of which something comes; what the others write is nobody's."""
        valid: list[Work] = []
        spans: list[Span] = []
        for work, life, emits, span in zip(*flight, strict=True):
            known = self._known[work.request_id]
            if known.ended or (known.row and known.row.finished) or known.preemptions != life:
                self._cache.run_for_nobody(work, known.tokens.prefixes)
                continue
            known.expected -= emits
            valid.append(work)
            spans.append(span)
        return valid, tuple(spans)

    def _ran(self, attended: int, foreign: Foreign | None) -> Ran:
        return Ran(
            attended,
            foreign,
            self._strayed,
            None,
            self._miscount,
            self._since_token,
            self._since_token_max(),
            self._idle,
            self.adapter.idle_steps_max,
            self._gave_way,
            self._promised,
        )

    # -- going back --------------------------------------------------------

    def mark(self) -> Mark:
        """The state now, to be gone back to."""
        books = tuple([getattr(self, name) for name in BOOKS])
        known = tuple([(*_taken_down(k), tuple(k.tokens.ids)) for k in self._known.values()])
        slots, writers = self._cache.taken_down()
        key = self.adapter.frozen(), books, known, tuple(self._flights), slots
        return Mark(key, writers, self._seen)

    def look(self) -> tuple[Observation, Mark]:
        """The state now, as claims see it and to be gone back to."""
        return self._seen, self.mark()

    def reset(self, mark: Mark) -> None:
        """Go to that state, which this subject, or one of the same make, was in."""
        engine, books, known, flights, slots = mark.key
        self.adapter.thaw(engine)
        for name, value in zip(BOOKS, books, strict=True):
            setattr(self, name, value)
        rows = {row.request_id: row for row in mark.rows}
        self._known = {}
        for taken_down in known:
            made: Known = object.__new__(Known)
            for name, value in zip(OF_KNOWN, taken_down, strict=False):
                setattr(made, name, value)
            request = made.request
            made.tokens = Tokens.again(len(request.token_ids), taken_down[-1])
            made.row, made.key = rows.get(request.request_id), None
            self._known[request.request_id] = made
        self._tokens = {i: made.tokens for i, made in self._known.items()}
        self._flights = list(flights)
        self._flying = mark.seen.in_flight
        self._cache.write_back(slots, mark.writers)
        self._seen = mark.seen


_taken_down = attrgetter(*OF_KNOWN)
