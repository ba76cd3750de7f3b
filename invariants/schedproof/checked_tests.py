"""Checks that tests ask for: what the plugin for pytest does once it is needed.

Rules.
1. A test that checks a scheduler passes only where `check` is true: a search that was cut
   short, or that exercised nothing, has shown nothing.
2. Each mistake is told once, with its whole story, however many policies show it.
3. A check becomes a record of plain values, from which its summary is made again: so it can
   come from another process.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from schedproof import api
from schedproof.reports.places import PlaceError
from schedproof.reports.several import write_several
from schedproof.search.results import INTERRUPTED, Counterexample, RunResult
from schedproof.settings import OPTIONS, UsageError, language, unknown
from schedproof.subjects.load_errors import TargetError
from schedproof.telling.messages import Say, join, tell
from schedproof.telling.report import Summary, render_text, verdict_lines
from schedproof.telling.story import story_of
from schedproof.telling.text import story_text

Record = dict[str, Any]
Records = dict[str, list[Record]]


def look_at_options(profile: str | None, reports: Sequence[str]) -> None:
    """Raise pytest's own error for options that cannot be meant."""
    try:
        if profile is not None:
            OPTIONS["profile"].parse("--schedproof-profile", profile)
        OPTIONS["report"].parse("--schedproof-report", list(reports))
    except UsageError as error:
        raise pytest.UsageError(error.told(language())) from None


def check(
    target: Any, options: dict[str, Any], remember: Callable[[Record], None]
) -> api.CheckResult:
    """The result of a check; a test whose scheduler is not right fails with the story."""
    __tracebackhide__ = True
    result = _result(target, options)
    if isinstance(result, str):
        pytest.fail(result, pytrace=False)
    if result.exit_code == INTERRUPTED:
        raise KeyboardInterrupt
    remember(_record(result))
    if not result.ok:
        pytest.fail("\n".join(failure_lines(result.summary, result.lang)), pytrace=False)
    return result


def _result(target: Any, options: dict[str, Any]) -> api.CheckResult | str:
    """The result, or what is wrong with the call, in words."""
    lang = language()
    allowed = tuple(inspect.signature(api.check).parameters)[1:]
    try:
        for name in options:
            if name not in allowed:
                raise unknown("schedproof_check", name, allowed)
        return api.check(target, **options)
    except UsageError as error:
        return error.told(lang)
    except TargetError as error:
        return tell(lang)(error.message_id, **error.fields)


def failure_lines(summary: Summary, lang: str) -> list[str]:
    """Each story once, then the verdict; the whole report where there is no story."""
    stories: dict[tuple[str, str], tuple[RunResult, Counterexample]] = {}
    policies: dict[tuple[str, str], list[str]] = {}
    for run in summary.runs:
        for found in run.counterexamples:
            stories.setdefault((found.claim, found.text), (run, found))
            policies.setdefault((found.claim, found.text), []).append(found.policy)
    say = tell(lang)
    if not stories:
        verdict = say(f"verdict.{summary.verdict}"), say(f"verdict.{summary.verdict}.means")
        return ["✗ " + join(say, "colon", [*verdict]), "", *render_text(summary, lang).splitlines()]
    lines: list[str] = []
    for key, (run, found) in stories.items():
        lines += [
            *story_text(story_of(found, lang, run)).splitlines(),
            *_policies(say, policies[key]),
        ]
        lines.append("")
    return [*lines, *verdict_lines(summary, lang).splitlines()]


def _policies(say: Say, names: list[str]) -> list[str]:
    names = list(dict.fromkeys(names))
    return ["  " + say("sarif.policies", policies=join(say, "names", names))] if names[1:] else []


def _record(result: api.CheckResult) -> Record:
    summary = result.summary
    return {
        "lang": result.lang,
        "subject": summary.subject,
        "seconds": summary.seconds,
        "runs": [run.to_json() for run in summary.runs],
    }


def _summary_of(record: Record) -> Summary:
    runs = tuple(map(RunResult.from_json, record["runs"]))
    return Summary(record["subject"], runs, record["seconds"])


def _in_order(done: Records) -> Iterator[tuple[str, Record]]:
    """By the tests' names: workers of pytest-xdist finish in any order."""
    for test in sorted(done):
        for record in done[test]:
            yield test, record


def write_reports(wanted: Sequence[str], done: Records) -> list[str]:
    """Write the reports; what is to be said of them."""
    records = [record for _, record in _in_order(done)]
    lang = records[0]["lang"]
    reports = OPTIONS["report"].parse("--schedproof-report", list(wanted))
    try:
        paths = write_several(reports, [_summary_of(record) for record in records], lang)
    except PlaceError as error:
        return [UsageError(error.message_id, **error.values).told(lang)]
    return [tell(lang)("report.written", path=str(path)) for path in paths]


def summary(done: Records, written: Sequence[str]) -> list[str]:
    """The end of pytest's summary: failed tests with their commands, and the reports."""
    lines: list[str] = []
    for test, record in _in_order(done):
        commands = list(dict.fromkeys(_commands(_summary_of(record))))
        if commands:
            lines += [test, *(f"    {command}" for command in commands)]
    return [*lines, *written]


def _commands(summary: Summary) -> Iterator[str]:
    """The commands that take again what was kept."""
    for run in summary.runs:
        kept = [found.kept_as for found in run.counterexamples]
        kept += [] if run.trouble is None else [run.trouble.kept_as]
        yield from (f"schedproof replay {name}" for name in kept if name)
