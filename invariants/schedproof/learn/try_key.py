"""TODO 2 alone: for every two prepared requests, who comes first by the learner's key.

Rules.
1. Only the order is judged. Another key that sorts all requests as ours does is as good.
2. Requests differ in every field that may count, and in some that must not. Pairs that differ
   in few fields come first, so the first wrong one says most.
3. Asking for a key changes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from schedproof.learn.bench import Bench, Benches, Mistaken, differences
from schedproof.learn.evidence import Difference
from schedproof.learn.exercise import POLICIES

_CHOICES: dict[str, tuple[Any, ...]] = {
    "deadline_step": (None, 6, 9),
    "phase": ("prefill", "decode"),
    "cache_hit": (False, True),
    "priority": (0, 2),
    "wait_steps": (0, 6),
    "prompt_len": (4, 6),
    "generated_len": (0, 1),
}
_COLUMNS = ("slack", "phase", "cache", "priority", "length", "id")
_CLOCKS = (0, 2)
_LESS = "s._schedule_key(a) < s._schedule_key(b)"
_KINDS = tuple(
    values
    for values in itertools.product(*_CHOICES.values())
    if not (values[1] == "prefill" and values[-1])
)


def try_key(benches: Benches) -> None:
    """Raise `Mistaken` with the plainest pair that is in the wrong order."""
    kinds = range(len(_KINDS))
    pairs = sorted(itertools.product(kinds, kinds), key=_number_of_differences)
    for policy, clock in itertools.product(POLICIES, _CLOCKS):
        bench = benches.new(policy, 3)
        bench.code.append(f"s.clock = {clock}")
        bench.mine.clock = bench.ours.clock = clock
        keys = list(_keys(benches, bench))
        benches.tried += len(pairs)
        for pair in pairs:
            _judge(benches, bench, pair, keys)


def _number_of_differences(pair: tuple[int, int]) -> int:
    return sum(one != other for one, other in zip(_KINDS[pair[0]], _KINDS[pair[1]], strict=True))


def _keys(benches: Benches, bench: Bench) -> Iterator[tuple[Any, Any]]:
    """The learner's key and ours for every kind, once with a small and once with a large id."""
    for first_id in (1, 1001):
        for number, kind in enumerate(_KINDS):
            yield _two_keys(benches, bench, kind, first_id + number)


def _two_keys(
    benches: Benches, bench: Bench, kind: tuple[Any, ...], request_id: int
) -> tuple[Any, Any]:
    """The two keys of one request of this kind, alone in the queue."""
    values = dict(zip(_CHOICES, kind, strict=True))
    for scheduler in bench.both:
        scheduler.queue.clear()
        bench.our_enqueue(scheduler, request_id, values["prompt_len"], max_new_tokens=3)
        for name, value in values.items():
            setattr(scheduler.queue[0], name, value)
    mine, ours = bench.mine.queue[0], bench.ours.queue[0]
    key = benches.call(bench, _shown(kind, request_id), lambda: bench.mine._schedule_key(mine))
    shown = differences(bench.ours, bench.mine)
    if shown:
        raise benches.wrong(bench, _shown(kind, request_id), "learn.key.changes", {}, shown)
    return key, bench.ours._schedule_key(ours)


def _shown(kind: tuple[Any, ...], request_id: int) -> str:
    """The call, with the request's own values as a comment."""
    values = ", ".join(f"{n}={v!r}" for n, v in zip(_CHOICES, kind, strict=True) if v)
    return f"s._schedule_key(request)  # request_id={request_id}, {values}"


def _judge(
    benches: Benches, bench: Bench, pair: tuple[int, int], keys: list[tuple[Any, Any]]
) -> None:
    """Compare the first kind with a small id and the second with a large one."""
    (mine_a, ours_a), (mine_b, ours_b) = keys[pair[0]], keys[len(_KINDS) + pair[1]]
    if not _agree(benches, bench, (mine_a, mine_b), (ours_a, ours_b)):
        raise _shown_again(benches, bench, pair) or benches.wrong(
            bench, _LESS, *_told(bench, (ours_a, ours_b)), _rows(pair, (mine_a, mine_b))
        )


def _agree(benches: Benches, bench: Bench, mine: tuple[Any, Any], ours: tuple[Any, Any]) -> bool:
    """Whether the learner's two keys are in the order of ours; keys of ours are never equal."""
    right = ours[0] < ours[1]
    got = benches.call(bench, _LESS, lambda: (mine[0] < mine[1], mine[1] < mine[0]))
    return bool(got == (right, not right))


def _shown_again(benches: Benches, bench: Bench, pair: tuple[int, int]) -> Mistaken | None:
    """The same two requests, alone in one queue, with lines that can be typed."""
    again = benches.new(bench.policy, bench.blocks)
    if bench.ours.clock:
        again.set("clock", bench.ours.clock)
    for place, number in enumerate(pair):
        values = dict(zip(_CHOICES, _KINDS[number], strict=True))
        again.enqueue(place + 1, values.pop("prompt_len"), max_new_tokens=3)
        usual = again.ours.queue[place]
        again.assign(place, **{n: v for n, v in values.items() if v != getattr(usual, n)})
    again.code.append("a, b = s.queue")
    mine, ours = (
        tuple(scheduler._schedule_key(request) for request in scheduler.queue)
        for scheduler in again.both
    )
    if _agree(benches, again, mine, ours):
        return None
    return benches.wrong(again, _LESS, *_told(again, ours), _rows(pair, mine))


def _told(bench: Bench, ours: tuple[Any, Any]) -> tuple[str, dict[str, Any]]:
    """Which column decides, and who comes first."""
    first, last = ("a", "b") if ours[0] < ours[1] else ("b", "a")
    columns = zip(_COLUMNS, *ours, strict=True)
    column = next(name for name, one, other in columns if one != other)
    return f"learn.key.{column}", {"first": first, "last": last, "policy": bench.policy}


def _rows(pair: tuple[int, int], mine: tuple[Any, Any]) -> list[Difference]:
    """The two requests beside each other where they differ, and their keys."""
    kinds = zip(_CHOICES, _KINDS[pair[0]], _KINDS[pair[1]], strict=True)
    rows = [Difference(None, name, one, other) for name, one, other in kinds if one != other]
    ids = Difference(None, "request_id", 1, 2)
    return [*rows, ids, Difference(None, "_schedule_key", repr(mine[0]), repr(mine[1]))]
