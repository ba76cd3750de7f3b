"""What an engine raised, as plain values: where in its own code, and what.

Rules.
1. The innermost line counts, so that an assertion deep inside is told where it stands.
2. Where that line is the adapter's or ours, the adapter does not fit the engine: that is a
   mistake of the adapter, and never told as a fault of the engine.
"""

from __future__ import annotations

import inspect
import linecache
import traceback
from pathlib import Path
from typing import Any

from schedproof.subjects.contract import SubjectError
from schedproof.subjects.observation import Raised
from schedproof.subjects.places import StopSubject, text_of

OURS = str(Path(__file__).resolve().parents[1])


def raised_of(call: str, error: BaseException, adapter: type[Any]) -> Raised:
    """The error with its place; an endless call has no type.

    Raises `SubjectError` where it is the adapter's.
    """
    frames = [*traceback.extract_tb(error.__traceback__)]
    endless = isinstance(error, StopSubject)
    if endless:
        frames = [frame for frame in frames if not frame.filename.startswith(OURS)]
    frame = frames[-1] if frames else None
    file = frame.filename if frame else ""
    line = (frame.lineno or 0) if frame else 0
    if not endless and (file.startswith(OURS) or file == _file_of(adapter)):
        place = {"file": "/".join(Path(file).parts[-2:]), "line": line, "call": call}
        told = {"type": type(error).__name__, "text": text_of(error)}
        raise SubjectError("adapter", "error.adapter", {**place, **told}) from error
    return Raised(
        call,
        "" if endless else type(error).__name__,
        "" if endless else text_of(error),
        "/".join(Path(file).parts[-2:]),
        0 if endless else line,
        frame.name if frame else "",
        linecache.getline(file, line).strip(),
    )


def _file_of(adapter: type[Any]) -> str:
    """The file that the adapter's class was written in; "" where there is none."""
    try:
        return inspect.getfile(adapter)
    except (OSError, TypeError):
        return ""
