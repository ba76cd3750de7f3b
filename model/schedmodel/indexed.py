"""The same scheduler with an index: a step costs O(log n), not O(n log n).

The plain scheduler sorts all unfinished requests in every step. This one keeps them in
order, and its events are the same; that they are is proved by the searches and scripts of
this project, see `tests/conformance/test_indexed.py`.

Rules.
1. A wait is not counted up step by step: a request knows since which clock value it would
   have had to wait without a break to have waited this long. Being served moves that by one.
2. So nothing changes with time but what the clock changes for all alike. Two requests keep
   their order until one of them is served, if both have a deadline under deadline, or
   neither has; and under aging if their waits pass the multiples of the interval together.
   These are the shelves (see `Sorting.shelf`). The order on a shelf is that of the policy's
   own keys, taken as if the clock were 0.
3. Holders of blocks are all admissible, so the first of them is the least of the least of
   the shelves. `waiting` finds the first admissible request without blocks.
4. Fields may be assigned between steps, as in the plain scheduler. The order is then made
   anew, which costs O(n log n) once.
5. Without a history (`keep_history=False`) events and finished requests are not kept, so
   that memory is in proportion to the unfinished requests; an id may then be used again
   when its request has finished.

`why` sorts all candidates, here too. Requests come in by `enqueue` only.
"""

from __future__ import annotations

from typing import Any

from schedmodel.event import FINISH, Event
from schedmodel.indexing import Holders, Waiting
from schedmodel.lifecycle import HOLDING, State, Trigger, fire
from schedmodel.request import RequestState
from schedmodel.scheduler import DecodeSchedulerSim, Snapshot
from schedmodel.sorting import Sorting, Ticks

SPARE = 64
"""So many finished requests may stay in the queue of a scheduler without a history."""


class IndexedRequest(RequestState):
    """A request whose wait is worked out from the clock."""

    __slots__ = ("_since", "_ticks")
    _since: int
    _ticks: Ticks

    def __init__(self, ticks: Ticks, *values: Any, **fields: Any) -> None:
        object.__setattr__(self, "_ticks", ticks)
        super().__init__(*values, **fields)

    @property
    def wait_steps(self) -> int:  # a slot in the plain request
        """Steps that it was passed over in; may be assigned."""
        if self._state is State.FINISHED:
            return self._since
        return self._ticks.now - self._since

    @wait_steps.setter
    def wait_steps(self, steps: int) -> None:
        finished = getattr(self, "_state", None) is State.FINISHED
        self._since = steps if finished else self._ticks.now - steps

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        self._ticks.assigned = True

    def __getstate__(self) -> tuple[Ticks, tuple[object, ...]]:
        return self._ticks, self.to_row()

    def __setstate__(self, state: tuple[Ticks, tuple[object, ...]]) -> None:
        object.__setattr__(self, "_ticks", state[0])
        self.load_row(state[1])


set_since: Any = IndexedRequest.__dict__["_since"].__set__
"""Assigns without anybody being told."""


class Index:
    """All unfinished requests that fit the pool, in order.

    All are equal: an index holds nothing but what the requests say, put in order.
    """

    def __init__(self, sorting: Sorting, capacity: int) -> None:
        self._capacity = capacity
        self._requests: dict[int, RequestState] = {}
        self._holders = Holders(sorting, self._requests)
        self._waiting = Waiting(sorting, self._requests, self._holders)
        self.choose = self._waiting.choose

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index)

    def __hash__(self) -> int:
        return hash(Index)

    def add(self, request: RequestState) -> None:
        """Take in a request as it stands."""
        if request.required_blocks > self._capacity:
            return
        self._requests[request.request_id] = request
        if request.admitted:
            self._holders.place(request, newcomer=True)
        else:
            self._waiting.place(request)
        self._waiting.changes += 1

    def preempted(self, victim: RequestState) -> None:
        self._holders.remove(victim.request_id)
        self._waiting.place(victim)

    def served(self, request: RequestState, was_waiting: bool, finished: bool) -> None:
        """Put the request that was served where it belongs now."""
        if was_waiting:
            self._waiting.remove(request.request_id)
        if not finished or was_waiting:
            joined = self._holders.place(request, newcomer=was_waiting)
            if joined is not None:
                self._waiting.joined(joined)
        if finished:
            self._holders.remove(request.request_id)
            del self._requests[request.request_id]
        if was_waiting or finished:
            self._waiting.changes += 1


