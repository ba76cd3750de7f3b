"""An engine as a subject: what an adapter says, in the words that claims are written in.

Rules.
1. One step is a decision, the forward pass that is played for it, and the tokens handed back.
   Requests are known here by what was handed in, not by what the engine remembers of them.
2. What lies in a request's blocks follows from the steps it was in. A request that had blocks,
   is not finished and has none any more was preempted, whatever it is called.
3. What an engine raises, or a call that does not come back, is part of the answer, with the
   place; nothing more can be asked of that engine then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedmodel.lifecycle import State
from schedmodel.request import STATUS_OF
from schedproof.engines.adapter import FINISHED, RUNNING, EngineAdapter, Request, Seen, Setup, Work
from schedproof.engines.forward import Cache, Tokens, next_token
from schedproof.engines.guard import Guard
from schedproof.engines.known import (
    ABORTED,
    IN_FLIGHT,
    REJECTED,
    Known,
    reason_of,
    state_of,
)
from schedproof.engines.raising import raised_of
from schedproof.subjects.actions import Abort, Action, EngineEnqueue, Enqueue, Step
from schedproof.subjects.chapter import CallCount, CallCounter
from schedproof.subjects.contract import Config, Feature, Limits, SubjectError
from schedproof.subjects.observation import (
    Answer,
    Miscount,
    Observation,
    Paged,
    Raised,
    Ran,
    Row,
    Span,
    Strayed,
    make_row,
    quickly,
)
from schedproof.subjects.places import StopSubject

OF_ENGINES = frozenset(
    {
        Feature.LEDGER,
        Feature.LIFECYCLE,
        Feature.BLOCK_IDS,
        Feature.BATCH_LIMITS,
        Feature.GROWTH_PREEMPTION,
        Feature.FORWARD_PASS,
        Feature.TOKENS,
        Feature.COUNTERS,
        Feature.STEP_BOUNDS,
    }
)
Rows = dict[tuple[Any, ...], Row]
ROWS_MAX = 100_000
PREFILL, DECODE = "prefill", "decode"
_paged, _observation = quickly(Paged), quickly(Observation)


def features_of(adapter: EngineAdapter) -> frozenset[Feature]:
    """What an adapter declares."""
    declared = {
        Feature.ABORT: adapter.can_abort,
        Feature.DECLARED_ORDER: adapter.keeps_order,
        Feature.REJECTION: adapter.rejects,
        Feature.IN_FLIGHT: adapter.steps_in_flight > 1,
        Feature.EXACT_ADMISSION: adapter.exact_admission,
    }
    return OF_ENGINES | {feature for feature, is_so in declared.items() if is_so}


def _copied(adapter: EngineAdapter) -> EngineAdapter:
    """The adapter once more, for a start of its own; `copy` takes four times as long."""
    made: EngineAdapter = object.__new__(type(adapter))
    made.__dict__.update(adapter.__dict__)
    return made


class EngineSubject:
    """An engine under test, in the state after its start."""

    def __init__(
        self,
        adapter: EngineAdapter,
        config: Config,
        calls: CallCounter | None = None,
        rows: Rows | None = None,
        guard: Guard | None = None,
    ) -> None:
        self.config = config
        self.calls = calls or CallCount()
        self.features = features_of(adapter)
        self.adapter = _copied(adapter)
        self.limits = config.limits or Limits()
        self._rows: Rows = {} if rows is None else rows
        self._guard = guard
        self._known: dict[int, Known] = {}
        self._tokens: dict[int, Tokens] = {}
        self._cache = Cache(config.blocks, self.limits.block_size)
        self._since_token = self._idle = self._emitted = self._gave_way = 0
        self._flying: tuple[tuple[Span, ...], ...] = ()
        self._over: Raised | None = None
        self._miscount: Miscount | None = None
        self._strayed: Strayed | None = None
        self._reserved: tuple[int, ...] = ()
        self.calls.action += 1
        self.adapter.start(Setup(config.blocks, *self.limits))
        if adapter.reserved_blocks:
            free = set(self.adapter.pool().free_ids)
            self._reserved = tuple(block for block in range(config.blocks) if block not in free)
        self._seen = self._look()

    def fresh(self) -> EngineSubject:
        """Another subject of the same make, at its start."""
        return EngineSubject(self.adapter, self.config, self.calls, self._rows, self._guard)

    def fork(self) -> EngineSubject:
        """Engines are started again and led, never copied."""
        raise NotImplementedError

    def add_wait(self, request_id: int, steps: int) -> None:
        """Nothing: no waits are counted here."""

    # -- doing -------------------------------------------------------------

    def do(self, action: Action) -> Answer:
        """Carry out one action; what the engine raises is part of the answer."""
        self.calls.action += 1
        if self._over is not None:
            return Answer(ran=Ran(raised=self._over))
        if isinstance(action, Step):
            return self._step() if self._guard is None else self._guarded(self._guard)
        if isinstance(action, EngineEnqueue):
            return self._add(action)
        if isinstance(action, Abort):
            return self._abort(action.request_id)
        kind = "enqueue" if isinstance(action, Enqueue) else type(action).__name__.lower()
        raise SubjectError("contract", "contract.no_such_verb", {"action": kind})

    def _add(self, action: EngineEnqueue) -> Answer:
        request = Request(
            action.request_id,
            tuple(action.token_ids),
            action.max_new_tokens,
            action.priority,
            action.reuses,
        )
        if request.request_id in self._known:
            return Answer(accepted=False, refusal="request_id")
        known = self._known[request.request_id] = Known(
            request, len(self._known), self.limits.block_size
        )
        self._tokens[request.request_id] = known.tokens
        try:
            self.adapter.add(request)
            known.ended = "" if self.adapter.rejected is None else REJECTED
            self._seen = self._look()
        except (Exception, StopSubject) as error:
            return self._failed("add", error, accepted=True)
        return Answer(accepted=True, rejected=self.adapter.rejected)

    def _abort(self, request_id: int) -> Answer:
        try:
            self.adapter.abort(request_id)
            known = self._known.get(request_id)
            if known is not None and not (known.row and known.row.finished):
                known.ended = ABORTED
            self._seen = self._look()
        except (Exception, StopSubject) as error:
            return self._failed("abort", error)
        return Answer()

    def _guarded(self, guard: Guard) -> Answer:
        guard.arm()
        try:
            return self._step()
        finally:
            guard.disarm()

    def _step(self) -> Answer:
        adapter = self.adapter
        call = "schedule"
        spans: tuple[Span, ...] = ()
        attended, foreign = 0, None
        try:
            batch = adapter.schedule()
            spans = tuple([self._span(work) for work in batch])
            if adapter.copies:
                self._cache.copy(adapter.copies)
            attended, foreign = self._cache.run(batch, self._tokens)
            for work in batch:
                known = self._known[work.request_id]
                known.behind = work.end < len(known.tokens.ids)
            if batch:
                call = "deliver"
                adapter.deliver({work.request_id: self._token(work) for work in batch})
            call = "observe"
            before = self._emitted
            self._seen = self._look(batch)
        except (Exception, StopSubject) as error:
            if foreign is None:
                return self._failed(call, error, spans)
            return Answer(batch=spans, ran=Ran(attended, foreign))
        self._since_token = 0 if self._emitted > before else self._since_token + 1
        self._idle = 0 if batch else self._idle + 1
        facts = (self._since_token, self._since_token_max(), self._idle, adapter.idle_steps_max)
        return Answer(
            batch=spans, ran=Ran(attended, foreign, self._strayed, None, self._miscount, *facts)
        )

    def _span(self, work: Work) -> Span:
        known = self._known[work.request_id]
        goes_on = known.computed >= known.tokens.prompt_len and not known.behind
        phase = DECODE if goes_on and work.end - work.start <= 1 else PREFILL
        return Span(work.request_id, phase, 1, work.start, work.end)

    def _token(self, work: Work) -> int:
        prefixes = self._tokens[work.request_id].prefixes
        return next_token(prefixes[work.end - 1]) if 0 < work.end <= len(prefixes) else 0

    def _since_token_max(self) -> int:
        """Steps that may pass between two tokens: all is computed once more, token by token."""
        return 4 + 2 * sum([len(tokens.ids) for tokens in self._tokens.values()])

    def _failed(
        self, call: str, error: BaseException, spans: Sequence[Span] = (), accepted: Any = None
    ) -> Answer:
        self.calls.action += 1  # a call that hung is over
        self._over = raised_of(call, error, type(self.adapter))
        return Answer(accepted=accepted, batch=tuple(spans), ran=Ran(raised=self._over))

    # -- seeing ------------------------------------------------------------

    def observe(self) -> Observation:
        """The state now; after a call that failed, that of before it."""
        return self._seen

    def _look(self, batch: Sequence[Work] = ()) -> Observation:
        adapter = self.adapter
        computed = {work.request_id: work.end for work in batch}
        seen = adapter.requests()
        rows: list[Row] = []
        for request_id, known in self._known.items():
            now = seen.get(request_id)
            if now is not None:
                rows.append(self._row(known, now, computed.get(request_id)))
        pool = adapter.pool()
        free = tuple(pool.free_ids)
        half = [r.request_id for r in rows if r.state is State.PREFILL and r.status == "prefill"]
        waiting, running = tuple(pool.waiting), tuple(pool.running)
        if half:
            running += tuple([i for i in waiting if i in half])
            waiting = tuple([i for i in waiting if i not in half])
        references = self._references(rows) if pool.references is None else tuple(pool.references)
        limits = self.limits
        facts = adapter.seats_per_step, adapter.chunked_prefill
        parts = (*limits, references, free, running, waiting, *facts, self._reserved)
        capacity = self.config.blocks - adapter.reserved_blocks
        seen_now = (0, capacity, len(free), tuple(rows), 0, (), self._flying, _paged(parts))
        return _observation(seen_now)

    def _references(self, rows: Sequence[Row]) -> tuple[int, ...]:
        """Holders of each block, where the engine does not count them."""
        counts = [0] * self.config.blocks
        for row in rows:
            for block in row.block_ids or ():
                counts[block] += 1
        return tuple(counts)

    def _row(self, known: Known, now: Seen, computed: int | None) -> Row:
        finished, row = now.status == FINISHED, known.row
        same = row is not None and row.finished and row.generated_len == len(now.output)
        if finished and row is not None and same and not now.blocks:
            return row
        blocks = tuple(now.blocks)
        generated = len(now.output)
        if finished or generated != known.generated:
            self._take_output(known, now.output, finished)
        if not blocks and known.held and not finished:
            known.start_again(self.adapter.chunked_prefill)
            self._gave_way += 1
        if computed is not None:
            known.computed = computed
        if not blocks and not finished:
            known.computed, known.expected, known.behind = 0, 0, False
        known.held = bool(blocks)
        if now.counters or now.in_flight is not None:
            self._check_counters(known, now)
        key = (
            known.identity,
            now.status,
            blocks,
            generated,
            known.computed,
            known.preemptions,
            known.advanced,
            known.ended,
            known.behind,
        )
        if known.key != key:
            row = self._rows.get(key)
            if row is None:
                if len(self._rows) > ROWS_MAX:
                    self._rows.clear()
                row = self._rows[key] = self._made(known, now.status, blocks, key)
            known.row, known.key = row, key
        assert known.row is not None
        return known.row

    def _take_output(self, known: Known, output: Sequence[int], finished: bool) -> None:
        """Compare new tokens with those that must come."""
        old, new = known.generated, len(output)
        wanted = known.request.max_new_tokens
        if new < old:
            known.tokens.cut(new)
        for index in range(old, new):
            right, got = known.tokens.following, output[index]
            if index >= wanted:
                self._stray("too_many", known, index, got, None)
            elif got != right:
                self._stray("other", known, index, got, right)
            known.tokens.append(got)
            known.advanced = True
            self._emitted += 1
        if finished and new < wanted and not known.ended:
            self._stray("too_few", known, new, None, known.tokens.following)

    def _stray(
        self, kind: str, known: Known, index: int, got: int | None, wanted: int | None
    ) -> None:
        if self._strayed is None:
            self._strayed = Strayed(kind, known.request.request_id, index + 1, got, wanted)

    def _check_counters(self, known: Known, now: Seen) -> None:
        limit = len(known.tokens.ids)
        for name, value in now.counters:
            if not 0 <= value <= limit and self._miscount is None:
                self._miscount = Miscount(known.request.request_id, name, value, limit)
        if now.in_flight not in (None, known.expected) and self._miscount is None:
            request_id, counts = known.request.request_id, (now.in_flight, known.expected)
            self._miscount = Miscount(request_id, IN_FLIGHT, *counts)

    def _made(self, known: Known, status: str, blocks: tuple[int, ...], key: Any) -> Row:
        state = state_of(known, status, blocks)
        request = known.request
        prefilled = known.computed >= known.tokens.prompt_len
        limits = self.limits
        return make_row(
            (),
            key,
            request_id=request.request_id,
            state=state,
            status=STATUS_OF[state] if status == RUNNING else state.value,
            phase=DECODE if prefilled else PREFILL,
            prompt_len=len(request.token_ids),
            generated_len=known.generated,
            max_new_tokens=request.max_new_tokens,
            priority=request.priority,
            cache_hit=None,
            wait_steps=None,
            required_blocks=-(-request.longest // limits.block_size),
            held_blocks=len(blocks),
            deadline_step=None,
            preemptible=True,
            preemptions=known.preemptions,
            arrival_index=known.arrival,
            finish_reason=reason_of(known, state),
            advanced=known.advanced,
            extra=(),
            computed_len=known.computed,
            block_ids=blocks,
        )
