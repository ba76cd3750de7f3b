"""Among traces of one length the plainest: few requests, small numbers, nothing unusual.

Rules.
1. Only what keeps the trace as it is counts as the same: the same claim, first told and in
   the same words, the same fields guilty, the same other claims broken, the same length.
2. First a request is left out and a step taken instead, then requests arrive as late as they
   can, with a priority above the others if that lets them come later. Then numbers are made
   smaller and flags usual, one at a time, until nothing can be made plainer. Who outranks whom
   stays: a reader should not have to find out how a tie is broken.
3. A trace that was proved shortest stays so: it is as long as before, and nothing shorter
   breaks the claim within the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from schedproof.search.again import Again, OutOfBudget
from schedproof.search.session import Violation
from schedproof.subjects.actions import STEP, Action, EngineEnqueue, Enqueue
from schedproof.subjects.contract import Config

SHORT = 12
"""Up to this length it is tried to do with fewer requests."""
ROUNDS_MAX = 3
_USUAL: dict[str, tuple[Any, ...]] = {
    "deadline_step": (None,),
    "cache_hit": (False,),
    "preemptible": (True,),
    "prompt_len": (1, 2),
    "max_new_tokens": (1, 2, 3),
    "required_blocks": (1, 2, 3),
    "priority": (0, 1, 2),
}


def smallest(again: Again, actions: Sequence[Action], config: Config) -> Violation | None:
    """The plainest trace found; None if these actions break nothing."""
    best = again.violation(actions, config)
    if best is None or best.edge is None:
        return best
    try:
        for _ in range(ROUNDS_MAX):
            before = best
            for candidate in _fewer_requests(best.actions):
                best = _if_the_same(again, best, candidate, config) or best
            for place in range(1, len(best.actions) - 2):
                best = _arriving_later(again, best, place, config)
            best = _plainer(again, best, config)
            if best is before:
                break
    except OutOfBudget:
        pass
    return best


def _fewer_requests(actions: Sequence[Action]) -> Iterator[list[Action]]:
    if len(actions) > SHORT:
        return
    for place, action in enumerate(actions[:-1]):
        if isinstance(action, Enqueue):
            rest = [*actions[:place], *actions[place + 1 :]]
            for step in range(1, len(rest)):
                yield [*rest[:step], STEP, *rest[step:]]


def _arriving_later(again: Again, best: Violation, place: int, config: Config) -> Violation:
    """The trace with the request at this place arriving as late as it can."""
    action, actions = best.actions[place], best.actions
    if not isinstance(action, Enqueue) or len(actions) > SHORT or not _has_priorities(actions):
        return best
    rest = [*actions[:place], *actions[place + 1 :]]
    most = max(other.priority for other in rest if isinstance(other, Enqueue))
    for later in range(len(rest) - 1, place, -1):
        for arrival in (action, replace(action, priority=max(most + 1, action.priority))):
            found = _if_the_same(again, best, [*rest[:later], arrival, *rest[later:]], config)
            if found is not None:
                return found
    return best


def _has_priorities(actions: Sequence[Action]) -> bool:
    """Whether there are at least two requests, with numbers for priorities."""
    priorities = [action.priority for action in actions if isinstance(action, Enqueue)]
    return len(priorities) > 1 and all(type(priority) is int for priority in priorities)


def _plainer(again: Again, best: Violation, config: Config) -> Violation:
    """The trace with each value of each request replaced by the first usual one that does."""
    for place in range(len(best.actions)):
        for name, values in _USUAL.items():
            action = best.actions[place]
            if isinstance(action, EngineEnqueue) and name == "prompt_len":
                continue  # its prompt is what it is
            if isinstance(action, Enqueue):
                best = _with_usual(again, best, place, name, values, config)
    return best


def _with_usual(
    again: Again, best: Violation, place: int, name: str, values: tuple[Any, ...], config: Config
) -> Violation:
    action = best.actions[place]
    now = getattr(action, name)
    for value in values:
        if value == now or not _is_plainer(value, now):
            return best
        changed: Any = replace(action, **{name: value})
        tried = [*best.actions[:place], changed, *best.actions[place + 1 :]]
        if _ranks(tried) != _ranks(best.actions):
            continue
        found = _if_the_same(again, best, tried, config)
        if found is not None:
            return found
    return best


def _ranks(actions: Sequence[Action]) -> list[int]:
    """The priorities of the requests as places in their order, equal ones at equal places."""
    priorities = [action.priority for action in actions if isinstance(action, Enqueue)]
    if not _has_priorities(actions):
        return []
    order = sorted(set(priorities))
    return [order.index(priority) for priority in priorities]


def _is_plainer(value: Any, now: Any) -> bool:
    if type(value) is not int:
        return True
    return type(now) is int and (now < 0 or value < now)


def _if_the_same(
    again: Again, best: Violation, actions: Sequence[Action], config: Config
) -> Violation | None:
    found = again.violation(actions, config)
    return found if found is not None and _looks(found) == _looks(best) else None


def _looks(violation: Violation) -> tuple[Any, ...]:
    """What a reader is told of a violation, apart from ids and numbers."""
    fields = sorted(name for _, name in violation.breach.guilty)
    told = (violation.claim.id, violation.breach.text, fields, sorted(violation.also_broken))
    return (*told, len(violation.actions))