class IndexedSchedulerSim(DecodeSchedulerSim):
    """`DecodeSchedulerSim` with an index; see there for what the arguments mean.

    `keep_history` says whether `timeline` and finished requests in `queue` are kept.
    """

    def __init__(
        self,
        policy: str = "fixed_priority",
        free_kv_blocks: int = 1_000_000,
        aging_interval: int = 4,
        keep_history: bool = True,
    ) -> None:
        self._ticks = Ticks()
        self._keeps = keep_history
        self._used: set[int] = set()
        self._arrived = 0
        self._finished = 0
        super().__init__(policy, free_kv_blocks, aging_interval)
        self._make_index()

    @property
    def clock(self) -> int:
        """The number of steps that served somebody."""
        return self._ticks.now

    @clock.setter
    def clock(self, steps: int) -> None:
        self._ticks.now = steps
        self._ticks.assigned = True

    def _was_used(self, request_id: int) -> bool:
        return request_id in self._used

    def _new_request(self, *fields: Any) -> RequestState:
        return IndexedRequest(self._ticks, *fields)

    def _request_of(self, row: tuple[Any, ...]) -> RequestState:
        request = IndexedRequest.__new__(IndexedRequest)
        request.__setstate__((self._ticks, row))
        return request

    def _next_arrival_index(self) -> int:
        return self._arrived

    def enqueue(self, request_id: int, *fields: Any, **named: Any) -> None:
        """Accept a request, as `DecodeSchedulerSim.enqueue` does."""
        assigned = self._ticks.assigned
        try:
            super().enqueue(request_id, *fields, **named)
        finally:
            self._ticks.assigned = assigned  # a request that is being made assigns its fields
        self._arrived += 1
        self._used.add(request_id)
        self._index.add(self.queue[-1])

    def step(self) -> Event | None:
        """Serve one request one step and return its event; None if nobody can be served."""
        ticks = self._ticks
        if ticks.assigned or self._indexed_for is not self._policy:
            self._make_index()
        choice = self._index.choose(self.ledger.free)
        if choice is None:
            return None
        chosen, victim = choice
        if victim is not None:
            fire(victim, Trigger.PREEMPT, self.ledger)
            self._index.preempted(victim)
        waited, was_waiting = chosen.wait_steps, chosen._state not in HOLDING
        action = self._advance(chosen)
        finished = action == FINISH
        if finished:
            set_since(chosen, waited)  # it no longer counts with the clock
            event = self._event(chosen, action, victim)
        else:
            event = self._event(chosen, action, victim)
            set_since(chosen, ticks.now + 1 - waited)  # the clock goes on, its wait does not
        self._index.served(chosen, was_waiting, finished)
        ticks.now += 1
        ticks.assigned = False
        self._remember(event, chosen)
        return event

    def _remember(self, event: Event, served: RequestState) -> None:
        if self._keeps:
            self.timeline.append(event)
        elif served._state is State.FINISHED:
            self._used.discard(served.request_id)
            self._finished += 1
            if self._finished > len(self.queue) // 2 + SPARE:
                self.queue[:] = self._candidates()
                self._finished = 0

    def _make_index(self) -> None:
        self._index = Index(Sorting(self._policy, self._ticks), self.ledger.capacity)
        for request in self._candidates():
            self._index.add(request)
        self._arrived = super()._next_arrival_index()
        self._used = {request.request_id for request in self.queue}
        self._indexed_for, self._ticks.assigned = self._policy, False

    def restore(self, snapshot: Snapshot) -> None:
        """Go to that state, in place: the first requests of the queue stay the same objects."""
        self.clock = snapshot.clock
        super().restore(snapshot)
        self._make_index()
