"""The commands and their options, built for one language.

Rules. Options are parsed by the table in `settings`, so click hands texts on as they are.
Each option's help is the catalogue's text of the same name. What only some commands need is
imported when they run: printing the version must not load a search.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from schedmodel import __version__
from schedmodel.policy import KNOWN_POLICIES
from schedproof.claims.against import MODEL, MODEL_1
from schedproof.cli.compare import build_compare
from schedproof.cli.export import build_export
from schedproof.cli.faults import build_faults
from schedproof.cli.help import TranslatedCommand, TranslatedGroup, completed_from, option
from schedproof.cli.learn import build_learn
from schedproof.cli.new import build_new
from schedproof.cli.output import complain, has_color, put, width
from schedproof.cli.report import build_report
from schedproof.cli.traces import build_traces, is_trace_file, run_replay
from schedproof.reports.formats import FORMATS
from schedproof.search.exhaustive.names import IDENTITIES, REDUCTIONS, SEARCHES
from schedproof.search.profiles import PROFILES
from schedproof.search.results import EXIT_CODES, INTERRUPTED, USAGE
from schedproof.settings import resolve, unknown
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell
from schedproof.telling.text import labelled

if TYPE_CHECKING:
    from schedproof.api import CheckResult

SHELLS = ("bash", "zsh", "fish")


def build(lang: str) -> click.Group:
    """The whole command in one language."""
    say = tell(lang)
    group = TranslatedGroup("schedproof", help=say("help.schedproof"), lang=lang)
    group.params.append(
        click.Option(["-V", "--version"], is_flag=True, help=say("help.version"), **_version())
    )
    group.add_command(_check(lang))
    group.add_command(_claims(lang))
    group.add_command(build_faults(lang))
    group.add_command(build_learn(lang))
    group.add_command(build_new(lang))
    for command in build_traces(lang):
        group.add_command(command)
    group.add_command(build_report(lang))
    group.add_command(build_compare(lang))
    group.add_command(build_export(lang))
    group.add_command(_completion(lang))
    return group


def _version() -> dict[str, Any]:
    def show(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            put(f"schedproof {__version__}")
            context.exit()

    return {"callback": show, "expose_value": False, "is_eager": True}


def _check(lang: str) -> click.Command:
    say = tell(lang)

    def run(**said: Any) -> int:
        return _run_check(lang, **said)

    return TranslatedCommand(
        "check",
        callback=run,
        help=say("help.check"),
        more=[say("help.check.target")],
        epilog=_exit_codes(lang),
        lang=lang,
        params=[
            click.Argument(["target"], required=False),
            option(lang, "policy", multiple=True, values=lambda: (*KNOWN_POLICIES, "all")),
            option(lang, "search", values=lambda: SEARCHES),
            option(lang, "scope", values=_scope_names),
            option(lang, "requests"),
            option(lang, "blocks"),
            option(lang, "identity", values=lambda: IDENTITIES),
            option(lang, "reduce", multiple=True, values=lambda: REDUCTIONS),
            option(lang, "all_shortest", flag="all_shortest"),
            option(lang, "keep_going", flag="keep_going"),
            option(lang, "liveness", flag="liveness"),
            option(lang, "seed"),
            option(lang, "time"),
            option(lang, "memory"),
            option(lang, "claims", multiple=True, values=_claim_names),
            option(lang, "claims_from"),
            option(lang, "against", values=lambda: (MODEL,)),
            option(lang, "profile", values=lambda: tuple(PROFILES)),
            option(lang, "factory"),
            option(lang, "cell"),
            option(lang, "report", multiple=True, values=lambda: tuple(FORMATS)),
            _lang(lang),
            option(lang, "json", flag="as_json"),
            option(lang, "quiet", short="-q", flag="quiet"),
            option(lang, "no_save", flag="no_save"),
        ],
    )


def _run_check(spoken: str, /, as_json: bool, quiet: bool, **said: Any) -> int:
    from schedproof.api import check
    from schedproof.cli.progress import show_progress
    from schedproof.telling.report import render_text, verdict_lines

    if is_trace_file(said["target"]):  # to check a trace is to replay it
        return run_replay(spoken, said["target"], as_json=as_json)
    # Options that were not given: an empty list of values, a flag that is not set.
    said = {name: value for name, value in said.items() if value not in ((), False)}
    asked = resolve({**said, "quiet": quiet or None})
    with show_progress(spoken, asked["quiet"]) as progress:
        result = check(**{**said, "no_save": asked["no_save"]}, progress=progress)
    if as_json:
        put(json.dumps(result.to_json(), indent=2, ensure_ascii=False))
    elif asked["quiet"] and result.ok:
        put(verdict_lines(result.summary, result.lang, width()))
    else:
        put(render_text(result.summary, result.lang, width(), has_color()))
        put_next(result, width())
    if result.not_kept:
        complain(tell(result.lang)("report.not_kept", reason=result.not_kept))
    for path in result.reports:
        complain(tell(result.lang)("report.written", path=str(path)))
    return result.exit_code


def put_next(result: CheckResult, width: int) -> None:
    """Print which commands go on from a violation."""
    from schedproof.telling.next_steps import next_lines

    lines = next_lines(result.summary, result.lang, width)
    if lines:
        put("\n".join(["", *(line.text for line in lines)]))


def _scope_names() -> tuple[str, ...]:
    from schedproof.search.exhaustive.scopes import shipped

    return tuple(shipped())


def _exit_codes(lang: str) -> str:
    """The table below the help of `check`."""
    say = tell(lang)
    codes = sorted({USAGE, INTERRUPTED, *EXIT_CODES.values()})
    rows = [(str(code), say(f"exit.{code}")) for code in codes]
    return "\n".join([say("exit.title"), *(line.text for line in labelled(rows, 80))])


def _lang(lang: str) -> click.Option:
    return option(lang, "lang", values=lambda: LANGUAGES)


def _claim_ids() -> tuple[str, ...]:
    from schedproof.claims.catalogue import BY_ID

    return tuple(BY_ID)


def _claim_names() -> list[str]:
    from schedproof.claims.catalogue import known_names

    return known_names()


def _claims(lang: str) -> click.Group:
    say = tell(lang)

    def list_all(**_said: Any) -> None:
        from schedproof.telling.claims import claims_table

        put(claims_table(lang))

    def show(claim_id: str, **_said: Any) -> None:
        from schedproof.claims.catalogue import BY_ID
        from schedproof.telling.claims import claim_page

        claim = {**BY_ID, MODEL_1.id: MODEL_1}.get(claim_id.upper())
        if claim is None:
            raise unknown("ID", claim_id, _claim_ids())
        put(claim_page(claim, lang))

    wanted = click.Argument(["claim_id"], metavar="ID", shell_complete=completed_from(_claim_ids))
    group = TranslatedGroup("claims", help=say("help.claims"), lang=lang)
    for name, callback, params in (
        ("list", list_all, [_lang(lang)]),
        ("show", show, [wanted, _lang(lang)]),
    ):
        text = say(f"help.claims.{name}")
        group.add_command(
            TranslatedCommand(name, callback=callback, help=text, lang=lang, params=params)
        )
    return group


def _completion(lang: str) -> click.Command:
    def show(shell: str, **_said: Any) -> None:
        from click.shell_completion import get_completion_class

        kind = get_completion_class(shell) if shell in SHELLS else None
        if kind is None:
            raise unknown("SHELL", shell, SHELLS)
        script = kind(click.Group("schedproof"), {}, "schedproof", "_SCHEDPROOF_COMPLETE")
        put(script.source_template % script.source_vars())

    wanted = click.Argument(["shell"], shell_complete=completed_from(lambda: SHELLS))
    return TranslatedCommand(
        "completion",
        callback=show,
        help=tell(lang)("help.completion"),
        lang=lang,
        params=[wanted, _lang(lang)],
    )
