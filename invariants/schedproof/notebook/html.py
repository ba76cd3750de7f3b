"""A card as HTML that needs no script, no style sheet and nothing from the network.

Rules.
1. A notebook that nobody has trusted yet takes scripts, frames and style sheets out. What is left
   is what a card is made of: plain elements, inline styles, `<details>`, and pictures as data.
2. Every text is escaped; a scheduler's words are never markup.
3. Colours are readable on light and on dark ground, and no size is fixed but in the reader's em.
"""

from __future__ import annotations

import base64
from html import escape

from schedproof.notebook.blocks import (
    MARGIN,
    Block,
    Blocks,
    Code,
    Fold,
    Heading,
    Picture,
    Row,
    Steps,
    Table,
    Text,
    pieces_of,
)
from schedproof.telling.text import BAD, FAINT, GOOD, HEADING

_MONO = "font-family:monospace"
_COLOURS = {
    BAD: "color:#d1343c;font-weight:bold",
    GOOD: "color:#1a8a4a;font-weight:bold",
    HEADING: "font-weight:bold",
    FAINT: "opacity:0.7",
    "": "",
}
_EDGES = {BAD: "#d1343c", GOOD: "#1a8a4a"}


def html(blocks: Blocks, language: str) -> str:
    """The card as one element."""
    first = next((block.style for block in blocks if isinstance(block, Heading)), "")
    edge = _EDGES.get(first, "#888888")
    style = f"border-left:4px solid {edge};padding:2px 0 2px 12px;line-height:1.45;max-width:60em"
    return f'<div lang="{_tag(language)}" style="{style}">{_all(blocks)}</div>'


def _tag(language: str) -> str:
    return "zh-Hans" if language == "zh" else language


def _all(blocks: Blocks) -> str:
    return "".join(map(_block, blocks))


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return _heading(block)
    if isinstance(block, Text):
        return f'<p style="margin:4px 0;{_COLOURS[block.style]}">{_inline(block.text)}</p>'
    if isinstance(block, Code):
        lines = escape("\n".join(block.lines))
        style = f"{_MONO};margin:6px 0;padding:6px 10px;border:1px solid #888888;overflow-x:auto"
        return f'<pre style="{style};font-size:0.92em">{lines}</pre>'
    if isinstance(block, Picture):
        data = base64.b64encode(block.svg.encode()).decode()
        source = f"data:image/svg+xml;base64,{data}"
        words = escape(block.words)
        return f'<p style="margin:8px 0"><img alt="{words}" title="{words}" src="{source}"></p>'
    if isinstance(block, Fold):
        summary = f'<summary style="cursor:pointer">{_inline(block.summary)}</summary>'
        inner = f'<div style="padding-left:14px">{_all(block.blocks)}</div>'
        return f'<details style="margin:6px 0">{summary}{inner}</details>'
    return _table(block.as_table() if isinstance(block, Steps) else block)


def _heading(block: Heading) -> str:
    name, size, above = ("h3", "1.1em", "4px") if block.level == MARGIN else ("h4", "1em", "12px")
    style = f"margin:{above} 0 4px 0;font-size:{size};line-height:1.35"
    style += f";{_COLOURS[block.style or HEADING]}"
    aside = f' <span style="font-weight:normal">· {_inline(block.aside)}</span>'
    return f'<{name} style="{style}">{_inline(block.text)}{aside if block.aside else ""}</{name}>'


def _table(block: Table) -> str:
    columns = max(len(row.cells) for row in block.rows)
    head = "".join(_cell("th", cell, "font-weight:normal;opacity:0.7") for cell in block.head)
    rows = [f"<tr>{head}</tr>"] if block.head else []
    rows += [_row(row, columns, block.labels) for row in block.rows]
    style = "border-collapse:collapse;margin:6px 0;font-size:0.95em"
    return f'<div style="overflow-x:auto"><table style="{style}">{"".join(rows)}</table></div>'


def _row(row: Row, columns: int, labels: bool) -> str:
    cells = [*row.cells, *[""] * (columns - len(row.cells))]
    style = _COLOURS[row.style]
    made = [
        _cell("th", cell, f"white-space:nowrap;{style}")
        if labels and not place
        else _cell("td", cell, style)
        for place, cell in enumerate(cells)
    ]
    return f"<tr>{''.join(made)}</tr>"


def _cell(name: str, text: str, style: str) -> str:
    usual = "text-align:left;vertical-align:baseline;padding:1px 16px 1px 0"
    return f'<{name} style="{usual};{style}">{_inline(text)}</{name}>'


def _inline(text: str) -> str:
    return "".join(
        f'<code style="{_MONO}">{escape(part)}</code>' if is_code else escape(part)
        for is_code, part in pieces_of(text)
    )
