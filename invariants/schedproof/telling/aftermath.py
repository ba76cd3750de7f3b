"""What follows from a counterexample, as sentences whose numbers can be checked by hand.

Rules.
1. What a user would notice comes first: tokens twice, a request that never ends, blocks that
   are missing in the end, then requests that are finished later than by the rules.
2. That nothing follows is said too, and only where in the built-in model each request is
   finished in the same step, with all its tokens.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedproof.search.evidence import DONE, ENDLESS, RAISED, STUCK, Forward
from schedproof.search.results import Counterexample
from schedproof.telling.messages import Say

_EACH_MAX = 2


def follows_of(say: Say, example: Counterexample) -> tuple[str, ...]:
    """The sentences; none where nothing is known."""
    forward = None if example.evidence is None else example.evidence.forward
    if forward is None:
        return ()
    told = [*_repeated(say, forward), *_lost(say, forward), *_short(say, forward)]
    told += _stuck(say, forward)
    told += [*_pool(say, forward), *_no_end(say, forward)]
    if not forward.repeated:
        told += _later(say, forward)
    return (*(told or _nothing(say, forward)), *_worse(say, example))


def _worse(say: Say, example: Counterexample) -> Iterator[str]:
    """A longer trace that does more damage, if one is known."""
    worse = None if example.evidence is None else example.evidence.worse
    if worse is not None:
        values = {"request": worse.request, "token": worse.token, "trace": worse.kept_as}
        kind = "follow.worse" if worse.kept_as is None else "follow.worse.kept"
        yield say(kind, more=len(worse.actions) - example.length, **values)


def _repeated(say: Say, forward: Forward) -> Iterator[str]:
    if not forward.repeated:
        return
    request, token = forward.repeated[0]
    kind = "follow.repeated_token" if token else "follow.repeated_prefill"
    longer = forward.due_steps is not None and forward.steps > forward.due_steps
    kind = kind if longer and forward.outcome == DONE else f"{kind}.only"
    yield say(kind, request=request, token=token, steps=forward.steps, due=forward.due_steps)


def _lost(say: Say, forward: Forward) -> Iterator[str]:
    for request in forward.lost[:_EACH_MAX]:
        yield say("follow.lost", request=request)


def _short(say: Say, forward: Forward) -> Iterator[str]:
    for each in forward.short[:_EACH_MAX]:
        values = {"generated": each.generated, "limit": each.limit}
        yield say("follow.short", request=each.request, **values)


def _stuck(say: Say, forward: Forward) -> Iterator[str]:
    if forward.outcome != STUCK:
        return
    left = [each for each in forward.left if 0 < each.needs <= forward.capacity]
    for each in left[:_EACH_MAX]:
        fits = each.needs <= forward.free
        yield say(
            "follow.stuck.fits" if fits else "follow.stuck",
            request=each.request,
            generated=each.generated,
            limit=each.limit,
            needs=each.needs,
            free=forward.free,
        )
    if left:
        yield say("follow.silent_end")


def _pool(say: Say, forward: Forward) -> Iterator[str]:
    if forward.outcome != DONE or forward.free == forward.capacity:
        return
    kind = "follow.fewer_blocks" if forward.free < forward.capacity else "follow.more_blocks"
    yield say(kind, free=forward.free, capacity=forward.capacity)


def _no_end(say: Say, forward: Forward) -> Iterator[str]:
    if forward.outcome == ENDLESS:
        yield say("follow.endless", steps=forward.steps)
    if forward.outcome == RAISED:
        yield say("follow.raised", error=forward.error)


def _later(say: Say, forward: Forward) -> Iterator[str]:
    for each in forward.later[:_EACH_MAX]:
        yield say("follow.later", request=each.request, got=each.got, due=each.due)


def _nothing(say: Say, forward: Forward) -> tuple[str, ...]:
    """That it shows nowhere, where that is known."""
    if forward.outcome != DONE or not forward.due_steps:
        return ()
    if forward.earlier and forward.steps == forward.due_steps:
        early = forward.earlier[:_EACH_MAX]
        values = [{"request": each.request, "got": each.got, "due": each.due} for each in early]
        return tuple(say("follow.earlier", **each) for each in values)
    kind = "follow.nothing" if forward.steps == forward.due_steps else "follow.other_steps"
    return (say(kind, steps=forward.steps, due=forward.due_steps),)
