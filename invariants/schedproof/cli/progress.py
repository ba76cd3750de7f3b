"""Progress while a check runs, on standard error.

Rules. On a terminal a bar for each policy; elsewhere one plain line every ten seconds; with
`--quiet` nothing. NO_COLOR is honoured by the library that draws the bars.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import click

from schedproof.telling.messages import tell

Progress = Callable[[dict[str, Any]], None]
LINE_SECONDS = 10.0


@contextmanager
def show_progress(
    lang: str, quiet: bool, text: str = "progress.line"
) -> Generator[Progress, None, None]:
    """Somebody to tell progress to, for as long as the block lasts; `text` tells it in a line."""
    if quiet:
        yield lambda _data: None
    elif sys.stderr.isatty():
        with _bars() as progress:
            yield progress
    else:
        yield _lines(lang, text)


def _lines(lang: str, text: str) -> Progress:
    last = time.monotonic()

    def line(data: dict[str, Any]) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            kind = text if data["of"] else "progress.states"
            click.echo(tell(lang)(kind, **data), err=True)

    return line


@contextmanager
def _bars() -> Generator[Progress, None, None]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description:<16}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, Any] = {}

    def advance(data: dict[str, Any]) -> None:
        policy = data["policy"]
        if policy not in tasks:
            tasks[policy] = bars.add_task(policy, total=data["of"])
        bars.update(tasks[policy], completed=data["done"])

    with bars:
        yield advance
