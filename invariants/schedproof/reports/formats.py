"""The formats of reports, in one table: a name, the usual file, and who writes it.

Rules.
1. A writer takes a summary and a language and gives back the whole text of the file; it
   opens nothing, prints nothing, and never runs the scheduler.
2. What a writer needs is imported when it writes: the names of the formats are needed by
   every command, the formats themselves by few.
3. To add a format, add a function and its row in `FORMATS`; option, help, completion and
   documents read the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedproof.telling.report import Summary

Write = Callable[["Summary", str], str]


@dataclass(frozen=True)
class Format:
    """One format. `file_name` is used where nobody says another, and its suffix is the usual."""

    name: str
    file_name: str
    write: Write


def _html(summary: Summary, language: str) -> str:
    from schedproof.page.document import page

    return page(summary, language)


def _json(summary: Summary, _language: str) -> str:
    from schedmodel import __version__
    from schedproof.telling.document import to_document

    return json.dumps(to_document(summary, __version__), indent=2, ensure_ascii=False) + "\n"


FORMATS: dict[str, Format] = {
    made.name: made
    for made in (
        Format("html", "schedproof-report.html", _html),
        Format("json", "schedproof-report.json", _json),
    )
}
