"""The result of a check as people read it: a table of runs, claims, stories, the verdict.

Rules.
1. One row for each policy, with what was exercised: a run that never preempted says so.
2. Claims that were not exercised or not reached are listed by name; a clean result is
   never told without them.
3. Every violation is told in full; trouble with the scheduler is told with its place, the
   actions that led there, and what to do.
4. The last line is the overall verdict, and its bounds stand in it.
5. Colour and boxes are for terminals; the words are the same everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from schedproof.search.results import (
    EXIT_CODES,
    INTERRUPTED,
    Counterexample,
    RunResult,
    Verdict,
    worst,
)
from schedproof.telling.bounds import DOT, bounds_text, grouped, how_text
from schedproof.telling.layout import table, width_of, wrap
from schedproof.telling.messages import Say, join, tell
from schedproof.telling.story import Story, story_of
from schedproof.telling.summary_lines import claim_lines, exercised_of, note_lines
from schedproof.telling.text import (
    BAD,
    FAINT,
    GOOD,
    HEADING,
    PLAIN,
    Line,
    story_lines,
    story_text,
)
from schedproof.telling.trouble import trouble_lines

_BEFORE_INTERRUPT = (Verdict.VIOLATED, Verdict.ERROR)
_COLUMNS = (
    "policy",
    "verdict",
    "search",
    "states",
    "actions",
    "preemptions",
    "resumes",
    "misses",
    "seconds",
)
_RICH_STYLES = {BAD: "red", GOOD: "green", HEADING: "bold", FAINT: "dim", PLAIN: ""}
_GOOD_VERDICTS = frozenset(
    (
        Verdict.HOLDS_WITHIN_BOUNDS,
        Verdict.NO_VIOLATION_REDUCED,
        Verdict.NO_VIOLATION_FOUND,
    )
)


@dataclass(frozen=True)
class Summary:
    """All runs of one check. `seconds` of wall clock, from start to end."""

    subject: str
    runs: tuple[RunResult, ...]
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """The worst over the runs."""
        return worst([run.verdict for run in self.runs])

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped any run by hand."""
        return any(run.interrupted for run in self.runs)

    @property
    def exit_code(self) -> int:
        """What a command ends with: violated, error, interrupted, incomplete, vacuous, 0."""
        verdict = self.verdict
        if self.interrupted and verdict not in _BEFORE_INTERRUPT:
            return INTERRUPTED
        return EXIT_CODES[verdict]


def stories_of(summary: Summary, language: str) -> list[Story]:
    """The story of every violation, in the order of the runs."""
    return [
        story_of(example, language, run) for run in summary.runs for example in run.counterexamples
    ]


def told_once(summary: Summary) -> list[tuple[Counterexample, RunResult, list[str]]]:
    """Each violation once, with the other policies under which the very same actions do it."""
    told: dict[str, tuple[Counterexample, RunResult, list[str]]] = {}
    for run in summary.runs:
        for example in run.counterexamples:
            key = json.dumps([example.claim, example.text, run.search, example.actions])
            if key in told:
                told[key][2].append(run.policy)
            else:
                told[key] = (example, run, [])
    return list(told.values())


def render_text(summary: Summary, language: str, width: int = 80, color: bool = False) -> str:
    """The whole report as text; with `color` as a terminal shows it."""
    say = tell(language)
    title = Line(say("report.subject", subject=summary.subject), HEADING)
    body = _body(say, language, summary, width)
    if color:
        styles = [_style_of(run.verdict) for run in summary.runs]
        return _in_color(result_rows(say, summary), styles, [title], body, width)
    lines = [title, *_plain_table(result_rows(say, summary), width), *body]
    return "\n".join(line.text for line in lines)


def tell_story(example: Counterexample, language: str, width: int = 80) -> str:
    """One violation as text, without the run that found it."""
    return story_text(story_of(example, language), width)


def verdict_lines(summary: Summary, language: str, width: int = 80) -> str:
    """The overall verdict alone, with its bounds, and what it means."""
    return "\n".join(line.text for line in _overall(tell(language), summary, width))


def _style_of(verdict: str) -> str:
    if verdict == Verdict.NOT_APPLICABLE.value:
        return FAINT
    return GOOD if verdict in _GOOD_VERDICTS else BAD


