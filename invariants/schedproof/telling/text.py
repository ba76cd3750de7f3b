"""A story as plain text, at most 80 columns wide where its words allow it.

Rules. Lines carry a style, which a terminal may show as a colour and plain text drops; no
meaning is in the colour alone. Columns are aligned by the width that a terminal shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedproof.telling.layout import on_both_sides, pad, table, width_of, wrap
from schedproof.telling.messages import Say, tell
from schedproof.telling.steps import StepLine
from schedproof.telling.story import Story

BAD, GOOD, HEADING, FAINT, PLAIN = "bad", "good", "heading", "faint", ""
_WHAT_LEAST = 24


@dataclass(frozen=True)
class Line:
    """One line and how it looks: bad, good, heading, faint, or "" for plain."""

    text: str
    style: str = PLAIN


def story_text(story: Story, width: int = 80) -> str:
    """The whole story as text."""
    return "\n".join(line.text for line in story_lines(story, width))


def story_lines(story: Story, width: int = 80) -> list[Line]:
    """The lines of a story, without a line end."""
    say = tell(story.language)
    headline = f"✗ {story.claim}  {story.title}".rstrip()
    lines = _styled(on_both_sides(headline, story.broken, width), BAD)
    for checked in story.checked:
        lines += _styled(wrap(checked, width, "    ", "  "), FAINT)
    lines += [Line(""), Line("  " + say("story.what_went_wrong"), HEADING)]
    for paragraph in story.wrong:
        lines += _styled(wrap(paragraph, width, "    "))
    lines += _books(story, width) + _differences(story, width)
    lines += _follows(say, story, width)
    heading = f"  {say('story.how_to_get_there')}   {story.setup}"
    lines += [Line(""), *_styled(_hanging(heading, story.setup, width), HEADING)]
    lines += steps_as_lines(story.steps, width)
    if story.steps_end:
        lines += _styled(wrap(story.steps_end, width, "    "), BAD)
    lines.append(Line(""))
    return lines + _closing(say, story, width)


def steps_as_lines(steps: Iterable[StepLine], width: int = 80, indent: str = "    ") -> list[Line]:
    """Numbered lines in columns; what does not fit goes on below."""
    steps = list(steps)
    number = max((len(str(step.number)) for step in steps), default=1)
    verbs = max((width_of(step.verb) for step in steps), default=0)
    frees = max((width_of(step.free) for step in steps), default=0)
    left = width_of(indent) + number + 2 + verbs + 3
    room = max(_WHAT_LEAST, width - left - 3 - frees - 4)
    parts = [wrap(step.what, room) for step in steps]
    column = max((width_of(part) for lines in parts for part in lines), default=0)
    lines: list[Line] = []
    for step, what in zip(steps, parts, strict=True):
        head = f"{indent}{step.number:>{number}}  {pad(step.verb, verbs)}   "
        mark = "   ✗" if step.guilty else "   ↻" if step.again else ""
        text = f"{head}{pad(what[0], column)}   {pad(step.free, frees)}{mark}".rstrip()
        lines.append(Line(text, BAD if step.guilty else PLAIN))
        lines += [Line(" " * left + more) for more in what[1:]]
    return lines


def labelled(
    pairs: Iterable[tuple[str, str]], width: int, indent: str = "  ", gap: int = 3
) -> list[Line]:
    """Labels with their texts beside them, all texts in one column."""
    pairs = list(pairs)
    column = max((width_of(label) for label, _ in pairs), default=0) + gap
    left = " " * (width_of(indent) + column)
    lines: list[Line] = []
    for label, text in pairs:
        lines += _styled(wrap(text, width, left, indent + pad(label, column)))
    return lines


def _hanging(heading: str, setup: str, width: int) -> list[str]:
    """A heading with what stands behind it, in as many lines as that takes."""
    first = heading.removesuffix(setup)
    return wrap(setup, width, " " * width_of(first), first)


def _styled(texts: Iterable[str], style: str = PLAIN) -> list[Line]:
    return [Line(text, style) for text in texts]


def _books(story: Story, width: int) -> list[Line]:
    """The sums before and after, and below them what the free count should be."""
    lines: list[Line] = []
    for sums in (story.books[:2], story.books[2:]):
        rows = table([(s.label, s.text, s.mark) for s in sums], gap=3, indent="      ")
        lines += [Line(row, BAD if s.guilty else PLAIN) for row, s in zip(rows, sums, strict=True)]
    notes = [s.note for s in story.books if s.note]
    return lines + [line for note in notes for line in _styled(wrap(note, width, "        "), BAD)]


def _differences(story: Story, width: int) -> list[Line]:
    shown = story.differences
    if shown is None:
        return []
    rows: list[tuple[str, ...]] = [("", "", shown.before, shown.after, "")]
    rows += [(row.whose, row.what, row.before, row.after, row.note) for row in shown.rows]
    if not any(row.whose for row in shown.rows):
        rows = [row[1:] for row in rows]
    texts = table([(*row[:-1], "|") for row in rows], gap=3, indent="      ")
    styles = [FAINT, *(BAD if row.guilty else PLAIN for row in shown.rows)]
    lines: list[Line] = []
    for text, row, style in zip(texts, rows, styles, strict=True):
        cells = text[:-1]  # the notes stand beside them, in as many lines as they need
        beside = wrap(row[-1], width, " " * width_of(cells), cells)
        lines += _styled(beside if row[-1] else [cells.rstrip()], style)
    return lines


def _follows(say: Say, story: Story, width: int) -> list[Line]:
    if not story.follows:
        return []
    told = [line for text in story.follows for line in _styled(wrap(text, width, "    "))]
    return [Line(""), Line("  " + say("story.what_follows"), HEADING), *told]


def _closing(say: Say, story: Story, width: int) -> list[Line]:
    return labelled(closing_of(say, story), width)


def closing_of(say: Say, story: Story) -> list[tuple[str, str]]:
    """What stands below the steps: labels, and the texts beside them."""
    pairs: list[tuple[str, str]] = []
    for place, (claim, title) in enumerate(story.also_broken):
        pairs.append(("" if place else say("story.also_broken"), f"{claim}  {title}"))
    pairs += [(say("story.matters"), story.matters), (say("story.irrelevant"), story.irrelevant)]
    for place, text in enumerate(story.where):
        pairs.append(("" if place else say("story.where"), text))
    pairs += [(say("story.why"), story.why), (say("story.rule"), story.rule)]
    for place, command in enumerate(story.again):
        pairs.append(("" if place else say("story.repeat"), command))
    return [pair for pair in pairs if pair[1]]
