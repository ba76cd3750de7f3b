"""A card as Markdown, for editors and converters that show no HTML.

Rules. Every letter that Markdown would take for its own is escaped, so that what a scheduler
printed stays what it was. Folds are open: Markdown has none.
"""

from __future__ import annotations

import re

from schedproof.notebook.blocks import (
    MARGIN,
    Block,
    Blocks,
    Code,
    Fold,
    Heading,
    Picture,
    Steps,
    Table,
    Text,
    pieces_of,
)
from schedproof.telling.text import BAD, GOOD, HEADING

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_STARTS_A_LIST = re.compile(r"^(\s*)([-+]|\d+\.)(?=\s)")


def markdown(blocks: Blocks) -> str:
    """The card as Markdown."""
    return "\n\n".join(part for block in blocks if (part := _block(block))) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        aside = f" · {_escaped(block.aside)}" if block.aside else ""
        return f"{'###' if block.level == MARGIN else '####'} {_escaped(block.text)}{aside}"
    if isinstance(block, Text):
        text = _inline(block.text)
        return f"**{text}**" if block.style in (BAD, GOOD, HEADING) and "`" not in text else text
    if isinstance(block, Code):
        fence = "```"
        while any(fence in line for line in block.lines):
            fence += "`"
        return "\n".join([f"{fence}text", *block.lines, fence])
    if isinstance(block, Fold):
        return f"#### {_escaped(block.summary)}\n\n{markdown(block.blocks)}".rstrip()
    if isinstance(block, Picture):
        return ""
    return _table(block.as_table() if isinstance(block, Steps) else block)


def _table(block: Table) -> str:
    columns = max(len(row.cells) for row in block.rows)
    line = "| " + " | ".join(["---"] * columns) + " |"
    rows = [_row(row.cells, columns) for row in block.rows]
    return "\n".join([_row(block.head, columns), line, *rows])


def _row(cells: tuple[str, ...], columns: int) -> str:
    filled = [*cells, *[""] * (columns - len(cells))]
    return "| " + " | ".join(_inline(cell) for cell in filled) + " |"


def _inline(text: str) -> str:
    return "".join(
        f"`{part}`" if is_code and "|" not in part else _escaped(part)
        for is_code, part in pieces_of(" ".join(text.split()))
    )


def _escaped(text: str) -> str:
    return _STARTS_A_LIST.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", text))
