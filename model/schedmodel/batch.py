"""A scheduler of batches: several requests a step, over numbered blocks that grow.

Rules.
1. A step first gives every running request one token, in the order in which they were
   admitted. A request whose last block is full takes one more. When none is free the weakest
   running request is preempted, which may be the one that asks.
2. Then waiting requests are admitted, strongest first, while there are seats, tokens in the
   step's budget, and blocks. Who does not fit holds back all behind it. An admission leaves
   room for the next token of everybody who runs, so each admitted request gets one.
3. Strong is who came first; under fixed_priority, who has the higher priority, then who came
   first. Preemption does not change that: who was preempted comes before who is newer.
4. What was computed lies in the blocks. Preemption gives them back, so the prefill is
   repeated, over the prompt and the tokens that were generated; none of these is lost.
5. A request that can never fit, not even alone, is rejected with a reason when it comes. All
   others end, unless they are aborted, which is possible in every state.
6. Requests move along the edges of the lifecycle, and in no other way.

A prefill computes all tokens of a request at once and emits none; each token emitted after it
takes the slot behind the tokens that are there. Tokens are made up: the same ones for the same
request however it was scheduled.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, field
from typing import NamedTuple

from schedmodel.errors import InvalidInput
from schedmodel.inputs import one_of, whole_number
from schedmodel.lifecycle import HOLDING, State, Trigger, fire

BATCH_POLICIES = ("fcfs", "fixed_priority")


class Rejection(NamedTuple):
    """Why a request can never fit: of what it `needs` more than there `is`.

    `reason` is "blocks" (of the pool) or "tokens" (of one step).
    """

    reason: str
    needs: int
    limit: int


class Grant(NamedTuple):
    """A request's part in a batch: its tokens from `start` up to `end`, not included."""

    phase: str
    start: int
    end: int


@dataclass(eq=False)
class BatchRequest:
    """A request and how far it is.

    `computed_len` tokens lie in its blocks. `arrival` is its place in the order of arrival,
    `output` the tokens that it has emitted.
    """

    request_id: int
    prompt_len: int
    max_new_tokens: int
    priority: int
    arrival: int
    computed_len: int = 0
    generated_len: int = 0
    preemptions: int = 0
    finish_reason: str | None = None
    preemptible: bool = True
    _state: State = State.WAITING
    _phase: str = "prefill"
    block_ids: list[int] = field(default_factory=list[int])
    output: list[int] = field(default_factory=list[int])

    @property
    def state(self) -> State:
        """Where the request stands; only the lifecycle changes it."""
        return self._state

    @property
    def phase(self) -> str:
        """What the request does when it is scheduled: prefill or decode."""
        return self._phase

    @property
    def total_len(self) -> int:
        """Tokens so far: prompt and generated."""
        return self.prompt_len + self.generated_len

    @property
    def done(self) -> bool:
        """Whether the limit of tokens is reached."""
        return self.generated_len >= self.max_new_tokens


@dataclass(eq=False)
class Batch:
    """What one step runs: a grant for each request by id, and who was preempted for it.

    `finished` are the ids of those whom the step brought to their end, once it was delivered.
    """

    grants: dict[int, Grant] = field(default_factory=dict[int, Grant])
    preempted: list[int] = field(default_factory=list[int])
    finished: list[int] = field(default_factory=list[int])

    @property
    def tokens(self) -> int:
        """Tokens that are computed in this step."""
        return sum(grant.end - grant.start for grant in self.grants.values())


