"""How one step chooses: the first request in key order that can be given its blocks.

Rules.
1. Candidates are the unfinished requests, in the order of their keys.
2. A candidate is admissible if it holds its blocks already, or they are free, or one
   victim can be preempted for it. The first admissible candidate is chosen.
3. A victim holds blocks, is preemptible, is strictly less urgent than the challenger, and
   with its blocks the challenger fits. Among those: the lowest effective priority, then
   the most blocks, then the lowest id. There is never more than one.
4. Under a policy that reserves, the first candidate that is not admissible, but would fit
   the pool alone, keeps it for itself: of those behind it only holders of blocks are served.
5. Nothing here changes anything. The scheduler acts on the choice, and the same functions
   explain it afterwards, to people and to claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

from schedmodel.lifecycle import HOLDING
from schedmodel.policy import Key, Ranked
from schedmodel.request import RequestState


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
RankOfRequest = Callable[[RequestState], int]
Choice = tuple[RequestState, RequestState | None]
"""Who is served, and who is preempted for it."""

MANY = 64
"""From how many candidates on it pays to sort only those who can be asked."""


def fits(challenger: Candidate, free: int) -> bool:
    """Whether `challenger` needs no victim: it holds its blocks already, or they are free."""
    return challenger.required_blocks <= free or challenger.admitted


def pick_victim(challenger: C, holders: Sequence[C], free: int, rank: Rank[C]) -> C | None:
    """Who is preempted so that `challenger` fits, or None if nobody may be."""
    if not holders:
        return None
    missing, urgency = challenger.required_blocks - free, rank(challenger)
    victim, least = None, None
    for other in holders:
        if not other.preemptible or other.required_blocks < missing:
            continue
        weakness = rank(other)
        if weakness < urgency:
            place = (weakness, -other.required_blocks, other.request_id)
            if least is None or place < least:
                victim, least = other, place
    return victim


def first_admissible(
    ordered: Iterable[C], holders: Sequence[C], free: int, rank: Rank[C], reserves: bool
) -> tuple[C, C | None] | None:
    """The first admissible candidate and its victim (None: no need); None if there is none.

    `ordered` are the candidates in key order, at least down to the first of the `holders`.
    """
    walk = iter(ordered)
    for challenger in walk:
        if fits(challenger, free):
            return challenger, None
        victim = pick_victim(challenger, holders, free, rank)
        if victim is not None:
            return challenger, victim
        if reserves and fits_alone(challenger, holders, free):
            return next(((other, None) for other in walk if other.admitted), None)
    return None


def fits_alone(challenger: Candidate, holders: Sequence[Candidate], free: int) -> bool:
    """Whether `challenger` would fit if all holders gave their blocks back."""
    return challenger.required_blocks <= free + sum(h.required_blocks for h in holders)


def choose(
    candidates: list[RequestState],
    keys: list[Key],
    free: int,
    rank: RankOfRequest,
    reserves: bool = False,
) -> Choice | None:
    """The first admissible candidate and its victim (None: no need); None if there is none.

    `keys[i]` is the key of `candidates[i]`; equal keys go by the place in the queue.
    """
    if not candidates:
        return None
    first = candidates[keys.index(min(keys))]
    if first.required_blocks <= free or first._state in HOLDING:
        return first, None  # as in most steps: it fits, and nobody has to be put in order
    holders = [request for request in candidates if request._state in HOLDING]
    ordered = map(candidates.__getitem__, _in_key_order(candidates, keys))
    return first_admissible(ordered, holders, free, rank, reserves)


def _in_key_order(candidates: list[RequestState], keys: list[Key]) -> list[int]:
    """The places of the candidates, smallest key first, at least down to the first holder.

    A holder is admissible, so nobody behind the first one is ever asked; where there are
    many, finding out who that is costs less than sorting them.
    """
    places: Iterable[int] = range(len(keys))
    if len(keys) >= MANY:
        pairs = zip(keys, candidates, strict=True)
        held = [key for key, request in pairs if request._state in HOLDING]
        if held:
            least = min(held)
            places = [place for place, key in enumerate(keys) if key <= least]
    return sorted(places, key=keys.__getitem__)


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
    first that applies, in the order of `Obstacle`). `reserved_for` is the id of the request
    before it for which the pool is kept, None where none is: that reason comes first.
    """

    needs: int
    free: int
    effective_priority: int
    holders: tuple[Holder, ...]
    reserved_for: int | None = None


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
    if fits(challenger, free):
        return True, None
    victim = pick_victim(challenger, [r for r in requests if r.admitted], free, rank)
    return victim is not None, victim


def explain(
    columns: tuple[str, ...],
    candidates: list[RequestState],
    keys: list[Key],
    free: int,
    rank: RankOfRequest,
    reserves: bool = False,
) -> Why:
    """Why a step on these candidates serves whom it serves; takes what `choose` takes.

    Costs O(n^2) at worst: it is asked for when somebody wants to know, never on the way of
    a step.
    """
    chosen, victim = choose(candidates, keys, free, rank, reserves) or (None, None)
    holding = [request for request in candidates if request.admitted]
    ahead: Key | None = None
    keeper: int | None = None
    places: list[Place] = []
    for i in sorted(range(len(keys)), key=keys.__getitem__):
        request, key = candidates[i], keys[i]
        if ahead is not None:
            behind_at = _first_difference(key, ahead)
            places.append(Place(request.request_id, key, "behind", behind_at=behind_at))
        elif request is chosen:
            ahead = key
            places.append(Place(request.request_id, key, "chosen"))
        else:
            passed = _passed(request, holding, free, rank, keeper)
            places.append(Place(request.request_id, key, "passed", passed))
            if reserves and keeper is None and fits_alone(request, holding, free):
                keeper = request.request_id
    outcome = "serves" if chosen is not None else "stuck" if candidates else "done"
    return Why(outcome, columns, tuple(places), _id(chosen), _id(victim))


def _first_difference(key: Key, ahead: Key) -> int | None:
    """The first column in which two keys differ, None if they are equal."""
    pairs = enumerate(zip(key, ahead, strict=False))
    return next((column for column, (mine, theirs) in pairs if mine != theirs), None)


def _passed(
    challenger: RequestState,
    holding: list[RequestState],
    free: int,
    rank: RankOfRequest,
    keeper: int | None,
) -> Passed:
    holders = tuple(
        Holder(other.request_id, other.required_blocks, rank(other), why)
        for other in holding
        if (why := obstacle(challenger, other, free, rank)) is not None
    )
    return Passed(challenger.required_blocks, free, rank(challenger), holders, keeper)


def _id(request: RequestState | None) -> int | None:
    return None if request is None else request.request_id
