"""The adapter for our own paged scheduler, and for each of ours with a fault in it.

Rules. It is led as every engine is. Requests are known by the order of their arrival and not by
their ids, which may be used again. Its whole state is plain objects, so it can be frozen.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any, ClassVar

from schedmodel.lifecycle import State
from schedmodel.paged import PagedScheduler
from schedproof.engines.adapter import (
    FINISHED,
    RUNNING,
    WAITING,
    EngineAdapter,
    Pool,
    Request,
    Seen,
    Setup,
    Work,
)

STEPS_IN_FLIGHT = 2


class PagedModel(EngineAdapter):
    """A paged scheduler of ours; `policy` is one of its own."""

    name = "model:paged"
    chunked_prefill = True
    seats_per_step = False
    can_abort = True
    keeps_order = True
    uses_priority: ClassVar[bool] = True
    steps_in_flight: ClassVar[int] = STEPS_IN_FLIGHT
    reuses_ids: ClassVar[bool] = True
    exact_admission: ClassVar[bool] = True
    rejects: ClassVar[bool] = True

    def __init__(self, policy: str = "fcfs", scheduler: type[Any] = PagedScheduler) -> None:
        self.policy = policy
        self.scheduler = scheduler

    def start(self, setup: Setup) -> None:
        self.engine = self.scheduler(self.policy, *setup)
        self._ids: list[int] = []  # by arrival
        self._known_as: dict[int, int] = {}
        self._objects: list[Any] = []

    def add(self, request: Request) -> None:
        known_as = request.request_id
        if request.reuses is not None:
            known_as = self._known_as[request.reuses]
        rejected = self.engine.enqueue(
            known_as, list(request.token_ids), request.max_new_tokens, request.priority
        )
        self._known_as[request.request_id] = known_as
        self._ids.append(request.request_id)
        self._objects.append(self.engine.requests[known_as])
        self.rejected = None if rejected is None else tuple(rejected)

    def abort(self, request_id: int) -> None:
        self.engine.abort(self._known_as[request_id])

    def schedule(self) -> Sequence[Work]:
        ids, step = self._ids, self.engine.schedule()
        self.preempted = [ids[request.arrival] for request in step.preempted]
        return [
            Work(ids[grant.request.arrival], grant.start, grant.end, grant.block_ids)
            for grant in step.grants
        ]

    def deliver(self, tokens: Mapping[int, int]) -> None:
        step = self.engine.in_flight[0]
        known_as = self._known_as
        self.engine.deliver(step, {known_as[i]: token for i, token in tokens.items()})

    def requests(self) -> Mapping[int, Seen]:
        engine = self.engine
        queued = {request.arrival: WAITING for request in engine.waiting}
        queued.update({request.arrival: RUNNING for request in engine.running})
        seen: dict[int, Seen] = {}
        for arrival, request in enumerate(self._objects):
            finished = request._state is State.FINISHED
            status = FINISHED if finished else queued.get(arrival)
            if status is not None:
                counters = (("computed", request.computed_len), ("cached", request.cached_len))
                seen[self._ids[arrival]] = Seen(
                    status,
                    request.block_ids,
                    request.token_ids[request.prompt_len :],
                    () if finished else counters,
                    None if finished else request.expected,
                )
        return seen

    def pool(self) -> Pool:
        engine, ids = self.engine, self._ids
        return Pool(
            engine.pool.free_ids,
            [ids[request.arrival] for request in engine.running],
            [ids[request.arrival] for request in engine.waiting],
            engine.pool.references,
        )

    def takes(self, setup: Setup, request: Request) -> bool:
        """All: what can never fit is rejected."""
        return True

    def preemptions_max(self, setup: Setup) -> int:
        """Between two tokens everybody gives way once at most for each step in flight."""
        return setup.max_num_seqs * self.steps_in_flight

    def frozen(self) -> bytes:
        return pickle.dumps((self.engine, self._ids, self._known_as, self._objects), protocol=5)

    def thaw(self, state: bytes) -> None:
        self.engine, self._ids, self._known_as, self._objects = pickle.loads(state)
        for (
            request
        ) in self._objects:  # the same texts as in the code, so that bytes can be compared
            request._phase = intern(request._phase)
            request.finish_reason = request.finish_reason and intern(request.finish_reason)
        self.engine.policy = intern(self.engine.policy)
