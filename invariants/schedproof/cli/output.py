"""Where the command prints: the result on standard output, the rest on standard error.

Rules.
1. A reader who has seen enough, as in `| head`, is no error: the rest is dropped, and the
   exit code stays what it is.
2. A disk that is full is one: what could not be written is not silently lost.
3. A terminal without our letters gets their numbers; that is no reason to fail.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import click

from schedproof.settings import UsageError
from schedproof.telling.text import BAD, FAINT, GOOD, HEADING, Line


def accept_all_letters() -> None:
    """Let both streams write what their encoding has no letters for as numbers."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def put(text: str) -> None:
    """Print on standard output. Raises `UsageError` where nothing can be written."""
    try:
        click.echo(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout)
    except OSError as error:
        _drop(sys.stdout)
        raise UsageError("usage.cannot_write", error=error.strerror or str(error)) from None


def complain(text: str) -> None:
    """Print on standard error; nobody can be told that it failed."""
    try:
        click.echo(text, err=True)
    except OSError:
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    """Send what is still to come, and what lies in the buffer, nowhere."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):  # somebody's replacement that is no file
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def width() -> int:
    """As wide as the terminal, but no wider than is easily read; 80 columns elsewhere."""
    return max(60, min(shutil.get_terminal_size((80, 24)).columns, 100))


def has_color() -> bool:
    """Whether standard output shows colours, and nobody asked for none."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


_COLOURS: dict[str, dict[str, Any]] = {
    BAD: {"fg": "red"},
    GOOD: {"fg": "green"},
    HEADING: {"bold": True},
    FAINT: {"dim": True},
}


def shown(lines: Sequence[Line]) -> str:
    """The lines as a terminal shows them, with colours where it has any."""
    if not has_color():
        return "\n".join(line.text for line in lines)
    return "\n".join(click.style(line.text, **_COLOURS.get(line.style, {})) for line in lines)
