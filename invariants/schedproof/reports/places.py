"""Where reports go: `html` is the usual file here, `html=PATH` another, and how they get there.

Rules.
1. A path that ends in a slash, or is a folder, takes the usual name in that folder; folders
   that are missing are made.
2. A report replaces an older one. A file that is there and has another suffix than the
   format's is not a report, and is not overwritten.
3. Places are looked at before anything is searched, so that nobody waits for a result that
   cannot be kept.
4. A file appears whole or not at all: it is written beside its place and then renamed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedproof.reports.formats import FORMATS, Format

if TYPE_CHECKING:
    from schedproof.telling.report import Summary


class PlaceError(Exception):
    """A place that no report can go to; told by a message of the catalogue."""

    def __init__(self, message_id: str, **values: str) -> None:
        super().__init__(message_id)
        self.message_id, self.values = message_id, values


@dataclass(frozen=True)
class Wanted:
    """One report that somebody asked for."""

    format: Format
    path: Path


def insist_on_a_file(place: str) -> None:
    """Raise `PlaceError` for the sign that elsewhere means the standard output."""
    if place == "-":
        raise PlaceError("usage.no_standard_output")


def wanted(format_name: str, place: str) -> Wanted:
    """The report of that format in that place; "" is the usual one, in the current folder."""
    made = FORMATS[format_name]
    insist_on_a_file(place)
    path = Path(place).expanduser()
    if not place or place.endswith(("/", os.sep)) or path.is_dir():
        path = path / made.file_name
    return Wanted(made, path)


def look_at(reports: Sequence[Wanted]) -> None:
    """Raise `PlaceError` if one of these could not be written as far as can be seen now."""
    taken: set[Path] = set()
    for report in reports:
        path = report.path.absolute()
        if path in taken:
            raise PlaceError("usage.report_twice", path=str(report.path))
        taken.add(path)
        usual = Path(report.format.file_name).suffix
        if path.exists() and path.suffix != usual:
            raise PlaceError("usage.report_taken", path=str(report.path), suffix=usual)
        if any(folder.exists() and not folder.is_dir() for folder in path.parents):
            raise PlaceError("usage.report_no_folder", path=str(report.path.parent))


def write_all(reports: Sequence[Wanted], summary: Summary, language: str) -> tuple[Path, ...]:
    """Write the reports; where they are. Raises `PlaceError`."""
    for report in reports:
        text = report.format.write(summary, language)
        write_whole(report.path, text)
        add_to_job_summary(report.format, text)
    return tuple(report.path for report in reports)


def add_to_job_summary(made: Format, text: str) -> None:
    """Append the text to the file in which a CI system gathers it. Raises `PlaceError`."""
    path = os.environ.get(made.environment or "", "")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(text + "\n")
    except OSError as error:
        values = {"path": path, "error": error.strerror or str(error)}
        raise PlaceError("usage.report_not_written", **values) from None


def write_whole(path: Path, text: str) -> None:
    """Put a file with this text in its place at once. Raises `PlaceError`."""
    from schedproof.traces.store import write_atomically

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    except OSError as error:
        values = {"path": str(path), "error": error.strerror or str(error)}
        raise PlaceError("usage.report_not_written", **values) from None