class BlockPool:
    """Blocks of `block_size` tokens by number: which are free, and who holds how many.

    `references` counts the holders of each block; `free_ids` is in ascending order, and the
    lowest goes first.
    """

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.block_size = block_size
        self.free_ids = list(range(num_blocks))
        self.references = [0] * num_blocks

    def blocks_for(self, tokens: int) -> int:
        """Blocks that so many tokens take."""
        return -(-tokens // self.block_size)

    def can_grant(self, request: BatchRequest) -> bool:
        return self.blocks_for(request.total_len) <= len(self.free_ids)

    def grant(self, request: BatchRequest) -> None:
        for _ in range(self.blocks_for(request.total_len)):
            self._give(request)

    def can_grow(self, request: BatchRequest) -> bool:
        return len(self.free_ids) > 0

    def grow(self, request: BatchRequest) -> None:
        self._give(request)

    def take_back(self, request: BatchRequest) -> None:
        for block_id in request.block_ids:
            self._release(block_id)
        request.block_ids.clear()

    def _give(self, request: BatchRequest) -> None:
        block_id = self.free_ids.pop(0)
        self.references[block_id] += 1
        request.block_ids.append(block_id)

    def _release(self, block_id: int) -> None:
        self.references[block_id] -= 1
        if self.references[block_id] == 0:
            insort(self.free_ids, block_id)


class BatchScheduler:
    """Schedules batches over `num_blocks` blocks of `block_size` tokens.

    At most `max_num_seqs` requests run, and a step computes at most `max_num_batched_tokens`
    tokens, at least one for each that may run. `policy` is fcfs or fixed_priority. `requests`
    holds every request ever taken in, by id; `waiting` the waiting and preempted ones,
    strongest first; `running` those who hold blocks, in the order of admission.
    """

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
            "max_num_batched_tokens", max_num_batched_tokens, max_num_seqs
        )
        self.pool = BlockPool(num_blocks, whole_number("block_size", block_size, 1))
        self.requests: dict[int, BatchRequest] = {}
        self.waiting: list[BatchRequest] = []
        self.running: list[BatchRequest] = []

    # -- what comes from outside -------------------------------------------

    def enqueue(
        self, request_id: int, prompt_len: int, max_new_tokens: int = 2, priority: int = 0
    ) -> Rejection | None:
        """Take a request in; the reason if it is rejected, because it can never fit.

        An id is never used twice, a rejected one neither. Raises `ValueError` for what is no
        request at all; nothing has changed then.
        """
        whole_number("request_id", request_id)
        if request_id in self.requests:
            raise InvalidInput("request_id", request_id, "an id that was not used before")
        request = BatchRequest(
            request_id=request_id,
            prompt_len=whole_number("prompt_len", prompt_len, 1),
            max_new_tokens=whole_number("max_new_tokens", max_new_tokens, 1),
            priority=whole_number("priority", priority),
            arrival=len(self.requests),
        )
        self.requests[request_id] = request
        rejection = self._never_fits(request)
        if rejection is not None:
            fire(request, Trigger.REJECT, self.pool)
            return rejection
        self._queue(request)
        return None

    def _never_fits(self, request: BatchRequest) -> Rejection | None:
        """What the request lacks even when it is alone; None if nothing."""
        longest = request.prompt_len + request.max_new_tokens
        blocks = self.pool.blocks_for(longest)
        if blocks > self.num_blocks:
            return Rejection("blocks", blocks, self.num_blocks)
        prefill = longest - 1  # so long may one become that is repeated
        if prefill > self.max_num_batched_tokens:
            return Rejection("tokens", prefill, self.max_num_batched_tokens)
        return None

    def abort(self, request_id: int) -> bool:
        """Withdraw a request; False if there is none of this id that is not finished."""
        request = self.requests.get(request_id)
        if request is None or request.state is State.FINISHED:
            return False
        queue = self.running if request.state in HOLDING else self.waiting
        queue.remove(request)
        fire(request, Trigger.ABORT, self.pool)
        return True

    def step(self) -> Batch:
        """Schedule a batch and run it; its grants are empty when nobody can be served."""
        batch = self.schedule()
        self.deliver(batch)
        return batch

    # -- deciding ------------------------------------------------------------

    def schedule(self) -> Batch:
        """Decide what the next step runs, and hand out the blocks for it."""
        batch = Batch()
        self._schedule_running(batch)
        self._admit_waiting(batch)
        return batch

    def _order(self, request: BatchRequest) -> tuple[int, int]:
        """Strongest first."""
        rank = -request.priority if self.policy == "fixed_priority" else 0
        return rank, request.arrival

    def _queue(self, request: BatchRequest) -> None:
        insort(self.waiting, request, key=self._order)

    def _schedule_running(self, batch: Batch) -> None:
        for request in list(self.running):  # a copy: who gives way leaves the list
            if request not in self.running:
                continue
            if self._has_next_slot(request, batch):
                computed = request.computed_len
                batch.grants[request.request_id] = Grant("decode", computed, computed + 1)

    def _has_next_slot(self, request: BatchRequest, batch: Batch) -> bool:
        """Whether there is room for one token more; others may have to give way for it."""
        if request.computed_len < len(request.block_ids) * self.pool.block_size:
            return True
        while not self.pool.can_grow(request):
            victim = max(self.running, key=self._order)
            self._preempt(victim, batch)
            if victim is request:
                return False
        fire(request, Trigger.GROW, self.pool)
        return True

    def _preempt(self, victim: BatchRequest, batch: Batch) -> None:
        """Take everything back but the tokens that were emitted."""
        fire(victim, Trigger.PREEMPT, self.pool)
        victim._phase = "prefill"
        victim.computed_len = 0
        self.running.remove(victim)
        self._queue(victim)
        batch.grants.pop(victim.request_id, None)
        batch.preempted.append(victim.request_id)

    def _admit_waiting(self, batch: Batch) -> None:
        while self.waiting and len(self.running) < self.max_num_seqs:
            request = self.waiting[0]
            if not self._fits(request, batch):
                break
            self.waiting.remove(request)
            self.running.append(request)
            back = request.state is State.PREEMPTED
            fire(request, Trigger.RESUME if back else Trigger.ADMIT, self.pool)
            fire(request, Trigger.BEGIN_PREFILL, self.pool)
            grant = Grant("prefill", request.computed_len, request.total_len)
            batch.grants[request.request_id] = grant

    def _fits(self, request: BatchRequest, batch: Batch) -> bool:
        """Whether tokens and blocks are left, and room for everybody's next token after it."""
        if batch.tokens + request.total_len > self.max_num_batched_tokens:
            return False
        ends = [grant.end for grant in batch.grants.values()]
        growing = sum(end % self.pool.block_size == 0 for end in ends)
        return self.pool.blocks_for(request.total_len + 1) + growing <= len(self.pool.free_ids)

    # -- running -------------------------------------------------------------

    def deliver(self, batch: Batch) -> None:
        """Do what was decided: prefills are computed, tokens emitted, requests finished."""
        for request in list(self.running):
            grant = batch.grants.get(request.request_id)
            if grant is None:
                continue
            request.computed_len = grant.end
            if grant.phase == "prefill":
                fire(request, Trigger.BEGIN_DECODE, self.pool)
                continue
            fire(request, Trigger.EMIT_TOKEN, self.pool)
            request.output.append(made_up_token(request))
            if request.done:
                self.running.remove(request)
                fire(request, Trigger.FINISH, self.pool)
                batch.finished.append(request.request_id)


def made_up_token(request: BatchRequest) -> int:
    """The token that a request has just emitted: its id and the token's number, as one number."""
    return 1000 * request.request_id + request.generated_len
