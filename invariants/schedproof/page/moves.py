"""Which edges of the lifecycle a request took, read off its state before and after an action.

Rules.
1. The way between two states is the shortest run of edges that the lifecycle has, with the
   saved phase deciding where an admitted request goes on, and an end without a token in the
   same action being an abort or a rejection.
2. A token that was emitted is an edge of its own, from decode to decode; so are blocks that
   a running request got in addition.
3. Where no edges lead there, the jump itself is told, and told to be none of the table's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from schedmodel.lifecycle import (
    MOVES,
    Move,
    State,
    Trigger,
    saved_phase_is_decode,
    saved_phase_is_prefill,
)

BORN = ""
"""Stands for the state of a request that is not there yet."""

_LAST_RESORT = frozenset({Trigger.ABORT, Trigger.REJECT})
_BY_PHASE = (saved_phase_is_prefill, saved_phase_is_decode)


@dataclass(frozen=True)
class Way:
    """The states that a request went through, from the old one to the new one."""

    states: tuple[str, ...]
    legal: bool = True


def way_between(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Way | None:
    """The way of one request in one action; None where it went nowhere."""
    new = after.get("state")
    if new is None:
        return None
    if before is None:
        waiting, finished = State.WAITING.value, State.FINISHED.value
        if new == finished:  # rejected on arrival
            return Way((BORN, waiting, finished))
        return Way((BORN, new), legal=new == waiting)
    old = before.get("state")
    if old is None:
        return None
    emitted = _generated(after) > _generated(before)
    if old == new:
        stays = (emitted and new == State.DECODE.value) or _grew(before, after)
        return Way((old, new)) if stays else None
    states = _path(State(old), State(new), before, emitted)
    return Way((old, new), legal=False) if states is None else Way(states)


def _generated(fields: Mapping[str, Any]) -> int:
    return _number(fields, "generated_len")


def _grew(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return _number(after, "held_blocks") > _number(before, "held_blocks") > 0


def _number(fields: Mapping[str, Any], name: str) -> int:
    value = fields.get(name)
    return value if type(value) is int else 0


def _path(
    old: State, new: State, before: Mapping[str, Any], emitted: bool
) -> tuple[str, ...] | None:
    request = SimpleNamespace(_phase=before.get("phase"))
    usual = frozenset(Trigger) - _LAST_RESORT
    for allowed in (usual if emitted else usual - {Trigger.FINISH}, frozenset(Trigger)):
        found = _shortest(old, new, request, allowed)
        if found is not None:
            return _with_token(found) if emitted else found
    return None


def _shortest(
    old: State, new: State, request: SimpleNamespace, allowed: frozenset[Trigger]
) -> tuple[str, ...] | None:
    """Breadth first over the edges of the lifecycle."""
    ways: deque[tuple[State, ...]] = deque([(old,)])
    seen = {old}
    while ways:
        way = ways.popleft()
        if way[-1] is new:
            return tuple(state.value for state in way)
        moves = (move for move in MOVES.values() if move.source is way[-1])
        for move in moves:
            if move.dest not in seen and move.trigger in allowed and _open(move, request):
                seen.add(move.dest)
                ways.append((*way, move.dest))
    return None


def _open(move: Move, request: SimpleNamespace) -> bool:
    """Whether the saved phase lets the request take this edge."""
    return all(guard(request, None) for guard in move.guards if guard in _BY_PHASE)  # type: ignore[arg-type]


def _with_token(states: tuple[str, ...]) -> tuple[str, ...]:
    """The way with the token's own edge behind the first arrival in decode."""
    decode = State.DECODE.value
    if decode not in states:
        return states
    place = states.index(decode) + 1
    return (*states[:place], decode, *states[place:])
