"""Plain text in columns: widths as a terminal counts them, padding, wrapping, tables.

Rules.
1. A width is a number of terminal cells. Chinese characters and full-width marks take two,
   combining marks none.
2. A line is broken at a space or between Chinese characters, never before a mark that
   closes, never after one that opens, and not between a number and what it counts. A word
   that is too long for a line stands alone on its own.
3. No line ends in spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_WIDE = frozenset("WF")
_CLOSES = frozenset("，。、：；！？）】》”’,.:;!?)]…％")
_OPENS = frozenset("（【《“‘([")
_PIECES = re.compile(
    r"(?:第 )?[\d,]+ [\u4e00-\u9fff]|\s+|[^\s\u2e80-\u9fff\uff00-\uffef]+|.", re.DOTALL
)


def width_of(text: str) -> int:
    """How many terminal cells the text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def pad(text: str, width: int, right: bool = False) -> str:
    """The text filled with spaces to a width; to the right edge with `right`."""
    spaces = " " * max(0, width - width_of(text))
    return spaces + text if right else text + spaces


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """The text in lines of at most `width` cells, each after `indent` (the first: `first`)."""
    lines: list[str] = []
    line = indent if first is None else first
    empty = True
    for word in _words(text):
        if not empty and width_of(line + word.rstrip()) > width:
            lines.append(line.rstrip())
            line, empty = indent, True
        line += word.lstrip() if empty else word
        empty = empty and not word.strip()
    return [*lines, line.rstrip()]


def _words(text: str) -> list[str]:
    """Pieces between which a line may be broken; each with the spaces before it."""
    words: list[str] = []
    for piece in _PIECES.findall(text):
        if words and _holds_together(words[-1], piece):
            words[-1] += piece
        else:
            words.append(piece)
    return words


def _holds_together(before: str, piece: str) -> bool:
    if before.isspace():
        return True
    return piece[0] in _CLOSES or before[-1] in _OPENS


def table(
    rows: Iterable[Sequence[str]], right: Sequence[int] = (), gap: int = 2, indent: str = ""
) -> list[str]:
    """Rows in aligned columns; the columns numbered in `right` are set flush right."""
    cells = [list(row) for row in rows]
    widths = [
        max(width_of(row[column]) for row in cells if column < len(row))
        for column in range(max(map(len, cells), default=0))
    ]
    between = " " * gap
    return [
        (indent + between.join(pad(c, widths[i], i in right) for i, c in enumerate(row))).rstrip()
        for row in cells
    ]


def on_both_sides(left: str, right: str, width: int) -> list[str]:
    """Two texts on one line, the second at the right edge; on two lines if they do not fit."""
    if width_of(left) + 2 + width_of(right) <= width:
        return [pad(left, width - width_of(right)) + right]
    return [left, pad(right, width, right=True)]
