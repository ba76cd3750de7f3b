"""One policy over one workload: the chapter's single-step scheduler, or batches over pages.

Rules.
1. All policies get the same requests at the same steps. A request comes in at the first step
   that begins when it is there; steps in which nobody is there are passed at once.
2. Single-step: the chapter's scheduler with an index (`schedmodel.indexed`). A step is one
   prefill or one token, of one request. A prefill emits no token.
3. Batched: our paged scheduler (`schedmodel.paged`), each step delivered before the next is
   decided. Prompts are computed in parts, blocks grow and are shared where prompts are known to
   begin alike, a preempted request computes again what is not found any more. The end of a
   prompt emits the first token.
4. Who can never fit is rejected when it comes. Runs go on until everybody else is finished,
   or until a simulated time where one is given: who is not finished by then is unfinished.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from schedmodel.batch import BATCH_POLICIES
from schedmodel.event import FINISH
from schedmodel.indexed import IndexedSchedulerSim
from schedmodel.policy import KNOWN_POLICIES
from schedproof.compare.paging import Naming, SimulatedPagedScheduler
from schedproof.compare.record import NO_BLOCKS, NO_TOKENS, Record
from schedproof.compare.workload import NO_DEADLINE, Workload

Progress = Callable[[dict[str, object]], None]
TELL_EVERY = 256


def policies_of(batch: int) -> tuple[str, ...]:
    """The policies that there are for that many requests at a time."""
    return tuple(KNOWN_POLICIES) if batch == 1 else BATCH_POLICIES


def simulate(
    workload: Workload, policy: str, progress: Progress, until: float | None = None
) -> Record:
    """Run one policy over all requests."""
    began = time.perf_counter()
    setup = workload.setup
    record = Record(policy, len(workload))
    last = None if until is None else int(until / setup.step)
    run = SingleStep if setup.batch == 1 else Batches
    run(workload, policy, record).run(progress, last)
    record.seconds = time.perf_counter() - began
    return record


class Run:
    """What both kinds of run share: arrivals, the clock, and telling how far it is."""

    def __init__(self, workload: Workload, record: Record) -> None:
        self.workload, self.record = workload, record
        self.now = 0
        self.arrived = 0
        self.waiting = 0
        self.done = 0

    def enqueue(self, place: int) -> int | None:
        """Hand the request in; the end it comes to if it is rejected."""
        raise NotImplementedError

    def step(self) -> bool:
        """Take a step; False if nobody is there."""
        raise NotImplementedError

    def held_blocks(self) -> int:
        raise NotImplementedError

    def run(self, progress: Progress, last: int | None) -> None:
        """Step until all have come and nobody is left, or until step number `last`."""
        count, record = len(self.workload), self.record
        told, waiting, held, here = -TELL_EVERY, -1, 0, 0
        coming = self.workload.first_step(0)
        while last is None or self.now < last:
            while self.arrived < count and coming <= self.now:
                self._arrive()
                coming = self.workload.first_step(self.arrived) if self.arrived < count else 0
            if self.step():
                record.steps += 1
                here, self.now = self.now, self.now + 1
            elif self.arrived >= count:
                break
            else:
                here, self.now = self.now, coming if last is None else min(coming, last)
            if self.waiting != waiting or self.held_blocks() != held:
                waiting, held = self.waiting, self.held_blocks()
                record.draw(here, waiting, held)
            if self.done - told >= TELL_EVERY:
                told = self.done
                progress({"policy": record.policy, "done": told, "of": count})
        if waiting >= 0:
            record.draw(here, waiting, held)
        record.end_step, record.arrived = self.now, self.arrived
        progress({"policy": record.policy, "done": count, "of": count})

    def _arrive(self) -> None:
        place = self.arrived
        self.arrived += 1
        end = self.enqueue(place)
        if end is None:
            self.waiting += 1
        else:
            self.record.rejected(place, end)
            self.done += 1

    def serve(self, place: int, token: bool, finished: bool) -> bool:
        """Write down what a request got in this step; whether it had no blocks before."""
        record = self.record
        came_in = record.served(place, self.now)
        if came_in:
            self.waiting -= 1
        if token:
            record.emitted(place, self.now)
        if finished:
            record.finished(place)
            self.done += 1
        return came_in

    def preempt(self, place: int) -> None:
        self.record.preempted(place, self.now)
        self.waiting += 1


class SingleStep(Run):
    """The chapter's scheduler: one request a step."""

    def __init__(self, workload: Workload, policy: str, record: Record) -> None:
        super().__init__(workload, record)
        setup = workload.setup
        interval = setup.aging_interval
        self._sim = IndexedSchedulerSim(policy, setup.blocks, interval, keep_history=False)
        self._ledger = self._sim.ledger

    def enqueue(self, place: int) -> int | None:
        workload, setup, sim = self.workload, self.workload.setup, self._sim
        blocks = workload.blocks(place)
        if blocks > setup.blocks:
            return NO_BLOCKS
        deadline = workload.deadlines[place]
        steps_left = int(deadline / setup.step) - self.now
        sim.enqueue(
            place,
            workload.trace.prompts[place],
            workload.trace.outputs[place],
            workload.priorities[place],
            bool(workload.trace.hits[place]),
            blocks,
            None if deadline == NO_DEADLINE else sim.clock + max(1, steps_left),
        )
        return None

    def step(self) -> bool:
        event = self._sim.step()
        if event is None:
            return False
        victim = event["preempted_request_id"]
        if victim is not None:
            self.preempt(victim)
        is_token = event["phase"] == "decode"
        self.serve(event["request_id"], is_token, event["action"] == FINISH)
        return True

    def held_blocks(self) -> int:
        return self._ledger.capacity - self._ledger.free


class Batches(Run):
    """The paged scheduler: up to `batch` requests a step."""

    def __init__(self, workload: Workload, policy: str, record: Record) -> None:
        super().__init__(workload, record)
        setup = workload.setup
        self._sim = SimulatedPagedScheduler(
            policy, setup.blocks, setup.block_size, setup.batch, setup.token_budget
        )
        self._naming = Naming(workload)
        record.found_tokens = 0

    def enqueue(self, place: int) -> int | None:
        trace = self.workload.trace
        rejection = self._sim.enqueue(
            place, self._naming.prompt(place), trace.outputs[place], self.workload.priorities[place]
        )
        if rejection is None:
            return None
        del self._sim.requests[place]  # what has ended is not looked at again
        return NO_BLOCKS if rejection.reason == "blocks" else NO_TOKENS

    def step(self) -> bool:
        sim, token = self._sim, self._naming.token
        step = sim.schedule()
        for victim in step.preempted:
            self.preempt(victim.request_id)
        if not step.grants:
            return bool(step.preempted)
        emitted = {
            grant.request.request_id: token(grant.request.request_id, grant.end)
            for grant in step.grants
            if grant.emits
        }
        finished = set(sim.deliver(step, emitted))
        for grant in step.grants:
            place = grant.request.request_id
            if self.serve(place, grant.emits, place in finished):
                self.record.found(grant.request.cached_len)
        for place in finished:
            del sim.requests[place]
        return True

    def held_blocks(self) -> int:
        return self.workload.setup.blocks - len(self._sim.pool.free_ids)
