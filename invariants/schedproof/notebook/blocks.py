"""What a card is made of: headings, paragraphs, tables, code, pictures, and folds.

Rules.
1. A card is a list of blocks, and a block is data: three renderers (text, Markdown, HTML) turn
   the same blocks into what their reader can show.
2. No meaning is in a colour or a picture alone. A style says what a block is (bad, good, faint),
   and the words say it, too.
3. Texts are plain. A part between backticks is code; everything else is shown as it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schedproof.telling.steps import StepLine
from schedproof.telling.text import BAD, PLAIN

MARGIN, SECTION = 1, 2
"""Levels of headings: a card's own first line, and the parts below it."""


@dataclass(frozen=True)
class Heading:
    """A line of its own that says what comes; `aside` stands at its right edge."""

    text: str
    style: str = PLAIN
    level: int = SECTION
    aside: str = ""


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    style: str = PLAIN


@dataclass(frozen=True)
class Row:
    """One row of a table."""

    cells: tuple[str, ...]
    style: str = PLAIN


@dataclass(frozen=True)
class Table:
    """Rows in columns; a heading where there is one. `labels`: the first column names the row."""

    rows: tuple[Row, ...]
    head: tuple[str, ...] = ()
    labels: bool = False


@dataclass(frozen=True)
class Steps:
    """How to get there: numbered lines, one for each action."""

    lines: tuple[StepLine, ...]

    def as_table(self) -> Table:
        """The same as a table, for renderers whose readers break lines themselves."""
        return Table(tuple(map(_step_row, self.lines)))


def _step_row(step: StepLine) -> Row:
    mark = "✗" if step.guilty else "↻" if step.again else ""
    cells = (str(step.number), step.verb, step.what, step.free, mark)
    return Row(cells, BAD if step.guilty else PLAIN)


@dataclass(frozen=True)
class Code:
    """Lines that are shown exactly as they are."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Picture:
    """A drawing, as SVG text, and the same in words. Only HTML shows it."""

    svg: str
    words: str


@dataclass(frozen=True)
class Fold:
    """Blocks behind a line that opens them; where nothing can be opened they are all shown."""

    summary: str
    blocks: tuple[Block, ...]


Block = Heading | Text | Table | Steps | Code | Picture | Fold
Blocks = Sequence[Block]


def pieces_of(text: str) -> list[tuple[bool, str]]:
    """A text in pieces, each with whether it is code. An odd backtick is a plain letter."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    return [(place % 2 == 1, part) for place, part in enumerate(parts) if part]
