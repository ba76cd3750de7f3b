"""A check as a card: the verdict, what held, the first violation as a story, what next.

Rules.
1. The verdict stands first and with its bounds; then, folded, what was looked at.
2. One violation is told in full, every other one is folded and told in full as well.
3. The story's parts come in the order in which they are told everywhere.
4. What to do next says what can be typed in the next cell.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.notebook.blocks import MARGIN, Block, Code, Fold, Heading, Row, Steps, Table, Text
from schedproof.notebook.bundle import bundle
from schedproof.notebook.picture import picture_of
from schedproof.search.results import Counterexample, RunResult, Trouble, Verdict
from schedproof.subjects.places import Place
from schedproof.telling.messages import Say, has_text, join, tell
from schedproof.telling.report import Summary, render_text, told_once, verdict_lines
from schedproof.telling.steps import step_lines
from schedproof.telling.story import Story, story_of
from schedproof.telling.summary_lines import claim_lines, note_lines
from schedproof.telling.text import BAD, FAINT, GOOD, closing_of
from schedproof.telling.trouble import trouble_text

_WIDE = 10_000
"""A width at which no line is broken: a card's reader breaks lines itself."""

_SHOWN_BELOW = (Verdict.VIOLATED, Verdict.INCOMPLETE)
"""Verdicts whose explanation points to what stands elsewhere in a report."""


def mime_bundle(summary: Summary, language: str) -> dict[str, str]:
    """What a notebook shows for a check, by MIME type."""
    text = render_text(summary, language)
    most = max(0, len(told_once(summary)) - 1)
    return bundle(
        tell(language), language, text, lambda more: check_card(summary, language, more), most
    )


def check_card(
    summary: Summary, language: str, further: int = 0, next_steps: bool = True
) -> list[Block]:
    """The card; of the violations after the first only so many are told."""
    say = tell(language)
    *means, verdict = verdict_lines(summary, language, _WIDE).split("\n")
    style = GOOD if verdict.startswith("✓") else BAD if verdict.startswith("✗") else FAINT
    blocks: list[Block] = [Heading(verdict, style, MARGIN)]
    if summary.verdict not in _SHOWN_BELOW:
        blocks += [Text(text, FAINT) for text in means]
    blocks += _what_held(say, summary)
    found = told_once(summary)
    for each in found[:1]:
        blocks += _violation(language, *each)
    blocks += _troubles(say, summary.runs)
    for example, run, others in found[1 : 1 + further]:
        story = story_of(example, language, run)
        told = f"{run.policy} · ✗ {story.claim}  {story.title} · {story.broken}"
        blocks.append(Fold(told, tuple(_violation(language, example, run, others))))
    left_out = len(found) - 1 - further
    if left_out > 0:
        blocks.append(Text(say("notebook.left_out", count=left_out), FAINT))
    return [*blocks, *_what_next(say, summary)] if next_steps else blocks


def _what_held(say: Say, summary: Summary) -> list[Block]:
    """The runs and the claims, folded."""
    lines = claim_lines(say, summary.runs, _WIDE)
    notes = [Text(line.text, line.style) for line in note_lines(say, summary.runs, _WIDE)]
    if not lines:
        return [*notes]
    columns = ("policy", "verdict", "states", "actions", "seconds")
    rows = tuple(_run_row(say, run) for run in summary.runs)
    table = Table(rows, tuple(say(f"table.{name}") for name in columns))
    about: tuple[Block, ...] = (*(Text(line.text) for line in lines[1:]), table, *notes)
    return [Fold(lines[0].text, about)]


def _run_row(say: Say, run: RunResult) -> Row:
    states = "" if run.distinct_states is None else f"{run.distinct_states:,}"
    verdict = say(f"verdict.{run.verdict}")
    return Row((run.policy, verdict, states, f"{run.transitions:,}", f"{run.seconds:.1f}"))


def _violation(
    language: str, example: Counterexample, run: RunResult, others: list[str]
) -> list[Block]:
    """A violation's story, and under which other policies the same actions do it."""
    say = tell(language)
    blocks = story_blocks(story_of(example, language, run), example)
    if others:
        blocks.append(Text(say("report.same_actions", policies=join(say, "names", others))))
    return blocks


def story_blocks(story: Story, example: Counterexample | None = None) -> list[Block]:
    """A counterexample's story as blocks."""
    say = tell(story.language)
    blocks: list[Block] = [Heading(f"✗ {story.claim}  {story.title}", BAD, aside=story.broken)]
    blocks += [Text(checked, FAINT) for checked in story.checked]
    blocks.append(Heading(say("story.what_went_wrong")))
    blocks += [Text(paragraph) for paragraph in story.wrong]
    blocks += _tables(story)
    if story.follows:
        blocks.append(Heading(say("story.what_follows")))
        blocks += [Text(text) for text in story.follows]
    blocks.append(Heading(say("story.how_to_get_there"), aside=story.setup))
    picture = None if example is None else picture_of(say, example)
    blocks += [*([picture] if picture else []), Steps(story.steps)]
    blocks += [Text(story.steps_end, BAD)] if story.steps_end else []
    rows = tuple(Row(pair) for pair in closing_of(say, story))
    return [*blocks, Table(rows, labels=True)] if rows else blocks


def _tables(story: Story) -> list[Block]:
    """The books and the differences."""
    blocks: list[Block] = []
    for sums in (story.books[:2], story.books[2:]):
        rows = tuple(Row((s.label, s.text, s.mark), BAD if s.guilty else "") for s in sums)
        blocks += [Table(rows)] if rows else []
    if story.books:
        blocks += [Text(s.note, BAD) for s in story.books if s.note]
    shown = story.differences
    if shown is not None:
        changed = (
            Row((r.whose, r.what, r.before, r.after, r.note), BAD if r.guilty else "")
            for r in shown.rows
        )
        blocks.append(Table(tuple(changed), ("", "", shown.before, shown.after, "")))
    return blocks


def _troubles(say: Say, runs: Sequence[RunResult]) -> list[Block]:
    blocks: list[Block] = []
    for run in runs:
        if run.trouble is not None:
            kind = "trouble.title.all" if run.policy == "all" else "trouble.title"
            blocks.append(Heading(f"✗ {say(kind, policy=run.policy)}", BAD))
            blocks += trouble_blocks(say, run.trouble)
    return blocks


def trouble_blocks(say: Say, trouble: Trouble, advice: bool = True) -> list[Block]:
    """Trouble with the scheduler: what failed, where, after which actions, what to do."""
    blocks: list[Block] = [Text(trouble_text(say, trouble))]
    place = Place.from_json(trouble.place)
    if place is not None:
        where = say(place.message_id, **place.fields)
        blocks += [Table((Row((say("trouble.where"), where)),), labels=True)]
        blocks += [Code(tuple(place.excerpt()))] if place.lines else []
    if trouble.actions:
        blocks.append(Heading(say("trouble.until_then")))
        blocks.append(Steps(step_lines(say, trouble.actions)))
    if advice and has_text(f"next.{trouble.kind}"):
        told = Row((say("trouble.what_now"), say(f"next.{trouble.kind}")))
        blocks.append(Table((told,), labels=True))
    return blocks


def _what_next(say: Say, summary: Summary) -> list[Block]:
    """What can be done in the next cell; nothing where nothing is wrong."""
    if summary.exit_code == 0:
        return []
    troubles = [run.trouble for run in summary.runs if run.trouble is not None]
    open_todo = any(trouble.kind == "open_todo" for trouble in troubles)
    told = "notebook.next.todo" if open_todo else "notebook.next"
    return [Heading(say("notebook.next.title")), Text(say(told))]
