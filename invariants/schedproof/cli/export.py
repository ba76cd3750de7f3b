"""`schedproof export`: a trace as a test for pytest, an ITF trace, a diagram, or as it is.

Rules. The text goes to standard output, so that it can be looked at or piped, or to the file
that `--to` names. What is already there is never overwritten.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedproof.cli.help import TranslatedCommand, completed_from, option
from schedproof.cli.output import complain, put
from schedproof.formats.names import FORMS
from schedproof.settings import UsageError
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell

if TYPE_CHECKING:
    from schedproof.exporting import Exported


def build_export(lang: str) -> click.Command:
    """The command in one language."""
    say = tell(lang)
    named = click.Argument(
        ["trace"], metavar="[TRACE]", required=False, shell_complete=completed_from(_names)
    )
    forms = [option(lang, form, flag=f"as_{form}", of="export") for form in FORMS]
    return TranslatedCommand(
        "export",
        callback=partial(_export, lang),
        help=say("help.export"),
        more=[say("help.export.more")],
        lang=lang,
        params=[
            named,
            *forms,
            option(lang, "to", of="export"),
            option(lang, "lang", values=lambda: LANGUAGES),
        ],
    )


def _names() -> tuple[str, ...]:
    from schedproof.traces.store import Store

    return tuple(path.name.removesuffix(".json") for path in Store().paths())


def _export(spoken: str, /, trace: str | None, to: str | None, **said: Any) -> None:
    from schedproof import retake
    from schedproof.exporting import export

    chosen = [form for form in FORMS if said[f"as_{form}"]]
    if len(chosen) != 1:
        raise UsageError("export.one_form", allowed=tuple(f"--{form}" for form in FORMS))
    kept = retake.find(trace)
    place = None if to is None else Path(to).expanduser()
    folder = None if place is None else _folder(to or "", place)
    made = export(kept, chosen[0], spoken, folder)
    if made.fixed and chosen[0] == "pytest":
        text = tell(spoken)("export.passes_now", trace=kept.name, subject=kept.trace.subject)
        complain(text)
    if place is None or folder is None:
        put(made.text.rstrip("\n"))
    else:
        path = folder / made.file_name if folder == place else place
        _write(path, made)
        put(tell(spoken)("fault.exported", path=str(path)))


def _folder(text: str, place: Path) -> Path:
    """The folder of the file; the place itself where that is a folder."""
    return place if text.endswith("/") or place.is_dir() else place.parent


def _write(path: Path, made: Exported) -> None:
    from schedproof.traces.store import write_atomically

    if path.exists():
        raise UsageError("usage.exists", path=str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, made.text)
    except OSError as error:
        raise UsageError("usage.cannot_write", error=str(error)) from None
