"""Reading a trace: rows one by one, and nothing but numbers kept.

Rules.
1. Rows are read one at a time, so a file of a million rows costs the numbers that are kept of
   it: three for each request, and whether its prompt was in a cache. The hashes of its prompt
   are kept where they are asked for.
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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

from schedproof.compare.formats import FORMATS, BadValue, Format, recognised
from schedproof.settings import UsageError

REUSED_BLOCKS = 2
"""So many leading blocks seen before make a cache hit; the first one is shared by all rows."""
MANY = 30
"""So many letters of a value, and so many columns, are repeated when they are refused."""
COMPRESSED = ("\x1f\ufffd", "(\ufffd/\ufffd", "PK\x03\x04", "BZh", "\ufffd7zXZ")
"""How compressed files begin: gzip, Zstandard, ZIP, bzip2, xz."""


@dataclass
class Trace:
    """What was read of a trace file; the arrays hold one value for each kept row."""

    path: str
    format: Format
    arrivals: array[float] = field(default_factory=lambda: array("d"))
    prompts: array[int] = field(default_factory=lambda: array("q"))
    outputs: array[int] = field(default_factory=lambda: array("q"))
    hits: bytearray = field(default_factory=bytearray)
    hashes: list[array[int]] = field(default_factory=list["array[int]"])
    sha256: str = ""
    rows_read: int = 0
    dropped: dict[str, int] = field(default_factory=dict[str, int])
    was_sorted: bool = True

    def __len__(self) -> int:
        return len(self.arrivals)

    @property
    def has_hashes(self) -> bool:
        return bool(self.format.block_tokens)

    def hashes_of(self, place: int) -> Sequence[int]:
        """The parts of a prompt by number, equal where they and all before them are equal."""
        return self.hashes[place] if self.hashes else ()


def load(
    path: str,
    format_name: str | None = None,
    drop: bool = False,
    rows: int | None = None,
    hashes: bool = False,
) -> Trace:
    """Read a trace file, with the `hashes` of prompts if they are wanted.

    Raises `UsageError` for what is no trace, or a bad row without `drop`.
    """
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            keep = _Keeper(drop, hashes)
            return _load(path, format_name, rows, keep, digest, _texts(file, digest))
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
            yield line.decode("utf-8", "replace").rstrip("\r\n")


def _load(
    path: str,
    format_name: str | None,
    rows: int | None,
    keeper: _Keeper,
    digest: Any,
    lines: Iterator[str],
) -> Trace:
    made, names, first, place = _heading(path, format_name, lines)
    trace = Trace(path, made)
    is_json = made.lines == "jsonl"
    numbered = enumerate(chain([first], lines), start=place)
    parsed = _json_rows(numbered) if is_json else _csv_rows(names, islice(numbered, 1, None))
    for line, row in parsed:
        if rows is not None and len(trace) >= rows:
            for _ in lines:  # the digest is that of the whole file
                pass
            break
        trace.rows_read += 1
        try:
            keeper.keep(trace, row)
        except BadValue as bad:
            if not keeper.drop:
                raise _bad_row(path, line, bad) from None
            trace.dropped[bad.reason] = trace.dropped.get(bad.reason, 0) + 1
    trace.sha256 = digest.hexdigest()
    if not len(trace):
        raise UsageError("usage.trace_empty", path=path)
    _put_in_order(trace)
    return trace


def _heading(
    path: str, format_name: str | None, lines: Iterator[str]
) -> tuple[Format, list[str], str, int]:
    """The format, the names of the columns, the first line that is not empty and its number."""
    filled = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    place, first = next(filled, (0, ""))
    if not first:
        raise UsageError("usage.trace_empty", path=path)
    if first.startswith(COMPRESSED):
        raise UsageError("usage.trace_compressed", path=path)
    names = _names(path, first, place)
    got = ", ".join(map(_short, names[:MANY]))
    made = FORMATS[format_name] if format_name else recognised(set(names))
    if made is None:
        raise UsageError("usage.trace_format", path=path, got=got, allowed=[*FORMATS])
    if not {*made.columns} <= set(names):
        needed = {"format": made.name, "needed": ", ".join(made.columns)}
        raise UsageError("usage.trace_columns", path=path, got=got, **needed)
    return made, names, first, place


def _names(path: str, first: str, place: int) -> list[str]:
    """The names of the columns, or those in the first line of JSON."""
    if not first.lstrip().startswith("{"):
        return [name.strip() for name in _cells(first) or [first]]
    try:
        return list(json.loads(first))
    except (ValueError, RecursionError) as error:
        raise _bad_row(path, place, _no_json(first, error)) from None


def _json_rows(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Any]]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, _no_json(line, error)
        else:
            yield number, row if isinstance(row, dict) else _no_json(line, None)


def _no_json(line: str, error: Exception | None) -> BadValue:
    """A line that is no JSON object, and at which letter that shows."""
    letter = error.colno if isinstance(error, json.JSONDecodeError) else 1
    return BadValue(str(letter), line, "no_json")


def _csv_rows(names: list[str], lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Any]]:
    for number, line in lines:
        if not line.strip():
            continue
        cells = [cell.strip() for cell in _cells(line)]
        if len(cells) > len(names):
            yield number, BadValue(str(len(names) + 1), cells[len(names)], "cells")
        elif len(cells) < len(names):
            yield number, BadValue(names[len(cells)], None, "missing")
        else:
            yield number, dict(zip(names, cells, strict=True))


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line]))
    except csv.Error:  # longer than any cell of a trace
        return []


class _Keeper:
    """Keeps rows one after the other; `_numbers` has the parts of prompts that were seen."""

    def __init__(self, drop: bool, hashes: bool) -> None:
        self.drop, self._hashes = drop, hashes
        self._numbers: dict[Any, int] = {}

    def keep(self, trace: Trace, row: Any) -> None:
        """Keep what a row says. Raises `BadValue`; nothing of the row is kept then."""
        if isinstance(row, BadValue):
            raise row
        made, numbers = trace.format, self._numbers
        arrival, prompt, output = (
            made.arrival(row),
            made.prompt_tokens(row),
            made.output_tokens(row),
        )
        hashes = made.hashes(row)
        trace.arrivals.append(arrival)
        trace.prompts.append(prompt)
        trace.outputs.append(output)
        leading = hashes[:REUSED_BLOCKS]
        trace.hits.append(len(leading) == REUSED_BLOCKS and numbers.keys() >= {*leading})
        of_row = [numbers.setdefault(each, len(numbers)) for each in hashes]
        if self._hashes and made.block_tokens:
            trace.hashes.append(array("q", of_row))


def _bad_row(path: str, line: int, bad: BadValue) -> UsageError:
    told = "" if bad.value is None else _short(str(bad.value))
    values = {"path": path, "line": line, "column": bad.column, "value": repr(told)}
    return UsageError(f"usage.trace_row.{bad.reason}", **values)


def _short(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in text[: 2 * MANY])
    return shown if len(text) <= 2 * MANY else shown + "…"


def _put_in_order(trace: Trace) -> None:
    arrivals = trace.arrivals
    order = sorted(range(len(arrivals)), key=arrivals.__getitem__)
    trace.was_sorted = all(place == number for place, number in enumerate(order))
    first = arrivals[order[0]]
    if not trace.was_sorted:
        trace.prompts = array("q", [trace.prompts[place] for place in order])
        trace.outputs = array("q", [trace.outputs[place] for place in order])
        trace.hits = bytearray(trace.hits[place] for place in order)
        trace.hashes = [trace.hashes[place] for place in order] if trace.hashes else []
    trace.arrivals = array("d", [arrivals[place] - first for place in order])
