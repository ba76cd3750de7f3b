"""What an engine raised, as plain values: where in its own code, and what.

Rule. The innermost line of the engine's code counts, not ours and not the adapter's, so that
an assertion deep inside is told where it stands.
"""

from __future__ import annotations

import linecache
import traceback
from pathlib import Path

from schedproof.subjects.observation import Raised
from schedproof.subjects.places import StopSubject

OURS = str(Path(__file__).resolve().parents[1])
TEXT_MAX = 300


def raised_of(call: str, error: BaseException) -> Raised:
    """The error with its place; an endless call has no type."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(OURS)] or list(frames)
    frame = theirs[-1] if theirs else None
    file = frame.filename if frame else ""
    line = (frame.lineno or 0) if frame else 0
    endless = isinstance(error, StopSubject)
    return Raised(
        call,
        "" if endless else type(error).__name__,
        "" if endless else str(error)[:TEXT_MAX],
        "/".join(Path(file).parts[-2:]),
        0 if endless else line,
        frame.name if frame else "",
        linecache.getline(file, line).strip(),
    )
