"""A decode scheduler in one plain file: no state machine, no helper modules.

Each step sorts every unfinished request, gives the next step to the first one that
already holds its blocks, fits the free ones, or can push one weaker request out, and
counts one wait for everybody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

POLICIES = ("fixed_priority", "aging", "deadline", "fcfs")
NO_DEADLINE = 1_000_000_000


@dataclass(eq=False)
class Request:
    """A request and how far it is; equal only to itself, so that the queue finds it fast."""

    request_id: int
    prompt_len: int
    max_new_tokens: int
    priority: int
    cache_hit: bool
    required_blocks: int
    deadline_step: int | None
    preemptible: bool
    phase: str = "prefill"
    generated_len: int = 0
    wait_steps: int = 0
    admitted: bool = False
    status: str = "waiting"
    preemptions: int = 0

    @property
    def total_len(self) -> int:
        return self.prompt_len + self.generated_len

    @property
    def done(self) -> bool:
        return self.generated_len >= self.max_new_tokens


class PlainScheduler:
    """Serves one request a step over a pool of KV blocks."""

    def __init__(
        self,
        policy: str = "fixed_priority",
        free_kv_blocks: int = 1_000_000,
        aging_interval: int = 4,
    ) -> None:
        if policy not in POLICIES:
            raise ValueError(f"policy must be one of {POLICIES}, got {policy!r}")
        if free_kv_blocks < 0:
            raise ValueError(f"free_kv_blocks must be at least 0, got {free_kv_blocks!r}")
        if aging_interval < 1:
            raise ValueError(f"aging_interval must be at least 1, got {aging_interval!r}")
        self.policy = policy
        self.free_kv_blocks = free_kv_blocks
        self.aging_interval = aging_interval
        self.clock = 0
        self.queue: list[Request] = []
        self.timeline: list[dict[str, Any]] = []

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
        """Put a new request at the end of the queue."""
        if any(request.request_id == request_id for request in self.queue):
            raise ValueError(f"request_id {request_id!r} was used before")
        if prompt_len < 1:
            raise ValueError(f"prompt_len must be at least 1, got {prompt_len!r}")
        if max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be at least 1, got {max_new_tokens!r}")
        if required_blocks < 1:
            raise ValueError(f"required_blocks must be at least 1, got {required_blocks!r}")
        if deadline_step is not None and deadline_step <= self.clock:
            raise ValueError(f"deadline_step must be after {self.clock}, got {deadline_step!r}")
        request = Request(
            request_id=request_id,
            prompt_len=prompt_len,
            max_new_tokens=max_new_tokens,
            priority=priority,
            cache_hit=cache_hit,
            required_blocks=required_blocks,
            deadline_step=deadline_step,
            preemptible=preemptible,
        )
        self.queue.append(request)

    def _effective_priority(self, request: Request) -> int:
        if self.policy == "fcfs":
            return 0
        if self.policy == "aging":
            return request.priority + request.wait_steps // self.aging_interval
        return request.priority

    def _remaining_steps(self, request: Request) -> int:
        to_go = request.max_new_tokens - request.generated_len
        return to_go + 1 if request.phase == "prefill" else to_go

    def _schedule_key(self, request: Request) -> tuple[int, ...]:
        if self.policy == "fcfs":
            return (self.queue.index(request),)
        slack = NO_DEADLINE
        if self.policy == "deadline" and request.deadline_step is not None:
            slack = request.deadline_step - self.clock - self._remaining_steps(request)
        return (
            slack,
            0 if request.phase == "prefill" else 1,
            0 if request.cache_hit else 1,
            -self._effective_priority(request),
            request.total_len,
            request.request_id,
        )

    def _find_victim(self, challenger: Request) -> Request | None:
        victims = [
            request
            for request in self.queue
            if request.admitted
            and request.preemptible
            and self._effective_priority(request) < self._effective_priority(challenger)
            and self.free_kv_blocks + request.required_blocks >= challenger.required_blocks
        ]
        victims.sort(key=lambda r: (self._effective_priority(r), -r.required_blocks, r.request_id))
        return victims[0] if victims else None

    def _preempt(self, victim: Request) -> None:
        victim.admitted = False
        victim.status = "preempted"
        victim.preemptions += 1
        self.free_kv_blocks += victim.required_blocks

    def _admit(self, request: Request) -> None:
        request.admitted = True
        request.status = "running"
        self.free_kv_blocks -= request.required_blocks

    def _finish(self, request: Request) -> None:
        request.admitted = False
        request.status = "finished"
        self.free_kv_blocks += request.required_blocks

    def _choose(self, candidates: list[Request]) -> tuple[Request | None, Request | None]:
        """Who is served, and who is preempted for it."""
        for request in sorted(candidates, key=self._schedule_key):
            if request.admitted or request.required_blocks <= self.free_kv_blocks:
                return request, None
            victim = self._find_victim(request)
            if victim is not None:
                return request, victim
        return None, None

    def _advance(self, request: Request) -> str:
        if request.phase == "prefill":
            request.phase = "decode"
            return "prefill_to_decode"
        request.generated_len += 1
        return "finish" if request.done else "decode_one_step"

    def step(self) -> dict[str, Any] | None:
        """Serve one request one step; None when nobody can be served."""
        candidates = [request for request in self.queue if not request.done]
        chosen, victim = self._choose(candidates)
        if chosen is None:
            return None
        if victim is not None:
            self._preempt(victim)
        if not chosen.admitted:
            self._admit(chosen)
        for request in candidates:
            if request is not chosen:
                request.wait_steps += 1
        action = self._advance(chosen)
        if chosen.done:
            self._finish(chosen)
        ends_at = self.clock + 1 + self._remaining_steps(chosen)
        event = {
            "request_id": chosen.request_id,
            "phase": "prefill" if action == "prefill_to_decode" else "decode",
            "action": action,
            "prompt_len": chosen.prompt_len,
            "generated_len": chosen.generated_len,
            "max_new_tokens": chosen.max_new_tokens,
            "wait_steps": chosen.wait_steps,
            "free_kv_blocks": self.free_kv_blocks,
            "preempted_request_id": None if victim is None else victim.request_id,
            "deadline_missed": chosen.deadline_step is not None and ends_at > chosen.deadline_step,
        }
        self.timeline.append(event)
        self.clock += 1
        return event

    def run(self, max_steps: int = 100) -> list[dict[str, Any]]:
        """Step until nobody can be served, at most `max_steps` times."""
        if max_steps < 0:
            raise ValueError(f"max_steps must be at least 0, got {max_steps!r}")
        for _ in range(max_steps):
            if self.step() is None:
                break
        return self.timeline
