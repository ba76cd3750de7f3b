"""Markdown as the made parts of the documents have it: tables, and numbers in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def number(value: int) -> str:
    """A number with its thousands apart."""
    return f"{value:,}"


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[int] = ()
) -> str:
    """A table; the columns named in `right` hold numbers."""
    rule = ["---:" if place in right else "---" for place in range(len(head))]
    cells = [head, rule, *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)
