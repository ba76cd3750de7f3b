"""The scheduler of the chapter: one request a step, over a pool of KV blocks.

Rules.
1. A step serves one request: the first in the policy's order that is admitted already, or
   fits the free blocks, or can preempt one victim (see `choice`). It runs the prefill or
   emits one token, and every other unfinished request waits one step more.
2. When nobody can be served there is no event, the clock stays and nothing changes.
   `is_done` and `is_stuck` tell the two cases apart; `why` tells the whole reason.
3. Requests move along the lifecycle's edges and in no other way.
4. A refused call changes nothing.

`DecodeSchedulerSim` has the interface of the course chapter on decode scheduling, to the
letter; fcfs, reserved_aging, `why`, `is_done`, `is_stuck`, `fork`, `snapshot` and `restore`
are ours.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from schedmodel.choice import Why, choose, explain
from schedmodel.errors import IllegalAssignment, InvalidInput
from schedmodel.event import DECODE_ONE_STEP, FINISH, PREFILL_TO_DECODE, Event, deadline_missed
from schedmodel.inputs import deadline_after, one_of, whole_number
from schedmodel.ledger import CapacityLedger
from schedmodel.lifecycle import Move, State, Trigger, fire, make, moves_along
from schedmodel.policy import KNOWN_POLICIES, Key, Policy, make_policy
from schedmodel.request import RequestState

_S, _T = State, Trigger
ROUTES: dict[tuple[State, str], tuple[Trigger, ...]] = {
    (_S.WAITING, "prefill"): (_T.ADMIT, _T.BEGIN_PREFILL, _T.BEGIN_DECODE),
    (_S.WAITING, "decode"): (_T.ADMIT, _T.BEGIN_DECODE, _T.EMIT_TOKEN),
    (_S.PREEMPTED, "prefill"): (_T.RESUME, _T.BEGIN_PREFILL, _T.BEGIN_DECODE),
    (_S.PREEMPTED, "decode"): (_T.RESUME, _T.BEGIN_DECODE, _T.EMIT_TOKEN),
    (_S.ADMITTED, "prefill"): (_T.BEGIN_PREFILL, _T.BEGIN_DECODE),
    (_S.ADMITTED, "decode"): (_T.BEGIN_DECODE, _T.EMIT_TOKEN),
    (_S.PREFILL, "prefill"): (_T.BEGIN_DECODE,),
    (_S.DECODE, "decode"): (_T.EMIT_TOKEN,),
}
"""The triggers that serve a request one step, by its state and saved phase."""

_MOVES: dict[tuple[State, str], tuple[Move, ...]] = {
    (state, phase): moves_along(state, triggers) for (state, phase), triggers in ROUTES.items()
}

_FINISHED = State.FINISHED  # a look-up in the Enum costs as much as a call on older Pythons


class Snapshot(NamedTuple):
    """A scheduler's state at one moment; immutable, and good for any later restore."""

    policy: Policy
    clock: int
    free: int
    requests: tuple[tuple[object, ...], ...]
    timeline: tuple[Event, ...]


