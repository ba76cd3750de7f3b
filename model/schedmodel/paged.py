"""A scheduler as real engines have one: paged, batched, and with steps in flight.

Rules.
1. A decision and its result are apart. `schedule` decides a step and hands out its blocks;
   `deliver` is told later which tokens it brought. Other steps may be decided in between: how
   many are in flight is for the caller. Results come back in the order of the decisions.
2. A step first gives every running request its next tokens, strongest first, within the step's
   budget of tokens: a part of its prefill, or one token in decode. A request whose last block
   is full takes one more. When none is free the weakest running request is preempted, which may
   be the one that asks.
3. Then, unless somebody had to give way, waiting requests are admitted, strongest first, while
   there are seats, tokens and blocks. Who does not fit holds back all behind it. An admission
   takes the blocks of all tokens that are there, though they may be computed in several steps.
4. Strong is who came first; under fixed_priority, who has the higher priority, then who came
   first. Preemption does not change that.
5. A token is counted as computed, and as generated, when it is delivered. Until then it is in
   flight: it may be gone on from, but nobody else may find it in the prefix cache.
6. Preemption gives everything back but the tokens that were emitted. What is in flight for a
   request then, or when it is aborted, is void: the step still runs, and its result is dropped.
7. A request that can never fit, not even alone, is rejected with a reason when it comes. All
   others end, unless they are aborted. The id of a request that has ended may be used again.
8. Requests move along the edges of the lifecycle, and in no other way.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from schedmodel.batch import BATCH_POLICIES, Rejection
from schedmodel.errors import InvalidInput
from schedmodel.inputs import one_of, whole_number
from schedmodel.lifecycle import HOLDING, State, Trigger, fire
from schedmodel.prefix_cache import CachingPool


@dataclass(eq=False)
class PagedRequest:
    """A request and how far it is.

    `token_ids` are those of the prompt and those emitted. `computed_len` of them lie in its
    blocks, `granted_len` with what is in flight; `expected` tokens in flight will be emitted.
    """

    request_id: int
    token_ids: list[int]
    prompt_len: int
    max_new_tokens: int
    priority: int
    arrival: int
    computed_len: int = 0
    granted_len: int = 0
    cached_len: int = 0
    expected: int = 0
    generated_len: int = 0
    preemptions: int = 0
    finish_reason: str | None = None
    preemptible: bool = True
    _state: State = State.WAITING
    _phase: str = "prefill"
    block_ids: list[int] = field(default_factory=list[int])

    @property
    def state(self) -> State:
        """Where the request stands; only the lifecycle changes it."""
        return self._state

    @property
    def phase(self) -> str:
        """What the request does when it is scheduled: prefill or decode."""
        return self._phase

    @property
    def output(self) -> list[int]:
        """The tokens that were emitted."""
        return self.token_ids[self.prompt_len :]

    @property
    def done(self) -> bool:
        """Whether the limit of tokens is reached."""
        return self.generated_len >= self.max_new_tokens

    @property
    def to_compute(self) -> int:
        """Tokens that may be granted now; the last one that is emitted is never computed."""
        if self.generated_len + self.expected >= self.max_new_tokens:
            return 0
        return len(self.token_ids) + self.expected - self.granted_len


@dataclass(eq=False)
class PagedGrant:
    """A request's part in a step: its tokens from `start` up to `end`, not included.

    `emits` tells that a token follows from the last one; `life` is the number of the request's
    preemptions when it was granted; `block_ids` are the blocks that the step reads and writes.
    """

    request: PagedRequest
    start: int
    end: int
    emits: bool
    life: int
    block_ids: tuple[int, ...]

    @property
    def void(self) -> bool:
        """Whether the request has lost since then what the grant was for."""
        same_life = self.life == self.request.preemptions
        return self.request.state is State.FINISHED or not same_life


@dataclass(eq=False)
class Step:
    """What one step runs, and who was preempted for it."""

    grants: list[PagedGrant] = field(default_factory=list[PagedGrant])
    preempted: list[PagedRequest] = field(default_factory=list[PagedRequest])
    tokens: int = 0


class PagedScheduler:
    """Schedules steps over `num_blocks` blocks of `block_size` tokens.

    At most `max_num_seqs` requests run, and a step computes at most `max_num_batched_tokens`
    tokens. `policy` is fcfs or fixed_priority. `requests` holds the last request of every id;
    `waiting` the waiting and preempted ones, strongest first; `running` those who hold blocks,
    strongest first; `in_flight` the steps that were not delivered yet, oldest first.
    `make_pool` makes the pool.
    """

    make_pool: ClassVar[type[CachingPool]] = CachingPool

    def __init__(
        self,
        policy: str = "fcfs",
        num_blocks: int = 1024,
        block_size: int = 16,
        max_num_seqs: int = 8,
        max_num_batched_tokens: int = 2048,
    ) -> None:
        self.policy = one_of("policy", policy, BATCH_POLICIES)
        self.num_blocks = whole_number("num_blocks", num_blocks, 0)
        self.max_num_seqs = whole_number("max_num_seqs", max_num_seqs, 1)
        self.max_num_batched_tokens = whole_number(
            "max_num_batched_tokens", max_num_batched_tokens, 1
        )
        self.pool = self.make_pool(num_blocks, whole_number("block_size", block_size, 1))
        self.requests: dict[int, PagedRequest] = {}
        self.waiting: list[PagedRequest] = []
        self.running: list[PagedRequest] = []
        self.in_flight: list[Step] = []
        self.arrivals = 0

    # -- what comes from outside -------------------------------------------

    def enqueue(
        self,
        request_id: int,
        prompt: Sequence[int],
        max_new_tokens: int = 2,
        priority: int = 0,
    ) -> Rejection | None:
        """Take a request in; the reason if it is rejected, because it can never fit.

        Raises `ValueError` for what is no request at all; nothing has changed then.
        """
        whole_number("request_id", request_id)
        known = self.requests.get(request_id)
        if known is not None and known.state is not State.FINISHED:
            raise InvalidInput("request_id", request_id, "an id that nobody has who is served")
        request = PagedRequest(
            request_id=request_id,
            token_ids=[whole_number("prompt", token, 0) for token in prompt],
            prompt_len=whole_number("length of prompt", len(prompt), 1),
            max_new_tokens=whole_number("max_new_tokens", max_new_tokens, 1),
            priority=whole_number("priority", priority),
            arrival=self.arrivals,
        )
        self.arrivals += 1
        self.requests[request_id] = request
        rejection = self._never_fits(request)
        if rejection is not None:
            fire(request, Trigger.REJECT, self.pool)
            return rejection
        self._queue(request)
        return None

    def _never_fits(self, request: PagedRequest) -> Rejection | None:
        """What the request lacks even when it is alone; None if nothing."""
        longest = request.prompt_len + request.max_new_tokens - 1
        blocks = self.pool.blocks_for(longest)
        return Rejection("blocks", blocks, self.num_blocks) if blocks > self.num_blocks else None

    def abort(self, request_id: int) -> bool:
        """Withdraw a request; False if there is none of this id that is not finished."""
        request = self.requests.get(request_id)
        if request is None or request.state is State.FINISHED:
            return False
        queue = self.running if request.state in HOLDING else self.waiting
        queue.remove(request)
        fire(request, Trigger.ABORT, self.pool)
        return True

    # -- deciding ------------------------------------------------------------

    def schedule(self) -> Step:
        """Decide what the next step runs, and hand out the blocks for it.

        It is in flight from now on, unless there is nothing in it.
        """
        step = Step()
        self._schedule_running(step)
        if not step.preempted:
            self._admit_waiting(step)
        if step.grants:
            self.in_flight.append(step)
        return step

    def _order(self, request: PagedRequest) -> tuple[int, int]:
        """Strongest first."""
        rank = -request.priority if self.policy == "fixed_priority" else 0
        return rank, request.arrival

    def _queue(self, request: PagedRequest) -> None:
        insort(self.waiting, request, key=self._order)

    def _left(self, step: Step) -> int:
        """Tokens that the step may still compute."""
        return self.max_num_batched_tokens - step.tokens

    def _schedule_running(self, step: Step) -> None:
        for request in list(self.running):  # a copy: who gives way leaves the list
            if request not in self.running:
                break  # the weakest gives way first, so there is nobody behind it either
            count = min(request.to_compute, self._left(step))
            if count and self._has_room(request, request.granted_len + count, step):
                self._grant(request, count, step)

    def _has_room(self, request: PagedRequest, end: int, step: Step) -> bool:
        """Whether its blocks reach up to `end`; others may have to give way for that."""
        while end > len(request.block_ids) * self.pool.block_size:
            if self.pool.can_grow(request):
                fire(request, Trigger.GROW, self.pool)
                continue
            victim = self.running[-1]
            self._preempt(victim, step)
            if victim is request:
                return False
        return True

    def _preempt(self, victim: PagedRequest, step: Step) -> None:
        """Take everything back but the tokens that were emitted."""
        fire(victim, Trigger.PREEMPT, self.pool)
        victim._phase = "prefill"
        victim.computed_len = victim.granted_len = victim.cached_len = 0
        victim.expected = 0
        self.running.remove(victim)
        self._queue(victim)
        step.preempted.append(victim)

    def _admit_waiting(self, step: Step) -> None:
        while self.waiting and len(self.running) < self.max_num_seqs and self._left(step) > 0:
            request = self.waiting[0]
            if not self.pool.can_grant(request):
                break
            self.waiting.remove(request)
            insort(self.running, request, key=self._order)
            back = request.state is State.PREEMPTED
            fire(request, Trigger.RESUME if back else Trigger.ADMIT, self.pool)
            fire(request, Trigger.BEGIN_PREFILL, self.pool)
            request.computed_len = request.granted_len = request.cached_len
            self._grant(request, min(request.to_compute, self._left(step)), step)

    def _grant(self, request: PagedRequest, count: int, step: Step) -> None:
        """Give a request its part of the step: its next `count` tokens."""
        start = request.granted_len
        emits = count == request.to_compute
        life, table = request.preemptions, tuple(request.block_ids)
        step.grants.append(PagedGrant(request, start, start + count, emits, life, table))
        step.tokens += count
        request.granted_len += count
        request.expected += emits

    # -- running -------------------------------------------------------------

    def deliver(self, step: Step, tokens: Mapping[int, int]) -> list[int]:
        """Book what the oldest step in flight brought: `tokens` has one for each id that emits.

        The ids of those whom it brought to their end.
        """
        if not self.in_flight or step is not self.in_flight[0]:
            raise InvalidInput("step", step, "the oldest step in flight")
        self.in_flight.pop(0)
        finished: list[int] = []
        for grant in step.grants:
            if grant.void:
                continue
            request = grant.request
            request.computed_len = grant.end
            self.pool.remember(request)
            if not grant.emits:
                fire(request, Trigger.PREFILL_CHUNK, self.pool)
            elif self._emit(request, tokens[request.request_id]):
                finished.append(request.request_id)
        return finished

    def _emit(self, request: PagedRequest, token: int) -> bool:
        """Book a token; whether it was the last one."""
        if request.phase == "prefill":
            fire(request, Trigger.BEGIN_DECODE, self.pool)
        fire(request, Trigger.EMIT_TOKEN, self.pool)
        request.token_ids.append(token)
        request.expected -= 1
        if not request.done:
            return False
        self.running.remove(request)
        fire(request, Trigger.FINISH, self.pool)
        return True
