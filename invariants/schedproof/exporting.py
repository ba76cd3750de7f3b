"""A kept trace in another form: a test, an ITF trace, a diagram.

Rules.
1. The actions are taken again first, on the scheduler as it is now, in a child process: what
   is written is what happens, with its story, not what happened once.
2. A diagram and a test with plain asserts need the violation itself, and are refused where
   there is none any more. The other forms need the trace alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from schedproof import retake
from schedproof.formats.mermaid import to_mermaid
from schedproof.formats.names import FORMS
from schedproof.formats.regression import NotExportable, test_name, to_pytest
from schedproof.formats.standalone import to_standalone
from schedproof.search.results import Counterexample
from schedproof.settings import UsageError
from schedproof.traces.itf import to_itf_text
from schedproof.traces.store import Kept
from schedproof.traces.taken import FIXED, STILL
from schedproof.traces.trace import Trace


@dataclass(frozen=True)
class Exported:
    """The text, the usual name of its file, and whether nothing is broken any more."""

    text: str
    file_name: str
    fixed: bool = False


def export(kept: Kept, form: str, lang: str, folder: Path | None = None) -> Exported:
    """The trace in one of `FORMS`; a file of it will lie in `folder`. Raises `UsageError`."""
    trace, name = kept.trace, _file_name(kept, form)
    if form == "json":
        return Exported(trace.to_text(), name)
    (replayed,) = retake.replay([kept])
    found = replayed.taken.example if replayed.taken.status == STILL else None
    try:
        text = _text(form, trace, found, lang, folder)
    except NotExportable as error:
        raise UsageError(error.message_id, **error.values) from None
    if text is None:
        raise UsageError("export.not_broken", trace=kept.name, subject=trace.subject)
    return Exported(text, name, replayed.taken.status == FIXED)


def _text(
    form: str, trace: Trace, found: Counterexample | None, lang: str, folder: Path | None
) -> str | None:
    if form == "pytest":
        return to_pytest(trace, found, lang)
    if form == "itf":
        return to_itf_text(trace, () if found is None else found.frames)
    if found is None:
        return None
    if form == "mermaid":
        return to_mermaid(found, lang)
    return to_standalone(trace, found, lang, folder)


def _file_name(kept: Kept, form: str) -> str:
    """The usual name of a file; that of a test is one that pytest collects."""
    suffix = FORMS[form]
    return (test_name(kept.trace) if suffix == ".py" else kept.name) + suffix
