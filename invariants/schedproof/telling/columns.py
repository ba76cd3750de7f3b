"""The parts of a key as they are read: "phase" and "prefill" for `phase_rank` and 0.

Rules. A part that counts downwards is told by its own value. A part without a name of ours, of a
scheduler that makes its own keys, is told as it is.
"""

from __future__ import annotations

from schedmodel.policy import NO_DEADLINE_SLACK
from schedproof.telling.messages import Say

_RANKS = {"phase_rank": ("prefill", "decode"), "cache_rank": ("hit", "miss")}
_NAMED = {
    *_RANKS,
    "deadline_slack",
    "effective_priority",
    "total_len",
    "request_id",
    "arrival_index",
}


def column_name(say: Say, column: str) -> str:
    """What a part of a key is called."""
    plain = column.removeprefix("-")
    return say(f"explain.column.{plain}") if plain in _NAMED else column


def column_value(say: Say, column: str, value: int) -> str:
    """One value of it; a dash for the slack of a request without a deadline."""
    if column.startswith("-"):
        return str(-value)
    if column in _RANKS and value in (0, 1):
        word = _RANKS[column][value]
        return word if column == "phase_rank" else say(f"explain.column.{word}")
    return "–" if value == NO_DEADLINE_SLACK else str(value)
