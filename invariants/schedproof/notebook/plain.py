"""A card as lines of text, for terminals, screen readers and logs.

Rules. Folds are open, pictures are left out: their words stand in the tables beside them. A
table whose rows do not fit the width is told row by row.
"""

from __future__ import annotations

from schedproof.notebook.blocks import (
    MARGIN,
    Blocks,
    Code,
    Fold,
    Heading,
    Picture,
    Row,
    Steps,
    Table,
    Text,
)
from schedproof.telling.layout import on_both_sides, pad, table, width_of, wrap
from schedproof.telling.text import FAINT, HEADING, PLAIN, Line, labelled, steps_as_lines

INDENT = "  "
_LAST_COLUMN_LEAST = 20


def plain_text(blocks: Blocks, width: int = 80) -> str:
    """The card as one text."""
    return "\n".join(line.text for line in plain_lines(blocks, width))


def plain_lines(blocks: Blocks, width: int = 80, indent: str = "") -> list[Line]:
    """The lines of a card, each with its style."""
    lines: list[Line] = []
    for block in blocks:
        if isinstance(block, Picture):
            continue
        apart = isinstance(block, (Heading, Fold)) or (isinstance(block, Table) and block.labels)
        if apart and lines:
            lines.append(Line(""))
        lines += _block_lines(block, width, indent)
    return lines


def _block_lines(
    block: Heading | Text | Table | Steps | Code | Fold, width: int, indent: str
) -> list[Line]:
    if isinstance(block, Heading):
        left = indent if block.level == MARGIN else indent + INDENT
        texts = on_both_sides(left + block.text, block.aside, width) if block.aside else None
        style = block.style or HEADING
        return [Line(t, style) for t in texts or wrap(block.text, width, left + INDENT, left)]
    inner = indent + INDENT * 2
    if isinstance(block, Text):
        return [Line(text, block.style) for text in wrap(block.text, width, inner)]
    if isinstance(block, Steps):
        return steps_as_lines(block.lines, width, inner)
    if isinstance(block, Code):
        return [Line((inner + text).rstrip()) for text in block.lines]
    if isinstance(block, Fold):
        head = Line(indent + INDENT + block.summary, HEADING)
        return [head, *plain_lines(block.blocks, width, indent)]
    return _table_lines(block, width, inner)


def _table_lines(block: Table, width: int, indent: str) -> list[Line]:
    if block.labels and all(len(row.cells) == 2 for row in block.rows):
        pairs = [(row.cells[0], row.cells[1]) for row in block.rows]
        return labelled(pairs, width, indent)
    rows = [Row(block.head, FAINT)] if block.head else []
    rows += block.rows
    columns = max(len(row.cells) for row in rows)
    fixed = table([(*row.cells[: columns - 1], "|") for row in rows], gap=3, indent=indent)
    lines: list[Line] = []
    for text, row in zip(fixed, rows, strict=True):
        left = text[:-1]
        last = row.cells[columns - 1] if len(row.cells) == columns else ""
        room = max(width, width_of(left) + _LAST_COLUMN_LEAST)
        beside = wrap(last, room, pad("", width_of(left)), left) if last else [left.rstrip()]
        lines += [Line(part, row.style or PLAIN) for part in beside]
    return lines
