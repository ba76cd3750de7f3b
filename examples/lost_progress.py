"""A decode scheduler with one wrong line, to see what `schedproof check` says about it.

The class is complete and stands alone: it imports nothing of schedproof. The wrong line is
in `preempt`, and its comment says so; take it out, and the scheduler is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

POLICIES = ("fixed_priority", "aging", "deadline", "fcfs")


@dataclass(eq=False)
class Request:
    """A request as it was submitted, and how far it is."""

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

    @property
    def steps_to_go(self) -> int:
        return self.max_new_tokens - self.generated_len + (self.phase == "prefill")


class LostProgress:
    """Serves one request a step. A preempted request loses its tokens: that is the fault."""

    def __init__(
        self,
        policy: str = "fixed_priority",
        free_kv_blocks: int = 1_000_000,
        aging_interval: int = 4,
    ) -> None:
        if policy not in POLICIES or free_kv_blocks < 0 or aging_interval < 1:
            raise ValueError("policy, free_kv_blocks or aging_interval is out of range")
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
        if any(request.request_id == request_id for request in self.queue):
            raise ValueError(f"request_id {request_id} was used before")
        if min(prompt_len, max_new_tokens, required_blocks) < 1:
            raise ValueError("prompt_len, max_new_tokens and required_blocks start at 1")
        if deadline_step is not None and deadline_step <= self.clock:
            raise ValueError(f"deadline_step must be later than {self.clock}")
        sizes = (request_id, prompt_len, max_new_tokens, priority, cache_hit, required_blocks)
        self.queue.append(Request(*sizes, deadline_step, preemptible))

    def urgency(self, request: Request) -> int:
        """The effective priority: a victim's is lower than the challenger's."""
        if self.policy == "fcfs":
            return 0
        waited = request.wait_steps // self.aging_interval if self.policy == "aging" else 0
        return request.priority + waited

    def key(self, request: Request) -> tuple[int, ...]:
        """Who comes first: the smallest key."""
        if self.policy == "fcfs":
            return (self.queue.index(request),)
        slack = 1_000_000_000
        if self.policy == "deadline" and request.deadline_step is not None:
            slack = request.deadline_step - self.clock - request.steps_to_go
        decoding, missed_cache = request.phase == "decode", not request.cache_hit
        last = (-self.urgency(request), request.total_len, request.request_id)
        return (slack, decoding, missed_cache, *last)

    def find_victim(self, challenger: Request) -> Request | None:
        """The least important request that makes enough room for the challenger."""
        victims = [
            other
            for other in self.queue
            if other.admitted
            and other.preemptible
            and self.urgency(other) < self.urgency(challenger)
            and self.free_kv_blocks + other.required_blocks >= challenger.required_blocks
        ]
        order = [(self.urgency(v), -v.required_blocks, v.request_id) for v in victims]
        return victims[order.index(min(order))] if victims else None

    def choose(self, candidates: list[Request]) -> tuple[Request | None, Request | None]:
        """Who is served, and who makes room for it."""
        for request in sorted(candidates, key=self.key):
            if request.admitted or request.required_blocks <= self.free_kv_blocks:
                return request, None
            victim = self.find_victim(request)
            if victim is not None:
                return request, victim
        return None, None

    def preempt(self, victim: Request) -> None:
        victim.admitted, victim.status = False, "preempted"
        victim.preemptions += 1
        victim.generated_len = 0  # the wrong line: a preemption takes blocks, not tokens
        self.free_kv_blocks += victim.required_blocks

    def serve(self, request: Request) -> str:
        """Run the prefill or generate one token; give the blocks back at the end."""
        if not request.admitted:
            request.admitted, request.status = True, "running"
            self.free_kv_blocks -= request.required_blocks
        if request.phase == "prefill":
            request.phase = "decode"
            return "prefill_to_decode"
        request.generated_len += 1
        if not request.done:
            return "decode_one_step"
        request.admitted, request.status = False, "finished"
        self.free_kv_blocks += request.required_blocks
        return "finish"

    def step(self) -> dict[str, Any] | None:
        candidates = [request for request in self.queue if not request.done]
        chosen, victim = self.choose(candidates)
        if chosen is None:
            return None
        if victim is not None:
            self.preempt(victim)
        for other in candidates:
            other.wait_steps += other is not chosen
        action = self.serve(chosen)
        self.clock += 1
        end, deadline = self.clock + chosen.steps_to_go, chosen.deadline_step
        event = {
            "request_id": chosen.request_id,
            "phase": "prefill" if action == "prefill_to_decode" else "decode",
            "action": action,
            "prompt_len": chosen.prompt_len,
            "generated_len": chosen.generated_len,
            "max_new_tokens": chosen.max_new_tokens,
            "wait_steps": chosen.wait_steps,
            "free_kv_blocks": self.free_kv_blocks,
            "preempted_request_id": victim.request_id if victim else None,
            "deadline_missed": deadline is not None and end > deadline,
        }
        self.timeline.append(event)
        return event
