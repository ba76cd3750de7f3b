"""The command `report`: a kept trace as a page, or as a file of any other format.

Rules. The trace is taken again first, so the report tells what is so now. Where nothing is
broken any more there is nothing to report: what became of the trace is told as `replay` tells
it, no file is written, and the exit code says so.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from schedproof.cli.help import TranslatedCommand, completed_from, option
from schedproof.cli.output import complain, put, shown, width
from schedproof.reports.formats import FORMATS
from schedproof.search.results import EXIT_CODES, Verdict
from schedproof.settings import OPTIONS
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell

USUAL = ("html",)
NOTHING_TO_REPORT = EXIT_CODES[Verdict.VACUOUS]


def build_report(lang: str) -> click.Command:
    """The command in one language."""
    say = tell(lang)
    named = click.Argument(
        ["trace"], metavar="[TRACE]", required=False, shell_complete=completed_from(_names)
    )
    formats = option(lang, "report", multiple=True, values=lambda: tuple(FORMATS), of="report")
    on = option(lang, "on", of="replay")
    return TranslatedCommand(
        "report",
        callback=partial(_report, lang),
        help=say("help.report"),
        more=[say("help.report.more")],
        lang=lang,
        params=[named, formats, on, option(lang, "lang", values=lambda: LANGUAGES)],
    )


def _names() -> tuple[str, ...]:
    from schedproof.traces.store import Store

    return tuple(path.stem for path in Store().paths())


def _report(
    spoken: str, /, trace: str | None, report: Sequence[str], on: str | None, **_said: Any
) -> int:
    from schedproof import retake
    from schedproof.api import write_reports
    from schedproof.reports.retold import retold
    from schedproof.telling.replays import replay_lines

    wanted = OPTIONS["report"].parse("report", list(report or USUAL))
    started = time.monotonic()
    (replayed,) = retake.replay([retake.find(trace)], on)
    summary = retold(replayed, time.monotonic() - started)
    if summary is None:
        put(shown(replay_lines(replayed, spoken, width())))
        complain(tell(spoken)("report.nothing"))
        return NOTHING_TO_REPORT
    for path in write_reports(wanted, summary, spoken):
        complain(tell(spoken)("report.written", path=str(path)))
    return 0
