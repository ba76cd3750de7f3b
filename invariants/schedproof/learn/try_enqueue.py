"""TODO 1 alone: every field of a queued request, and every refusal, beside ours.

Rules.
1. Each argument is left out once and given once, alone and all together: a default that was
   forgotten and a value that was dropped look different.
2. A call that must be refused must raise ValueError and change nothing.
"""

from __future__ import annotations

from typing import Any

from schedproof.learn.bench import Bench, Benches, Mistaken, called, differences
from schedproof.learn.evidence import Difference
from schedproof.learn.exercise import POLICIES

_OTHER_VALUES = {
    "max_new_tokens": 5,
    "priority": 7,
    "cache_hit": True,
    "required_blocks": 3,
    "deadline_step": 9,
    "preemptible": False,
}
_REFUSED = (
    {"prompt_len": 0},
    {"max_new_tokens": 0},
    {"required_blocks": 0},
    {"request_id": 1},
    {"deadline_step": 0},
)


def try_enqueue(benches: Benches) -> None:
    """Raise `Mistaken` with the first case that shows a mistake."""
    for policy in POLICIES:
        for more in ({}, *({name: value} for name, value in _OTHER_VALUES.items()), _OTHER_VALUES):
            bench = benches.new(policy, 3)
            _accept(benches, bench, {"request_id": 1, "prompt_len": 4, **more})
            _accept(benches, bench, {"request_id": 8, "prompt_len": 2})
        for bad in _REFUSED:
            bench = benches.new(policy, 3)
            _accept(benches, bench, {"request_id": 1, "prompt_len": 4})
            _refuse(benches, bench, {"request_id": 2, "prompt_len": 4, **bad})


def _accept(benches: Benches, bench: Bench, arguments: dict[str, Any]) -> None:
    line = _line(arguments)
    refusal = benches.call(bench, line, lambda: _refusal(bench.mine, arguments))
    bench.ours.enqueue(**arguments)
    if refusal is not None:
        raise benches.wrong(bench, line, "learn.enqueue.refused", {"text": refusal}, [])
    if len(bench.mine.queue) != len(bench.ours.queue):
        values = {"count": len(bench.mine.queue) - len(bench.ours.queue) + 1}
        raise benches.wrong(bench, line, "learn.enqueue.count", values, [])
    _compare(benches, bench, line, "learn.enqueue.fields")
    bench.code.append(line)


def _refuse(benches: Benches, bench: Bench, arguments: dict[str, Any]) -> None:
    line = _line(arguments)
    refusal = benches.call(bench, line, lambda: _refusal(bench.mine, arguments))
    if refusal is None:
        raise benches.wrong(bench, line, "learn.enqueue.accepted", {}, [])
    _compare(benches, bench, line, "learn.enqueue.refusal_changes")


def _compare(benches: Benches, bench: Bench, line: str, text: str) -> None:
    shown = differences(bench.ours, bench.mine)
    if shown:
        raise _mistaken(benches, bench, line, text, shown)


def _mistaken(
    benches: Benches, bench: Bench, line: str, text: str, shown: list[Difference]
) -> Mistaken:
    return benches.wrong(bench, line, text, {}, shown)


def _line(arguments: dict[str, Any]) -> str:
    given = dict(arguments)
    return f"s.enqueue({called(given.pop('request_id'), given.pop('prompt_len'), **given)})"


def _refusal(scheduler: Any, arguments: dict[str, Any]) -> str | None:
    """What the scheduler says when it refuses a request; None if it accepts it."""
    try:
        scheduler.enqueue(**arguments)
    except ValueError as error:
        return str(error) or type(error).__name__
    return None
