"""The formats of reports, in one table: a name, the usual file, and who writes it.

Rules.
1. A writer takes a summary and a language and gives back the whole text of the file; it
   opens nothing, prints nothing, and never runs the scheduler.
2. What a writer needs is imported when it writes: the names of the formats are needed by
   every command, the formats themselves by few.
3. The job summary of a CI system is written besides the file, by the format it is read in.
4. To add a format, add a function and its row in `FORMATS`; option, help, completion and
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
    """One format. `file_name` is used where nobody says another, and its suffix is the usual.

    `environment` is the variable in which a CI system names a file that wants the same text.
    """

    name: str
    file_name: str
    write: Write
    environment: str | None = None


def _html(summary: Summary, language: str) -> str:
    from schedproof.page.document import page

    return page(summary, language)


def _json(summary: Summary, _language: str) -> str:
    from schedmodel import __version__
    from schedproof.telling.document import to_document

    return json.dumps(to_document(summary, __version__), indent=2, ensure_ascii=False) + "\n"


def _junit(summary: Summary, language: str) -> str:
    from schedproof.formats.junit import to_junit

    return to_junit([summary], language)


def _markdown(summary: Summary, language: str) -> str:
    from schedproof.formats.markdown import to_markdown

    return to_markdown([summary], language)


def _sarif(summary: Summary, language: str) -> str:
    from schedproof.formats.sarif import to_sarif

    return to_sarif([summary], language)


def _itf(summary: Summary, _language: str) -> str:
    from schedproof.formats.reading import first_as_itf

    return first_as_itf(summary)


FORMATS: dict[str, Format] = {
    made.name: made
    for made in (
        Format("html", "schedproof-report.html", _html),
        Format("json", "schedproof-report.json", _json),
        Format("junit", "schedproof-report.xml", _junit),
        Format("md", "schedproof-report.md", _markdown, "GITHUB_STEP_SUMMARY"),
        Format("itf", "schedproof-report.itf.json", _itf),
        Format("sarif", "schedproof-report.sarif", _sarif),
    )
}
