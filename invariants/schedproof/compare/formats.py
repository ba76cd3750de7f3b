"""The trace formats: which columns they have, and in what unit they tell the arrival.

Rules.
1. A format is recognised by the names of its columns, never by their places and never by the
   size of a number. Two formats have the same names and other units: a JSON line with
   `chat_id` is Bailian's, in seconds, one with `hash_ids` and without it Mooncake's, in
   milliseconds. vLLM's timed trace has the same names again and has to be asked for, and so
   has a JSON line that has neither.
2. A reader takes one row and returns arrival in seconds, prompt tokens, output tokens and the
   blocks of the prompt by hash. What it cannot take is a `BadValue` that names the column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from math import isfinite
from typing import Any

Row = Mapping[str, Any]
MOST = 10**15
"""No number of a trace is larger: what is, is a mistake or another unit."""


class BadValue(Exception):
    """A value that a column may not have; `reason` ends the id of the text that says why."""

    def __init__(self, column: str, value: object, reason: str) -> None:
        super().__init__(column, value, reason)
        self.column, self.value, self.reason = column, value, reason


def number(row: Row, column: str) -> float:
    """A finite number that is not negative."""
    value = row.get(column)
    if value is None or value == "":
        raise BadValue(column, value, "missing")
    try:
        found = float(value) if not isinstance(value, bool) else None
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or not isfinite(found):
        raise BadValue(column, value, "no_number")
    if found < 0:
        raise BadValue(column, value, "negative")
    if found > MOST:
        raise BadValue(column, value, "too_large")
    return found


def tokens(row: Row, column: str) -> int:
    """A whole number of tokens, at least one."""
    found = number(row, column)
    if found != int(found):
        raise BadValue(column, row[column], "not_whole")
    if found == 0:
        raise BadValue(column, row[column], "no_tokens")
    return int(found)


CLOCK = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,9})?\s*(Z|[+-]\d\d:?\d\d)?", re.ASCII
)


def wall_clock(row: Row, column: str) -> float:
    """Seconds of a date and time with up to nine digits after the seconds; UTC without a zone."""
    text = str(row.get(column) or "")
    match = CLOCK.fullmatch(text.strip())
    if match is None:
        raise BadValue(column, row.get(column), "no_time" if text else "missing")
    day, time, fraction, zone = match.groups()
    sign = "+00:00" if zone in (None, "Z") else zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
    try:
        seconds = datetime.fromisoformat(f"{day}T{time}{sign}").astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise BadValue(column, text, "no_time") from None
    return seconds.timestamp() + float(fraction or 0)


@dataclass(frozen=True)
class Format:
    """One format. `columns` are arrival, prompt and output; all of `marks` must be there too."""

    name: str
    lines: str
    columns: tuple[str, str, str]
    unit: str
    marks: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    by_name_only: bool = False
    block_tokens: int = 0

    def fits(self, names: set[str]) -> bool:
        """Whether a file with these columns is of this format."""
        there = {*self.columns, *self.marks} <= names and not names & set(self.without)
        return there and not self.by_name_only

    def arrival(self, row: Row) -> float:
        """When the request of this row arrived, in seconds of the trace's own clock."""
        if self.unit == "clock":
            return wall_clock(row, self.columns[0])
        found = number(row, self.columns[0])
        return found / 1000 if self.unit == "ms" else found

    def prompt_tokens(self, row: Row) -> int:
        return tokens(row, self.columns[1])

    def output_tokens(self, row: Row) -> int:
        return tokens(row, self.columns[2])

    def hashes(self, row: Row) -> tuple[Any, ...]:
        """The prompt's blocks by hash; () where the format has none."""
        found: Any = row.get("hash_ids") if self.block_tokens else None
        if found is None:
            return ()
        if type(found) not in (list,) or any(isinstance(each, (list, dict)) for each in found):
            raise BadValue("hash_ids", found, "no_list")
        return tuple(found)


_JSON = ("timestamp", "input_length", "output_length")

FORMATS: dict[str, Format] = {
    made.name: made
    for made in (
        Format("vidur", "csv", ("arrived_at", "num_prefill_tokens", "num_decode_tokens"), "s"),
        Format("azure", "csv", ("TIMESTAMP", "ContextTokens", "GeneratedTokens"), "clock"),
        Format(
            "burstgpt", "csv", ("Timestamp", "Request tokens", "Response tokens"), "s", ("Model",)
        ),
        Format("splitwise", "csv", ("arrival_timestamp", "prompt_size", "token_size"), "s"),
        Format("mooncake", "jsonl", _JSON, "ms", ("hash_ids",), ("chat_id",), block_tokens=512),
        Format("bailian", "jsonl", _JSON, "s", ("chat_id",), block_tokens=16),
        Format("vllm-timed", "jsonl", _JSON, "s", by_name_only=True, block_tokens=16),
    )
}


def recognised(names: set[str]) -> Format | None:
    """The format that has these columns, None if no one or more than one has them."""
    fitting = [made for made in FORMATS.values() if made.fits(names)]
    return fitting[0] if len(fitting) == 1 else None
