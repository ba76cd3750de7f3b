"""Reports of several checks at once, as a run of tests makes them.

Rules. A format that has a form for several results is written as one file. Of the others
there is a file for each check, numbered from the second on; that all stand side by side is
better than a form that no reader of the format knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from schedproof.formats.junit import to_junit
from schedproof.formats.markdown import to_markdown
from schedproof.formats.sarif import to_sarif
from schedproof.reports.places import Wanted, add_to_job_summary, write_all, write_whole
from schedproof.telling.report import Summary

IN_ONE = {"junit": to_junit, "md": to_markdown, "sarif": to_sarif}


def write_several(
    reports: Sequence[Wanted], summaries: Sequence[Summary], language: str
) -> list[Path]:
    """Write the reports of all these results; where they are. Raises `PlaceError`."""
    paths: list[Path] = []
    for report in reports:
        write = IN_ONE.get(report.format.name)
        if write is not None:
            text = write(list(summaries), language)
            write_whole(report.path, text)
            add_to_job_summary(report.format, text)
            paths.append(report.path)
            continue
        for number, summary in enumerate(summaries, start=1):
            one = Wanted(report.format, _numbered(report.path, number))
            paths += write_all([one], summary, language)
    return paths


def _numbered(path: Path, number: int) -> Path:
    """`a.html`, then `a-2.html`; `a.itf.json`, then `a-2.itf.json`."""
    stem, dot, rest = path.name.partition(".")
    return path if number == 1 else path.with_name(f"{stem}-{number}{dot}{rest}")
