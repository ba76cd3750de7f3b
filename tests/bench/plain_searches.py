"""Two plain searches of the same states, which the benchmark sets beside ours.

Over tuples: a re-write of the scheduler that judges one invariant, the least that Python can
do. Over copies: real objects, each a deep copy of the one before it, which is what one writes
first.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from schedmodel import DecodeSchedulerSim
from schedproof.search.exhaustive.scopes import Kind, Scope

Counts = tuple[int, int, int]
"""Distinct states, transitions and depth."""

WAITING, RUNNING, PREEMPTED, FINISHED = range(4)


def breadth_first(start: Any, key_of: Any, successors: Callable[[Any], Iterator[Any]]) -> Counts:
    """Level by level over whatever `successors` gives; `key_of` tells states apart."""
    seen, level = {key_of(start)}, [start]
    transitions = depth = 0
    while level:
        following: list[Any] = []
        for state in level:
            for after in successors(state):
                transitions += 1
                known = len(seen)
                seen.add(key_of(after))
                if len(seen) > known:
                    following.append(after)
        depth += bool(following)
        level = following
    return len(seen), transitions, depth


# Tuples: (free, clock, slot, slot, ...), a slot None or (kind, phase, tokens, status, wait,
# preemptions).


def tuples(scope: Scope, policy: str) -> Counts:
    """The same states as tuples, by a re-write of the step."""
    start = (scope.blocks, 0, *(None for _ in scope.slots))
    places = {kind: place for place, kind in enumerate(scope.kinds)}
    menus = [[(places[kind], 0, 0, WAITING, 0, 0) for kind in menu] for menu in scope.slots]
    step = stepper(scope, policy)

    def successors(state: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        work = False
        for slot, menu in enumerate(menus, start=2):
            if state[slot] is None:
                for request in menu:
                    yield (*state[:slot], request, *state[slot + 1 :])
            elif state[slot][3] != FINISHED:
                work = True
        if work:
            after = step(state)
            assert balanced(scope, after)
            yield after

    return breadth_first(start, lambda state: state, successors)


def balanced(scope: Scope, state: tuple[Any, ...]) -> bool:
    """The one invariant: free and held blocks make up the pool."""
    kinds = scope.kinds
    held = [kinds[r[0]].required_blocks for r in state[2:] if r is not None and r[3] == RUNNING]
    return bool(state[0] + sum(held) == scope.blocks)


def stepper(scope: Scope, policy: str) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """One step on a tuple, under that policy."""
    interval = scope.aging_interval if policy == "aging" else 10**9
    kinds: tuple[Kind, ...] = scope.kinds

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        waiting = []
        for slot, request in enumerate(state[2:], start=2):
            if request is not None and request[3] != FINISHED:
                kind = kinds[request[0]]
                rank = kind.priority + request[4] // interval
                length = kind.prompt_len + request[2]
                waiting.append((request[1], not kind.cache_hit, -rank, length, slot, kind))
        waiting.sort(key=lambda entry: entry[:5])
        for entry in waiting:
            slot, kind = entry[4], entry[5]
            if state[slot][3] == RUNNING or kind.required_blocks <= state[0]:
                return served(state, waiting, slot, kind, None)
            victim = victim_for(state, waiting, entry)
            if victim is not None:
                return served(state, waiting, slot, kind, victim)
        return state

    return step


def victim_for(state: tuple[Any, ...], waiting: list[Any], challenger: Any) -> int | None:
    """The slot of the least urgent running request that makes room, if one does."""
    needed = challenger[5].required_blocks - state[0]
    able = [
        (-entry[2], -entry[5].required_blocks, entry[4])
        for entry in waiting
        if state[entry[4]][3] == RUNNING
        and entry[5].preemptible
        and entry[2] > challenger[2]
        and entry[5].required_blocks >= needed
    ]
    return min(able)[2] if able else None


def served(
    state: tuple[Any, ...], waiting: list[Any], chosen: int, kind: Kind, victim: int | None
) -> tuple[Any, ...]:
    """The state after the chosen slot was served, perhaps with the victim's blocks."""
    after, free = list(state), state[0]
    for entry in waiting:
        slot = entry[4]
        item, phase, tokens, status, wait, preemptions = state[slot]
        if slot == victim:
            after[slot] = (item, phase, tokens, PREEMPTED, wait + 1, preemptions + 1)
            free += entry[5].required_blocks
        elif slot != chosen:
            after[slot] = (item, phase, tokens, status, wait + 1, preemptions)
    item, phase, tokens, status, wait, preemptions = state[chosen]
    free -= 0 if status == RUNNING else kind.required_blocks
    tokens += phase
    status = FINISHED if tokens == kind.max_new_tokens else RUNNING
    free += kind.required_blocks if status == FINISHED else 0
    after[chosen] = (item, 1, tokens, status, wait, preemptions)
    return (free, state[1] + 1, *after[2:])


# Copies of real objects.


def copies(scope: Scope, policy: str) -> Counts:
    """The same states as real schedulers, each a deep copy of the one before it."""
    start = DecodeSchedulerSim(policy, scope.blocks, scope.aging_interval)

    def successors(scheduler: Any) -> Iterator[Any]:
        used = {request.request_id for request in scheduler.queue}
        for slot, menu in enumerate(scope.slots):
            for kind in menu if slot not in used else ():
                after = copy.deepcopy(scheduler)
                after.enqueue(**kind.enqueue(slot, after.clock).arguments())
                yield after
        if not all(request.done for request in scheduler.queue):
            after = copy.deepcopy(scheduler)
            after.step()
            yield after

    return breadth_first(start, key_of_scheduler, successors)


def key_of_scheduler(scheduler: Any) -> tuple[Any, ...]:
    """Everything but the log and the order of the queue."""
    rows = (
        (r.request_id, r.prompt_len, r.priority, r.phase, r.generated_len, r.status, *counted(r))
        for r in scheduler.queue
    )
    return (scheduler.free_kv_blocks, scheduler.clock, *sorted(rows))


def counted(request: Any) -> tuple[int, int]:
    return request.wait_steps, request.preemptions
