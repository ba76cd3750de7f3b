"""The commands and their options, built for one language.

Rules. Options are parsed by the table in `settings`, so click hands texts on as they are.
Each option's help is the catalogue's text of the same name.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import Any

import click

from schedmodel import POLICIES, __version__
from schedproof.api import check
from schedproof.claims.catalogue import BY_ID
from schedproof.cli.help import TranslatedCommand, TranslatedGroup, option
from schedproof.cli.progress import show_progress
from schedproof.search.profiles import PROFILES
from schedproof.settings import LANGUAGES, UsageError, did_you_mean
from schedproof.telling.claims import claim_page, claims_table
from schedproof.telling.messages import tell
from schedproof.telling.report import render_text, verdict_lines

SHELLS = ("bash", "zsh", "fish")


def build(lang: str) -> click.Group:
    """The whole command in one language."""
    say = tell(lang)
    group = TranslatedGroup("schedproof", help=say("help.schedproof"), lang=lang)
    group.params.append(
        click.Option(["--version"], is_flag=True, help=say("help.version"), **_version())
    )
    group.add_command(_check(lang))
    group.add_command(_claims(lang))
    group.add_command(_completion(lang))
    return group


def _version() -> dict[str, Any]:
    def show(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if value:
            click.echo(f"schedproof {__version__}")
            context.exit()

    return {"callback": show, "expose_value": False, "is_eager": True}


def _check(lang: str) -> click.Command:
    say = tell(lang)

    def run(as_json: bool, **said: Any) -> int:
        quiet = said.pop("quiet")
        with show_progress(lang, quiet) as progress:
            result = check(**said, progress=progress)
        if as_json:
            click.echo(json.dumps(result.to_json(), indent=2, ensure_ascii=False))
        elif quiet and result.ok:
            click.echo(verdict_lines(result.summary, result.lang, _width()))
        else:
            click.echo(render_text(result.summary, result.lang, _width(), _has_color()))
        return result.exit_code

    return TranslatedCommand(
        "check",
        callback=run,
        help=say("help.check"),
        lang=lang,
        params=[
            click.Argument(["target"], required=False),
            option(lang, "check", "policy", multiple=True, values=(*POLICIES, "all")),
            option(lang, "check", "blocks"),
            option(lang, "check", "requests"),
            option(lang, "check", "seed"),
            option(lang, "check", "time"),
            option(lang, "check", "memory"),
            option(lang, "check", "claims", multiple=True, values=tuple(BY_ID)),
            option(lang, "check", "profile", values=tuple(PROFILES)),
            option(lang, "check", "factory"),
            option(lang, "check", "cell"),
            option(lang, "check", "lang", values=LANGUAGES),
            option(lang, "check", "json", flag="as_json"),
            option(lang, "check", "quiet", flag="quiet"),
        ],
    )


def _width() -> int:
    """As wide as the terminal, but no wider than is easily read; 80 columns elsewhere."""
    return max(60, min(shutil.get_terminal_size((80, 24)).columns, 100))


def _has_color() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _claims(lang: str) -> click.Group:
    say = tell(lang)

    def show(claim_id: str, **_said: Any) -> None:
        claim = BY_ID.get(claim_id.upper())
        if claim is None:
            meant = did_you_mean(claim_id.upper(), tuple(BY_ID))
            text = "usage.unknown_did_you_mean" if meant else "usage.unknown"
            allowed = ", ".join(BY_ID)
            raise UsageError(text, option="ID", value=claim_id, allowed=allowed, suggestion=meant)
        click.echo(claim_page(claim, lang))

    def list_all(**_said: Any) -> None:
        click.echo(claims_table(lang))

    spoken = option(lang, "check", "lang", values=LANGUAGES)
    group = TranslatedGroup("claims", help=say("help.claims"), lang=lang)
    group.add_command(
        TranslatedCommand(
            "list", callback=list_all, help=say("help.claims.list"), lang=lang, params=[spoken]
        )
    )
    wanted = click.Argument(["claim_id"], metavar="ID", shell_complete=_complete(tuple(BY_ID)))
    group.add_command(
        TranslatedCommand(
            "show",
            callback=show,
            help=say("help.claims.show"),
            lang=lang,
            params=[wanted, spoken],
        )
    )
    return group


def _complete(values: tuple[str, ...]) -> Any:
    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
        return [value for value in values if value.lower().startswith(begun.lower())]

    return complete


def _completion(lang: str) -> click.Command:
    def show(shell: str, **_said: Any) -> None:
        from click.shell_completion import get_completion_class

        kind = get_completion_class(shell)
        if kind is None:
            raise UsageError("usage.unknown", option="SHELL", value=shell, allowed=", ".join(SHELLS))
        script = kind(click.Group("schedproof"), {}, "schedproof", "_SCHEDPROOF_COMPLETE")
        click.echo(script.source_template % script.source_vars())

    return TranslatedCommand(
        "completion",
        callback=show,
        help=tell(lang)("help.completion"),
        lang=lang,
        params=[
            click.Argument(["shell"], type=click.Choice(SHELLS)),
            option(lang, "check", "lang", values=LANGUAGES),
        ],
    )