class DecodeSchedulerSim:
    """Decode scheduling of requests over `free_kv_blocks` blocks.

    `policy` is one of fixed_priority, aging, deadline, fcfs, reserved_aging. `aging_interval`
    is the number of waited steps that are worth one priority under aging. Wrong values and
    types raise
    `ValueError`. `queue` holds every request ever accepted, finished ones too, in order of
    arrival; `timeline` every event; `clock` the number of events.
    """

    def __init__(
        self,
        policy: str = "fixed_priority",
        free_kv_blocks: int = 1_000_000,
        aging_interval: int = 4,
    ) -> None:
        one_of("policy", policy, KNOWN_POLICIES)
        whole_number("free_kv_blocks", free_kv_blocks, 0)
        whole_number("aging_interval", aging_interval, 1)
        self._policy = make_policy(policy, aging_interval)
        self.ledger = CapacityLedger(free_kv_blocks)
        self.clock = 0
        self.queue: list[RequestState] = []
        self.timeline: list[Event] = []

    @property
    def policy(self) -> str:
        """The policy's name; may be changed between steps."""
        return self._policy.name

    @policy.setter
    def policy(self, name: str) -> None:
        self._policy = make_policy(one_of("policy", name, KNOWN_POLICIES), self.aging_interval)

    @property
    def aging_interval(self) -> int:
        """Waited steps that are worth one priority under aging; may be changed between steps."""
        return self._policy.aging_interval

    @aging_interval.setter
    def aging_interval(self, steps: int) -> None:
        self._policy = make_policy(self.policy, whole_number("aging_interval", steps, 1))

    @property
    def free_kv_blocks(self) -> int:
        """Blocks that nobody holds."""
        return self.ledger.free

    @free_kv_blocks.setter
    def free_kv_blocks(self, value: int) -> None:
        allowed = "only admission, preemption and finishing move blocks; build a new scheduler"
        raise IllegalAssignment("free_kv_blocks", "the scheduler", allowed)

    def enqueue(
        self,
        request_id: int,
        prompt_len: int,
        max_new_tokens: int = 2,
        priority: int = 0,
        cache_hit: bool = False,
        required_blocks: int = 1,
        deadline_step: int | None = None,
        preemptible: bool = True,
    ) -> None:
        """Accept a request at the end of the queue; it waits, in phase prefill.

        Lengths in tokens, `required_blocks` in KV blocks, `deadline_step` a clock value
        later than now. Ids and priorities may be negative; an id is never used twice. A
        request larger than the pool is accepted and never served. Raises `ValueError`.
        """
        whole_number("request_id", request_id)
        if self._was_used(request_id):
            raise InvalidInput("request_id", request_id, "an id that was not used before")
        request = self._new_request(  # by place, not by name: refused calls come by the million
            request_id,
            prompt_len,
            max_new_tokens,
            0,
            "prefill",
            priority,
            cache_hit,
            0,
            required_blocks,
            False,
            deadline_after(self.clock, deadline_step),
            preemptible,
        )
        request.arrival_index = self._next_arrival_index()
        self.queue.append(request)

    def _was_used(self, request_id: int) -> bool:
        return request_id in [other.request_id for other in self.queue]

    _new_request: Callable[..., RequestState] = RequestState

    def _request_of(self, row: tuple[Any, ...]) -> RequestState:
        return RequestState.from_row(row)

    def _next_arrival_index(self) -> int:
        return 1 + max([r.arrival_index for r in self.queue], default=-1)

    def _effective_priority(self, req: RequestState) -> int:
        """Who outranks whom when blocks are short; a subclass may have it otherwise."""
        return self._policy.effective_priority(req)

    def _schedule_key(self, req: RequestState) -> Key:
        """Who goes first, smallest key first; a subclass may have it otherwise."""
        return self._policy.key(req, self.clock)

    def step(self) -> Event | None:
        """Serve one request one step and return its event; None if nobody can be served."""
        candidates = self._candidates()
        keys = list(map(self._schedule_key, candidates))
        policy = self._policy
        choice = choose(
            candidates, keys, self.ledger.free, self._effective_priority, policy.reserves
        )
        if choice is None:
            return None
        chosen, victim = choice
        if victim is not None:
            fire(victim, Trigger.PREEMPT, self.ledger)
        action = self._advance(chosen)
        for request in candidates:
            if request is not chosen:
                request.wait_steps += 1
        event = self._event(chosen, action, victim)
        self.timeline.append(event)
        self.clock += 1
        return event

    def _candidates(self) -> list[RequestState]:
        return [request for request in self.queue if request._state is not _FINISHED]

    def _advance(self, request: RequestState) -> str:
        """Admit if need be, then run the prefill or emit one token; the action's name."""
        phase, ledger = request._phase, self.ledger
        for move in _MOVES[request._state, phase]:
            make(move, request, ledger)
        if phase == "prefill":
            return PREFILL_TO_DECODE
        if not request.done:
            return DECODE_ONE_STEP
        fire(request, Trigger.FINISH, ledger)
        return FINISH

    def _event(self, chosen: RequestState, action: str, victim: RequestState | None) -> Event:
        return {
            "request_id": chosen.request_id,
            "phase": "prefill" if action == PREFILL_TO_DECODE else "decode",
            "action": action,
            "prompt_len": chosen.prompt_len,
            "generated_len": chosen.generated_len,
            "max_new_tokens": chosen.max_new_tokens,
            "wait_steps": chosen.wait_steps,
            "free_kv_blocks": self.ledger.free,
            "preempted_request_id": None if victim is None else victim.request_id,
            "deadline_missed": deadline_missed(chosen, self.clock),
        }

    def run(self, max_steps: int = 100) -> list[Event]:
        """Step until nobody can be served, at most `max_steps` times; the whole timeline."""
        for _ in range(whole_number("max_steps", max_steps, 0)):
            if self.step() is None:
                break
        return self.timeline

    def why(self) -> Why:
        """What the next step would do, and the reason for every candidate. Changes nothing."""
        candidates = self._candidates()
        keys = [self._schedule_key(request) for request in candidates]
        columns, free = self._key_columns(keys), self.ledger.free
        rank, reserves = self._effective_priority, self._policy.reserves
        return explain(columns, candidates, keys, free, rank, reserves)

    def _key_columns(self, keys: list[Key]) -> tuple[str, ...]:
        """Names for the parts of these keys; numbers where a subclass makes its own keys."""
        if getattr(self._schedule_key, "__func__", None) is DecodeSchedulerSim._schedule_key:
            return self._policy.columns
        return tuple(f"key[{i}]" for i in range(max(map(len, keys), default=0)))

    @property
    def is_done(self) -> bool:
        """Whether every request is finished (also when there is none)."""
        return all(request._state is State.FINISHED for request in self.queue)

    @property
    def is_stuck(self) -> bool:
        """Whether some request is unfinished and the next step can serve nobody."""
        return self.why().outcome == "stuck"

    def snapshot(self) -> Snapshot:
        """The state now; O(requests + events), and nothing in it ever changes."""
        rows = tuple(request.to_row() for request in self.queue)
        return Snapshot(self._policy, self.clock, self.ledger.free, rows, tuple(self.timeline))

    def restore(self, snapshot: Snapshot) -> None:
        """Go to that state, in place: the first requests of the queue stay the same objects."""
        del self.queue[len(snapshot.requests) :]
        for request, row in zip(self.queue, snapshot.requests, strict=False):
            request.load_row(row)
        for row in snapshot.requests[len(self.queue) :]:
            self.queue.append(self._request_of(row))
        self._policy, self.clock = snapshot.policy, snapshot.clock
        self.ledger.free = snapshot.free
        self.timeline[:] = snapshot.timeline

    def fork(self) -> DecodeSchedulerSim:
        """An independent scheduler in the same state, whatever a subclass added to it."""
        return copy.deepcopy(self)
