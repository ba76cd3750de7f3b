"""The same claim broken by a smaller input.

Rules.
1. Smaller means fewer requests, then fewer tokens, then earlier arrivals, a smaller engine, and
   zeros for tokens. Every candidate is played; it is kept only where the same claim is broken
   in the same words.
2. It ends when no candidate is smaller, or when its time is up: a small input, and no proof that
   it is the smallest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from schedproof.claims.judge import Judge
from schedproof.engines.adapter import EngineAdapter, Request
from schedproof.search.engines.box import Plan, in_order
from schedproof.search.engines.playing import StartEngine, play
from schedproof.search.session import Violation

SECONDS = 5.0
Found = tuple[Plan, Violation]


def shrunk(
    start: StartEngine,
    adapter: EngineAdapter,
    judge: Judge,
    found: Found,
    deadline: float,
    seconds: float = SECONDS,
) -> Found:
    """The smallest input that was found to break the same claim in the same words."""
    end = min(deadline, time.monotonic() + seconds)
    wanted = _looks(found[1])

    def broken_by(plan: Plan) -> Violation | None:
        if not plan.served_by(adapter):
            return None
        violation = play(start, plan, judge).violation
        return violation if violation is not None and _looks(violation) == wanted else None

    best, goes_on = found, True
    while goes_on and time.monotonic() < end:
        goes_on = False
        for candidate in smaller(best[0]):
            violation = broken_by(candidate)
            if violation is not None:
                best, goes_on = (candidate, violation), True
                break
            if time.monotonic() > end:
                break
    return best


def _looks(violation: Violation) -> tuple[str, str]:
    return violation.claim.id, violation.breach.text


def smaller(plan: Plan) -> Iterator[Plan]:
    """Plans with something less, boldest first; each is smaller than the one at hand."""
    for candidate in map(in_order, _candidates(plan)):
        if candidate.size < plan.size:
            yield candidate


def _candidates(plan: Plan) -> Iterator[Plan]:
    yield from _fewer(plan)
    yield from _together(plan)
    for place, (_, request) in enumerate(plan.requests):
        yield from (_with(plan, place, less) for less in _less(request))
    yield from _sooner(plan)
    yield from _tinier(plan)
    for place, (_, request) in enumerate(plan.requests):
        yield from (_with(plan, place, plainer) for plainer in _plainer(request))


def _fewer(plan: Plan) -> Iterator[Plan]:
    for place in range(len(plan.requests)):
        yield _without(plan, place)
    for place in range(len(plan.aborts)):
        yield replace(plan, aborts=plan.aborts[:place] + plan.aborts[place + 1 :])


def _sooner(plan: Plan) -> Iterator[Plan]:
    yield replace(plan, requests=tuple((0, request) for _, request in plan.requests))
    for place, (after, request) in enumerate(plan.requests):
        for earlier in range(after):
            yield _moved(plan, place, earlier, request)
    for place, (after, request_id) in enumerate(plan.aborts):
        if after:
            sooner = (after - 1, request_id)
            yield replace(plan, aborts=(*plan.aborts[:place], sooner, *plan.aborts[place + 1 :]))


def _tinier(plan: Plan) -> Iterator[Plan]:
    for name, value in plan.setup._asdict().items():
        for less in sorted({1, 2, value // 2, value - 1}):
            if 0 < less < value and (name != "block_size" or less in (2, value // 2)):
                yield replace(plan, setup=plan.setup._replace(**{name: less}))


def _together(plan: Plan) -> Iterator[Plan]:
    """What must change in all requests at once: prompts that begin alike, and the block's size."""
    size = plan.setup.block_size
    halves = _each(plan, _half)
    if size > 2:
        yield replace(halves, setup=plan.setup._replace(block_size=size // 2))
    yield halves
    for cut in (size, 1):
        yield _each(plan, partial(_without_first, cut))
        yield _each(plan, partial(_without_last, cut))
    yield _each(plan, _zeros)


def _each(plan: Plan, change: Callable[[Request], Request]) -> Plan:
    return replace(plan, requests=tuple((after, change(r)) for after, r in plan.requests))


def _half(request: Request) -> Request:
    return request._replace(token_ids=request.token_ids[: -(-len(request.token_ids) // 2)])


def _without_first(cut: int, request: Request) -> Request:
    return request._replace(token_ids=request.token_ids[cut:] or request.token_ids)


def _without_last(cut: int, request: Request) -> Request:
    return request._replace(token_ids=request.token_ids[:-cut] or request.token_ids)


def _zeros(request: Request) -> Request:
    return request._replace(token_ids=(0,) * len(request.token_ids))


def _without(plan: Plan, place: int) -> Plan:
    return replace(plan, requests=plan.requests[:place] + plan.requests[place + 1 :])


def _with(plan: Plan, place: int, request: Request) -> Plan:
    changed = (plan.requests[place][0], request)
    return replace(plan, requests=(*plan.requests[:place], changed, *plan.requests[place + 1 :]))


def _moved(plan: Plan, place: int, after: int, request: Request) -> Plan:
    rest = (*plan.requests[:place], *plan.requests[place + 1 :])
    return replace(plan, requests=(*rest, (after, request)))


def _less(request: Request) -> Iterator[Request]:
    tokens = request.token_ids
    for length in sorted({1, len(tokens) // 2, len(tokens) - 1}):
        if 0 < length < len(tokens):
            yield request._replace(token_ids=tokens[:length])
            yield request._replace(token_ids=tokens[-length:])
    for new in sorted({1, request.max_new_tokens // 2, request.max_new_tokens - 1}):
        if 0 < new < request.max_new_tokens:
            yield request._replace(max_new_tokens=new)


def _plainer(request: Request) -> Iterator[Request]:
    tokens = request.token_ids
    yield _zeros(request)
    for place, token in enumerate(tokens):
        for plainer in range(token):
            yield request._replace(token_ids=(*tokens[:place], plainer, *tokens[place + 1 :]))
    for priority in range(request.priority):
        yield request._replace(priority=priority)
