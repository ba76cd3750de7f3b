"""The exercise, solved: the one text that the skeleton, the answers and the judge are made from.

Rules.
1. What stands between `# [TODO n]` and `# [end]` is a learner's to write. The skeleton is this
   file without it, and the right methods that stand in for open ones are these.
2. The class has the names of the chapter's interface; the docstrings of the skeleton come from
   the message catalogue and replace those here.
3. Nothing here is clever: a learner may be shown any line of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

NO_DEADLINE = 1_000_000_000


@dataclass(eq=False)
class RequestState:
    """A request, and how far it is."""

    request_id: int
    prompt_len: int
    max_new_tokens: int
    generated_len: int = 0
    phase: str = "prefill"
    priority: int = 0
    cache_hit: bool = False
    wait_steps: int = 0
    required_blocks: int = 1
    admitted: bool = False
    deadline_step: int | None = None
    preemptible: bool = True
    status: str = "waiting"
    preemptions: int = 0

    @property
    def total_len(self) -> int:
        return self.prompt_len + self.generated_len

    @property
    def done(self) -> bool:
        return self.generated_len >= self.max_new_tokens


class DecodeSchedulerSim:
    """Serves one request a step over a pool of KV blocks."""

    def __init__(
        self,
        policy: str = "fixed_priority",
        free_kv_blocks: int = 1_000_000,
        aging_interval: int = 4,
    ) -> None:
        if policy not in ("fixed_priority", "aging", "deadline"):
            raise ValueError(f"policy must be fixed_priority, aging or deadline, got {policy!r}")
        if free_kv_blocks < 0:
            raise ValueError(f"free_kv_blocks must be at least 0, got {free_kv_blocks!r}")
        if aging_interval < 1:
            raise ValueError(f"aging_interval must be at least 1, got {aging_interval!r}")
        self.policy = policy
        self.free_kv_blocks = free_kv_blocks
        self.aging_interval = aging_interval
        self.clock = 0
        self.queue: list[RequestState] = []
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
        """Accept a request, or raise ValueError and change nothing."""
        if any(known.request_id == request_id for known in self.queue):
            raise ValueError(f"request_id {request_id!r} was used before")
        if prompt_len < 1 or max_new_tokens < 1 or required_blocks < 1:
            raise ValueError("prompt_len, max_new_tokens and required_blocks must be at least 1")
        if deadline_step is not None and deadline_step <= self.clock:
            raise ValueError(f"deadline_step must be after {self.clock}, got {deadline_step!r}")
        # [TODO 1]
        request = RequestState(
            request_id=request_id,
            prompt_len=prompt_len,
            max_new_tokens=max_new_tokens,
            priority=priority,
            cache_hit=cache_hit,
            required_blocks=required_blocks,
            deadline_step=deadline_step,
            preemptible=preemptible,
        )
        # [end]
        self.queue.append(request)

    def _effective_priority(self, request: RequestState) -> int:
        """The priority that counts: under aging, waiting raises it."""
        if self.policy == "aging":
            return request.priority + request.wait_steps // self.aging_interval
        return request.priority

    def _remaining_steps(self, request: RequestState) -> int:
        """The steps that the request still needs if it is served in each."""
        to_go = request.max_new_tokens - request.generated_len
        return to_go + 1 if request.phase == "prefill" else to_go

    def _schedule_key(self, request: RequestState) -> tuple[int, ...]:
        """What requests are sorted by: the smallest key is served first."""
        # [TODO 2]
        deadline_slack = NO_DEADLINE
        if self.policy == "deadline" and request.deadline_step is not None:
            remaining = self._remaining_steps(request)
            deadline_slack = request.deadline_step - self.clock - remaining
        # [end]
        phase_rank = 0 if request.phase == "prefill" else 1
        cache_rank = 0 if request.cache_hit else 1
        return (
            deadline_slack,
            phase_rank,
            cache_rank,
            -self._effective_priority(request),
            request.total_len,
            request.request_id,
        )

    def _ensure_capacity(self, challenger: RequestState) -> int | None:
        """Let the challenger have its blocks if that is possible; the id of who gave way."""
        # [TODO 3]
        victim = None
        if not challenger.admitted:
            if challenger.required_blocks > self.free_kv_blocks:
                victims = [
                    request
                    for request in self.queue
                    if request.admitted
                    and not request.done
                    and request.preemptible
                    and self._effective_priority(request) < self._effective_priority(challenger)
                    and self.free_kv_blocks + request.required_blocks >= challenger.required_blocks
                ]
                if not victims:
                    return None
                victim = min(
                    victims,
                    key=lambda request: (
                        self._effective_priority(request),
                        -request.required_blocks,
                        request.request_id,
                    ),
                )
                victim.admitted = False
                victim.status = "preempted"
                victim.preemptions += 1
                self.free_kv_blocks += victim.required_blocks
            self.free_kv_blocks -= challenger.required_blocks
            challenger.admitted = True
        challenger.status = "running"
        return None if victim is None else victim.request_id
        # [end]

    def step(self) -> dict[str, Any] | None:
        """Serve one request by one prefill or one token; None when nobody can be served."""
        candidates = [request for request in self.queue if not request.done]
        if not candidates:
            return None
        # [TODO 4]
        chosen = None
        preempted_request_id = None
        for request in sorted(candidates, key=self._schedule_key):
            preempted_request_id = self._ensure_capacity(request)
            if request.admitted:
                chosen = request
                break
        if chosen is None:
            return None
        for request in candidates:
            if request is not chosen:
                request.wait_steps += 1
        if chosen.phase == "prefill":
            chosen.phase = "decode"
            action = "prefill_to_decode"
        else:
            chosen.generated_len += 1
            action = "finish" if chosen.done else "decode_one_step"
        if chosen.done:
            chosen.admitted = False
            chosen.status = "finished"
            self.free_kv_blocks += chosen.required_blocks
        # [end]
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
            "preempted_request_id": preempted_request_id,
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