def _body(say: Say, language: str, summary: Summary, width: int) -> list[Line]:
    """All that stands below the table of runs."""
    known = [*claim_lines(say, summary.runs, width), *note_lines(say, summary.runs, width)]
    lines = [Line(""), *known] if known else []
    for example, run, others in told_once(summary):
        lines += [Line(""), *story_lines(story_of(example, language, run), width)]
        if others:
            text = say("report.same_actions", policies=join(say, "names", others))
            lines += [Line(""), *(Line(part) for part in wrap(text, width, "  "))]
    for run in summary.runs:
        if run.trouble is not None:
            lines += [Line(""), *trouble_lines(say, run.policy, run.trouble, width)]
    return [*lines, Line(""), *_overall(say, summary, width)]


def result_rows(say: Say, summary: Summary) -> list[list[str]]:
    """The heading and a row for each run; columns in which nobody has anything are left out."""
    head = [say(f"table.{name}") for name in _COLUMNS]
    rows = [_row(say, run) for run in summary.runs]
    used = [i for i in range(len(head)) if any(row[i] for row in rows) or i < 2]
    return [[row[i] for i in used] for row in (head, *rows)]


def _row(say: Say, run: RunResult) -> list[str]:
    first = [run.policy, say(f"verdict.{run.verdict}")]
    if not _was_searched(run):
        return first + [""] * (len(_COLUMNS) - len(first))
    states = "" if run.distinct_states is None else grouped(run.distinct_states)
    exercised = [grouped(exercised_of([run], name)) for name in ("PREEMPTION", "RESUME", "MISS")]
    counts = [states, grouped(run.transitions), *exercised, f"{run.seconds:.1f}"]
    return [*first, say(f"search.{run.search}"), *counts]


def _was_searched(run: RunResult) -> bool:
    """Whether the scheduler could be used at all under this policy."""
    if run.verdict == Verdict.NOT_APPLICABLE.value:
        return False
    return bool(run.claims) or run.trouble is None


def _plain_table(rows: list[list[str]], width: int) -> list[Line]:
    right = range(3, len(rows[0]))
    texts = table(rows, right=right)
    if max(map(width_of, texts)) > width:
        texts = table(rows, right=right, gap=1)
    return [Line(text, FAINT if place == 0 else PLAIN) for place, text in enumerate(texts)]


def _overall(say: Say, summary: Summary, width: int) -> list[Line]:
    """The verdict over all runs, with its bounds, and what it means."""
    verdict = summary.verdict
    style = _style_of(verdict)
    mark = {GOOD: "✓", FAINT: "–", BAD: "✗"}[style]
    searched = [run for run in summary.runs if _was_searched(run)]
    parts = [f"{mark} {say(f'verdict.{verdict}')}"]
    if searched:
        parts += [_shared_bounds(say, searched), how_text(say, searched)]
    parts.append(say("report.seconds", seconds=f"{summary.seconds:.1f}"))
    lines = [Line(say("report.interrupted"), BAD)] if summary.interrupted else []
    lines += [Line(text, FAINT) for text in wrap(say(f"verdict.{verdict}.means"), width)]
    last = wrap(DOT.join(part for part in parts if part), width, "  ", "")
    return lines + [Line(text, style) for text in last]


def _shared_bounds(say: Say, runs: Sequence[RunResult]) -> str:
    """The bounds that all runs have in common; bounds of single policies would mislead."""
    shared = {
        name: value
        for name, value in runs[0].bounds.items()
        if all(_plain(run.bounds.get(name)) == _plain(value) for run in runs)
    }
    return bounds_text(say, shared)


def _plain(bound: Any) -> Any:
    """A pair as a list: that is what it is after a trip through JSON."""
    return [*bound] if type(bound) is tuple else bound


def _in_color(
    rows: list[list[str]], styles: list[str], above: list[Line], below: list[Line], width: int
) -> str:
    """The same report as rich draws it for a terminal."""
    from rich import box  # drawing is loaded only when something is drawn
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    buffer = StringIO()
    console = Console(file=buffer, width=width, force_terminal=True, highlight=False)
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place, heading in enumerate(rows[0]):
        drawn.add_column(heading, justify="right" if place >= 3 else "left")
    for row, style in zip(rows[1:], styles, strict=True):
        drawn.add_row(*map(Text, row), style=_RICH_STYLES[style])
    for line in above:
        console.print(Text(line.text, _RICH_STYLES[line.style]), soft_wrap=True)
    console.print(drawn)
    for line in below:
        console.print(Text(line.text, _RICH_STYLES[line.style]), soft_wrap=True)
    return buffer.getvalue().rstrip("\n")
