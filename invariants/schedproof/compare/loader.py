"""Reading a trace: rows one by one, and nothing but numbers kept.

Rules.
1. Rows are read one at a time, so a file of a million rows costs the numbers that are kept of
   it: three for each request, and whether its prompt was in a cache.
2. A row that cannot be taken ends the reading with line and column, or is dropped and
   counted by reason where that is asked for. Rows read are rows kept and rows dropped.
3. Arrivals count from the first kept row. Rows out of order are sorted by arrival, equal
   arrivals keep the order of the file, and the result says that it happened.
4. A cache hit is derived, not read: two or more leading blocks of the prompt were in an
   earlier row, and nothing is ever thrown out of the cache.
"""

from __future__ import annotations

import csv
import hashlib
import json
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from schedproof.compare.formats import FORMATS, BadValue, Format, recognised
from schedproof.settings import UsageError

REUSED_BLOCKS = 2
"""So many leading blocks seen before make a cache hit; the first one is shared by all rows."""


@dataclass
class Trace:
    """What was read of a trace file; the arrays hold one value for each kept row."""

    path: str
    format: Format
    arrivals: array[float] = field(default_factory=lambda: array("d"))
    prompts: array[int] = field(default_factory=lambda: array("q"))
    outputs: array[int] = field(default_factory=lambda: array("q"))
    hits: bytearray = field(default_factory=bytearray)
    sha256: str = ""
    rows_read: int = 0
    dropped: dict[str, int] = field(default_factory=dict[str, int])
    was_sorted: bool = True

    def __len__(self) -> int:
        return len(self.arrivals)

    @property
    def has_hashes(self) -> bool:
        return bool(self.format.block_tokens)


def load(
    path: str, format_name: str | None = None, drop: bool = False, rows: int | None = None
) -> Trace:
    """Read a trace file. Raises `UsageError` for what is no trace, or a bad row without `drop`."""
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            return _load(path, format_name, drop, rows, digest, _texts(file, digest))
    except OSError as error:
        raise UsageError("usage.trace_unreadable", path=path, error=_text(error)) from None


def _text(error: OSError) -> str:
    return error.strerror or str(error)


def _texts(file: Iterable[bytes], digest: Any) -> Iterator[str]:
    for number, line in enumerate(file, start=1):
        digest.update(line)
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            yield "\ufffd"


def _load(
    path: str,
    format_name: str | None,
    drop: bool,
    rows: int | None,
    digest: Any,
    lines: Iterator[str],
) -> Trace:
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise UsageError("usage.trace_empty", path=path)
    names, is_json = _names(path, first)
    made = FORMATS[format_name] if format_name else recognised(set(names))
    if made is None or not {*made.columns} <= set(names):
        raise UsageError("usage.trace_format", path=path, got=", ".join(names), allowed=[*FORMATS])
    trace = Trace(path, made)
    parsed = _json_rows(chain([first], lines)) if is_json else _csv_rows(names, lines)
    seen: set[Any] = set()
    for line, row in parsed:
        if rows is not None and len(trace) >= rows:
            for _ in lines:  # the digest is that of the whole file
                pass
            break
        trace.rows_read += 1
        try:
            _keep(trace, row, seen)
        except BadValue as bad:
            if not drop:
                raise _bad_row(path, line, bad) from None
            trace.dropped[bad.reason] = trace.dropped.get(bad.reason, 0) + 1
    trace.sha256 = digest.hexdigest()
    if not len(trace):
        raise UsageError("usage.trace_empty", path=path)
    _put_in_order(trace)
    return trace


def _names(path: str, first: str) -> tuple[list[str], bool]:
    """The names of the columns, and whether the lines are JSON."""
    if not first.lstrip().startswith("{"):
        return [name.strip() for name in next(csv.reader([first]))], False
    try:
        return list(json.loads(first)), True
    except ValueError:
        bad = BadValue("-", first[:60], "no_json")
        raise _bad_row(path, 1, bad) from None


def _json_rows(lines: Iterator[str]) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        yield number, row if isinstance(row, dict) else BadValue("-", line[:60], "no_json")


def _csv_rows(names: list[str], lines: Iterator[str]) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in next(csv.reader([line]))]
        if len(cells) != len(names):
            yield number, BadValue("-", line[:60], "cells")
        else:
            yield number, dict(zip(names, cells, strict=True))


def _keep(trace: Trace, row: Any, seen: set[Any]) -> None:
    if isinstance(row, BadValue):
        raise row
    made = trace.format
    arrival, prompt, output = made.arrival(row), made.prompt_tokens(row), made.output_tokens(row)
    hashes = made.hashes(row)
    trace.arrivals.append(arrival)
    trace.prompts.append(prompt)
    trace.outputs.append(output)
    leading = hashes[:REUSED_BLOCKS]
    trace.hits.append(len(leading) == REUSED_BLOCKS and seen.issuperset(leading))
    seen.update(hashes)


def _bad_row(path: str, line: int, bad: BadValue) -> UsageError:
    values = {"path": path, "line": line, "column": bad.column, "value": repr(bad.value)[:80]}
    return UsageError(f"usage.trace_row.{bad.reason}", **values)


def _put_in_order(trace: Trace) -> None:
    arrivals = trace.arrivals
    order = sorted(range(len(arrivals)), key=arrivals.__getitem__)
    trace.was_sorted = all(place == number for place, number in enumerate(order))
    first = arrivals[order[0]]
    if not trace.was_sorted:
        trace.prompts = array("q", [trace.prompts[place] for place in order])
        trace.outputs = array("q", [trace.outputs[place] for place in order])
        trace.hits = bytearray(trace.hits[place] for place in order)
    trace.arrivals = array("d", [arrivals[place] - first for place in order])
