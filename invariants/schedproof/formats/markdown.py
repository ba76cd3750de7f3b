"""The result as Markdown, for the summary of a CI job, a merge request, or an issue.

Rules.
1. The verdict comes first, then the table of runs, then every violation with its story. The
   first story is open, the others are folded.
2. Texts of the user's (names of classes, what an exception said) never become markup.
3. The text stays small enough for the summary of a CI job: after `STORIES_MAX` stories the
   rest is named only.
"""

from __future__ import annotations

import html
import re

from schedproof.formats.mermaid import to_mermaid
from schedproof.formats.reading import claim_title, counterexamples
from schedproof.search.results import Counterexample, RunResult
from schedproof.telling.messages import Say, join, tell
from schedproof.telling.report import Summary, result_rows, verdict_lines
from schedproof.telling.story import breach_text, story_of
from schedproof.telling.summary_lines import claim_lines, note_lines
from schedproof.telling.text import story_text
from schedproof.telling.trouble import trouble_lines

STORIES_MAX = 12
_WIDE = 10_000  # cells: no line is broken where the reader's own window breaks it
_MARKUP = re.compile(r"[\\`*\[\]<>|~&]|(?<![^\W_])_|_(?![^\W_])|^[#+-]")


def to_markdown(summaries: list[Summary], language: str) -> str:
    """The whole text; one part for each summary."""
    return "\n".join(_part(tell(language), language, summary) for summary in summaries)


def _part(say: Say, language: str, summary: Summary) -> str:
    *meaning, verdict = verdict_lines(summary, language, _WIDE).splitlines()
    lines = [f"## schedproof: {_code(summary.subject)}", "", f"**{_escaped(verdict)}**"]
    lines += ["", *_table(say, summary), ""]
    known = [*claim_lines(say, summary.runs, _WIDE), *note_lines(say, summary.runs, _WIDE)]
    lines += [f"- {_escaped(line.text.strip())}" for line in known]
    found = list(counterexamples(summary))
    for place, (run, example) in enumerate(found[:STORIES_MAX]):
        lines += ["", *_story(say, language, summary, run, example, first=place == 0)]
    lines += _the_rest(say, found[STORIES_MAX:])
    for run in summary.runs:
        if run.trouble is not None:
            text = "\n".join(line.text for line in trouble_lines(say, run.policy, run.trouble))
            lines += ["", *_fenced(text)]
    return "\n".join([*lines, "", *(f"{_escaped(line)}  " for line in meaning)]) + "\n"


def _table(say: Say, summary: Summary) -> list[str]:
    head, *rows = result_rows(say, summary)
    right = ["---" if place < 3 else "---:" for place in range(len(head))]
    cells = [[_escaped(cell) for cell in row] for row in (head, *rows)]
    return [f"| {' | '.join(row)} |" for row in (cells[0], right, *cells[1:])]


def _story(
    say: Say, language: str, summary: Summary, run: RunResult, example: Counterexample, first: bool
) -> list[str]:
    title = f"{example.claim} {claim_title(say, run, example.claim)}".rstrip()
    heading = html.escape(join(say, "colon", [example.policy, title]))
    return [
        f"<details{' open' if first else ''}><summary>{heading}</summary>",
        "",
        *_fenced(story_text(story_of(example, language, run))),
        "",
        *_fenced(to_mermaid(example, language).rstrip("\n"), "mermaid"),
        "",
        "</details>",
    ]


def _the_rest(say: Say, rest: list[tuple[RunResult, Counterexample]]) -> list[str]:
    lines = [
        f"- {_escaped(join(say, 'colon', [example.policy, breach_text(say, example)]))}"
        for _run, example in rest
    ]
    return ["", _escaped(say("format.more", count=len(rest))), "", *lines] if rest else []


def _fenced(text: str, kind: str = "text") -> list[str]:
    """A block of code; its fence is longer than any row of backticks in the text."""
    longest = max((len(row) for row in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence + kind, text, fence]


def _code(text: str) -> str:
    """A piece of code within a line."""
    longest = max((len(row) for row in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text.replace("\r", " ").replace("\n", " "))
