"""The command `compare`: recorded arrivals under several policies.

Rules. The table goes to standard output, or one JSON document with `--json`; progress and the
names of written files go to standard error. What only this command needs is imported when it
runs.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from schedmodel.policy import KNOWN_POLICIES
from schedproof.cli.help import TranslatedCommand, option
from schedproof.cli.output import complain, put, width
from schedproof.cli.progress import show_progress
from schedproof.search.results import INTERRUPTED
from schedproof.settings import UsageError
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell


def build_compare(lang: str) -> click.Command:
    """The command in one language."""
    say = tell(lang)
    made = partial(option, lang, of="compare")
    names = (
        "batch blocks block_size token_budget aging_interval time_factor step_ms slo_ttft "
        "slo_tpot starved_after seed rows"
    ).split()
    return TranslatedCommand(
        "compare",
        callback=partial(_compare, lang),
        help=say("help.compare"),
        more=[say("help.compare.more")],
        lang=lang,
        params=[
            click.Argument(["trace"], metavar="TRACE"),
            made("policy", multiple=True, values=lambda: (*KNOWN_POLICIES, "all")),
            *(made(name) for name in names),
            made("format", values=_formats),
            made("drop", flag="drop"),
            made("until"),
            made("csv"),
            made("html"),
            option(lang, "lang", values=lambda: LANGUAGES),
            made("json", flag="as_json"),
            made("quiet", short="-q", flag="quiet"),
        ],
    )


def _formats() -> tuple[str, ...]:
    from schedproof.compare.formats import FORMATS

    return tuple(FORMATS)


def _compare(
    spoken: str, /, trace: str, drop: bool, as_json: bool, quiet: bool, **said: Any
) -> int:
    from schedproof.compare.comparing import compare, to_document
    from schedproof.compare.files import look_at_places
    from schedproof.compare.loader import load
    from schedproof.compare.options import chosen_policies, parsed, setup_of
    from schedproof.compare.words import told

    asked = parsed(said)
    look_at_places(trace, said["csv"], said["html"])
    try:
        policies, setup = chosen_policies(asked), setup_of(asked)
        loaded = load(trace, asked["format"], drop, asked["rows"], hashes=setup.batch > 1)
        with show_progress(spoken, quiet, "compare.progress") as progress:
            found = compare(loaded, setup, policies, progress, asked["until"])
    except KeyboardInterrupt:
        complain(tell(spoken)("compare.stopped"))
        return INTERRUPTED
    if as_json:
        put(json.dumps(to_document(found), indent=2, ensure_ascii=False))
    else:
        put(told(found, spoken, width()))
    _write(found, said["csv"], said["html"], spoken)
    return 0


def _write(found: Any, as_csv: str | None, as_html: str | None, spoken: str) -> None:
    from schedproof.compare.files import to_csv
    from schedproof.compare.pictures import page
    from schedproof.reports.places import PlaceError, write_whole

    for place, text in ((as_csv, to_csv), (as_html, partial(page, language=spoken))):
        if place is None:
            continue
        path = Path(place).expanduser()
        try:
            write_whole(path, text(found))
        except PlaceError as error:
            raise UsageError(error.message_id, **error.values) from None
        complain(tell(spoken)("compare.written", path=str(path)))
