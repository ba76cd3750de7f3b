"""All that a notebook is given for one result: the same card as text, Markdown and HTML.

Rules.
1. What a cell shows is stored in the notebook file, so one card takes less than `MOST_BYTES` in
   all its forms together. What does not fit is left out from the end, and the card says so.
2. The text is the whole story: it is what logs, screen readers and raw views get.
"""

from __future__ import annotations

from collections.abc import Callable

from schedproof.notebook.blocks import Blocks, Text
from schedproof.notebook.html import html
from schedproof.notebook.markdown import markdown
from schedproof.telling.messages import Say
from schedproof.telling.text import FAINT

MOST_BYTES = 60_000
_TEXT_BYTES, _CARD_BYTES = 15_000, 44_000

MakeBlocks = Callable[[int], Blocks]


def bundle(say: Say, language: str, text: str, blocks: MakeBlocks, most: int) -> dict[str, str]:
    """The MIME bundle; `blocks(n)` makes the card with n further stories, `most` has all."""
    shown = _forms(language, [*blocks(0)[:1], Text(say("notebook.too_long"), FAINT)])
    for more in range(most + 1):
        larger = _forms(language, blocks(more))
        if sum(map(_size, larger.values())) > _CARD_BYTES:
            break
        shown = larger
    return {"text/plain": _cut(say, text), **shown}


def _forms(language: str, blocks: Blocks) -> dict[str, str]:
    return {"text/markdown": markdown(blocks), "text/html": html(blocks, language)}


def _size(text: str) -> int:
    return len(text.encode())


def _cut(say: Say, text: str) -> str:
    """The text, or as many of its first lines as there is room for."""
    if _size(text) <= _TEXT_BYTES:
        return text
    lines = text.split("\n")
    kept, room = 0, _TEXT_BYTES - 200
    while kept < len(lines) and room >= _size(lines[kept]) + 1:
        room -= _size(lines[kept]) + 1
        kept += 1
    return "\n".join([*lines[:kept], say("notebook.cut", lines=len(lines) - kept)])
