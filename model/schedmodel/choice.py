"""How one step chooses: the first request in key order that can be given its blocks.

Rules.
1. Candidates are the unfinished requests, in the order of their keys.
2. A candidate is admissible if it holds its blocks already, or they are free, or one
   victim can be preempted for it. The first admissible candidate is chosen.
3. A victim holds blocks, is preemptible, is strictly less urgent than the challenger, and
   with its blocks the challenger fits. Among those: the lowest effective priority, then
   the most blocks, then the lowest id. There is never more than one.
4. Nothing here changes anything. The scheduler acts on the choice, and the same functions
   explain it afterwards, to people and to claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

from schedmodel.policy import Key, Policy, Ranked


class Candidate(Ranked, Protocol):
    """What choosing reads of a request beside its rank."""

    @property
    def admitted(self) -> bool: ...
    @property
    def done(self) -> bool: ...
    @property
    def preemptible(self) -> bool: ...
    @property
    def required_blocks(self) -> int: ...


C = TypeVar("C", bound=Candidate)
Rank = Callable[[C], int]


def in_key_order(candidates: list[C], keys: list[Key]) -> Iterator[C]:
    """Smallest key first; the rest is sorted only when somebody asks beyond the first.

    `keys[i]` is the key of `candidates[i]`.
    """
    if candidates:
        yield candidates[keys.index(min(keys))]
        for i in sorted(range(len(keys)), key=keys.__getitem__)[1:]:
            yield candidates[i]


def pick_victim(challenger: C, holders: Iterable[C], free: int, rank: Rank[C]) -> C | None:
    """Who is preempted so that `challenger` fits, or None if nobody may be."""
    urgency = rank(challenger)
    missing = challenger.required_blocks - free
    eligible = [
        other
        for other in holders
        if other.preemptible and other.required_blocks >= missing and rank(other) < urgency
    ]
    if not eligible:
        return None
    return min(eligible, key=lambda o: (rank(o), -o.required_blocks, o.request_id))


class Obstacle(str, Enum):
    """Why one holder of blocks could not be preempted for a challenger."""

    NOT_PREEMPTIBLE = "not_preemptible"
    NOT_LESS_URGENT = "not_less_urgent"
    TOO_SMALL = "too_small"

    __str__ = str.__str__


@dataclass(frozen=True)
class Holder:
    """A request that holds blocks a challenger would need, and why it keeps them."""

    request_id: int
    held_blocks: int
    effective_priority: int
    obstacle: Obstacle


@dataclass(frozen=True)
class Passed:
    """Why a candidate before the chosen one could not be served.

    `needs` and `free` in KV blocks; `holders` in queue order, one obstacle each (the
    first that applies, in the order of `Obstacle`).
    """

    needs: int
    free: int
    effective_priority: int
    holders: tuple[Holder, ...]


@dataclass(frozen=True)
class Place:
    """One candidate in the order of a step: its key, and why it was passed over if it was.

    `outcome` is "chosen", "passed" (before the chosen one, `passed` says why) or "behind"
    (after it; `behind_at` is the first column in which its key is larger, None if the keys
    are equal, which takes requests that were put into the queue by hand).
    """

    request_id: int
    key: Key
    outcome: str
    passed: Passed | None = None
    behind_at: int | None = None


@dataclass(frozen=True)
class Why:
    """What a step does from here, and why.

    `outcome` is "serves", "done" (every request is finished) or "stuck" (there are
    unfinished requests and none is admissible). `columns` names the parts of a key.
    """

    outcome: str
    columns: tuple[str, ...]
    places: tuple[Place, ...]
    chosen: int | None = None
    victim: int | None = None


def obstacle(challenger: C, holder: C, free: int, rank: Rank[C]) -> Obstacle | None:
    """The first reason that protects `holder` from `challenger`, None if there is none."""
    if not holder.preemptible:
        return Obstacle.NOT_PREEMPTIBLE
    if rank(holder) >= rank(challenger):
        return Obstacle.NOT_LESS_URGENT
    if free + holder.required_blocks < challenger.required_blocks:
        return Obstacle.TOO_SMALL
    return None


def admission(
    challenger: C, requests: Sequence[C], free: int, rank: Rank[C]
) -> tuple[bool, C | None]:
    """Whether `challenger` is admissible, and the victim that makes it so (None: no need)."""
    if challenger.admitted or challenger.required_blocks <= free:
        return True, None
    victim = pick_victim(challenger, [r for r in requests if r.admitted], free, rank)
    return victim is not None, victim


def explain(policy: Policy, requests: Sequence[C], free: int, clock: int) -> Why:
    """Why the next step on these requests serves whom it serves.

    `requests` in queue order, finished ones allowed. Costs O(n^2) at worst: it is asked
    for when somebody wants to know, never on the way of a step.
    """

    def key_of(request: C) -> Key:
        return policy.key(request, clock)

    order = sorted((r for r in requests if not r.done), key=key_of)
    places: list[Place] = []
    chosen: C | None = None
    victim: C | None = None
    for request in order:
        key = key_of(request)
        if chosen is not None:
            ahead = key_of(chosen)
            differing = (
                i for i, (mine, theirs) in enumerate(zip(key, ahead, strict=True)) if mine != theirs
            )
            at = next(differing, None)
            places.append(Place(request.request_id, key, "behind", behind_at=at))
            continue
        admissible, victim = admission(request, requests, free, policy.effective_priority)
        if admissible:
            chosen = request
            places.append(Place(request.request_id, key, "chosen"))
        else:
            passed = _passed(policy, request, requests, free)
            places.append(Place(request.request_id, key, "passed", passed=passed))
    outcome = "serves" if chosen is not None else "stuck" if order else "done"
    return Why(outcome, policy.columns, tuple(places), _id(chosen), _id(victim))


def _passed(policy: Policy, challenger: C, requests: Sequence[C], free: int) -> Passed:
    rank = policy.effective_priority
    holders = tuple(
        Holder(other.request_id, other.required_blocks, rank(other), why)
        for other in requests
        if other.admitted and (why := obstacle(challenger, other, free, rank)) is not None
    )
    return Passed(challenger.required_blocks, free, rank(challenger), holders)


def _id(request: Candidate | None) -> int | None:
    return None if request is None else request.request_id
