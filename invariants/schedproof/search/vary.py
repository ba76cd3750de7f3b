"""What matters about a trace, and what does not: one field changed at a time.

Rules.
1. Each argument of each enqueue is set to a few other values, one at a time, and all the
   actions are taken again. An argument does not matter if the same claim breaks with all of
   them. That says nothing of two arguments changed together.
2. The other policies that the scheduler has are tried on the same actions.
3. A value that the chapter refuses is not tried: it would be about the refusal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from schedmodel.policy import POLICIES
from schedproof.search.again import Again
from schedproof.search.evidence import Varied
from schedproof.subjects.actions import Action, Enqueue
from schedproof.subjects.contract import Config

_SIZES = ("prompt_len", "max_new_tokens", "required_blocks")
_FLAGS = ("cache_hit", "preemptible")
_FAR = 99
VARIED = (
    "prompt_len",
    "max_new_tokens",
    "priority",
    "cache_hit",
    "required_blocks",
    "deadline_step",
    "preemptible",
)


def vary(again: Again, actions: Sequence[Action], config: Config) -> Iterator[Varied]:
    """Each argument of each enqueue, and whether it matters."""
    for place, action in enumerate(actions):
        if isinstance(action, Enqueue) and _is_plain(action):
            for name in [name for name in VARIED if name in action.arguments()]:
                yield _varied(again, actions, config, place, action, name)


def _is_plain(action: Enqueue) -> bool:
    """Whether this is a request with values of the usual kinds, which the chapter accepts."""
    numbers = [getattr(action, name) for name in (*_SIZES, "priority", "request_id")]
    flags = [getattr(action, name) for name in _FLAGS]
    usual = all(type(n) is int for n in numbers) and all(type(f) is bool for f in flags)
    return usual and all(getattr(action, name) > 0 for name in _SIZES)


def _varied(
    again: Again,
    actions: Sequence[Action],
    config: Config,
    place: int,
    action: Enqueue,
    name: str,
) -> Varied:
    value = getattr(action, name)
    breaks: dict[Any, bool] = {}
    for other in _others(name, action, actions, config, place):
        changed = replace(action, **{name: other})
        tried = [*actions[:place], changed, *actions[place + 1 :]]
        breaks[other] = again.violation(tried, config) is not None
    counts = type(value) is int
    below = [does for other, does in breaks.items() if counts and _is_below(other, value)]
    above = [does for other, does in breaks.items() if counts and _is_below(value, other)]
    return Varied(
        request=action.request_id,
        name=name,
        value=value,
        matters=not all(breaks.values()),
        low=breaks.get(value - 1) if counts else None,
        high=breaks.get(value + 1) if counts else None,
        far_low=all(below),
        far_high=all(above),
        steady=len(set(below)) <= 1 and len(set(above)) <= 1,
    )


def _is_below(one: Any, other: Any) -> bool:
    return type(one) is int and type(other) is int and one < other


def _others(
    name: str, action: Enqueue, actions: Sequence[Action], config: Config, place: int
) -> list[Any]:
    """Values to try instead: those beside it, those far from it on both sides, other ranks.

    The clock is no later than the number of actions before the enqueue.
    """
    value = getattr(action, name)
    if name in _FLAGS:
        return [not value]
    if name == "deadline_step":
        return [place + 1, _FAR] if value is None else [None, value + 1, _FAR]
    far: dict[str, tuple[int, ...]] = {
        "prompt_len": (1, value + 5),
        "max_new_tokens": (1, value + 3),
    }
    far["required_blocks"] = (1, max(1, config.blocks))
    if name == "priority":
        ranks = [other.priority for other in actions if isinstance(other, Enqueue)]
        numbers = [each for each in ranks if type(each) is int]
        far["priority"] = (min(numbers) - 1, *numbers, max(numbers) + 1)
    others = dict.fromkeys((value - 1, value + 1, *far[name]))
    return [o for o in others if o != value and (o > 0 or name not in _SIZES)]


def other_policies(
    again: Again, actions: Sequence[Action], config: Config
) -> Iterator[tuple[str, bool]]:
    """Each policy that the scheduler has, its own first, and whether the claim breaks under it."""
    yield config.policy, True
    for policy in POLICIES:
        other = replace(config, policy=policy)
        if policy != config.policy and again.has_policy(other):
            yield policy, again.violation(actions, other) is not None
