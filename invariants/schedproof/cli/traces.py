"""The commands on kept traces: replay, explain, minimize, diff.

Rules. A trace is named by its id, the beginning of it, or a path; without a name it is the
one that was kept last. What only these commands need is imported when they run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedmodel import __version__
from schedproof.cli.help import TranslatedCommand, completed_from, option
from schedproof.cli.output import put, shown, width
from schedproof.search.results import EXIT_CODES, Verdict
from schedproof.settings import OPTIONS, UsageError
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell

if TYPE_CHECKING:
    from schedproof.telling.text import Line
    from schedproof.traces.replay import Replayed

PARTED, FAILED = EXIT_CODES[Verdict.VIOLATED], EXIT_CODES[Verdict.ERROR]
SUFFIX = ".json"


def build_traces(lang: str) -> list[click.Command]:
    """The commands in one language."""
    say = tell(lang)
    spoken = option(lang, "lang", values=lambda: LANGUAGES)
    as_json = option(lang, "json", flag="as_json")
    on = option(lang, "on", of="replay")
    named = click.Argument(
        ["trace"], metavar="[TRACE]", required=False, shell_complete=completed_from(_names)
    )
    one = click.Argument(["one"], metavar="A", shell_complete=completed_from(_names))
    other = click.Argument(["other"], metavar="[B]", required=False)
    commands: tuple[tuple[str, Callable[..., int], list[click.Parameter], list[str]], ...] = (
        (
            "replay",
            _replay,
            [named, option(lang, "all", flag="replay_all", of="replay"), on, spoken, as_json],
            [say("help.replay.more")],
        ),
        ("explain", _explain, [named, option(lang, "step", of="explain"), on, spoken, as_json], []),
        ("minimize", _minimise, [named, spoken], []),
        (
            "diff",
            _diff,
            [one, other, option(lang, "trace", of="diff"), spoken],
            [say("help.diff.more")],
        ),
    )
    return [
        TranslatedCommand(
            name,
            callback=partial(call, lang),
            help=say(f"help.{name}"),
            more=more,
            lang=lang,
            params=params,
        )
        for name, call, params, more in commands
    ]


def _names() -> tuple[str, ...]:
    from schedproof.traces.store import Store

    return tuple(path.name.removesuffix(SUFFIX) for path in Store().paths())


def _put(lines: Sequence[Line]) -> None:
    put(shown(lines))


def is_trace_file(target: str | None) -> bool:
    """Whether a target is the file of a trace."""
    return target is not None and target.endswith(SUFFIX) and Path(target).is_file()


def _replay(
    spoken: str,
    /,
    trace: str | None,
    replay_all: bool,
    on: str | None,
    as_json: bool,
    **_said: Any,
) -> int:
    if not replay_all:
        return run_replay(spoken, trace, on, as_json)
    from schedproof import retake
    from schedproof.telling.replays import replays_table
    from schedproof.traces.replay import exit_code
    from schedproof.traces.store import Store

    if trace is not None:
        raise UsageError("usage.all_or_one", name=trace)
    replayed = retake.replay(retake.find_all(), on)
    if as_json:
        _put_document(replayed)
    elif replayed:
        put(replays_table(replayed, spoken))
    else:
        put(tell(spoken)("replay.none", folder=str(Store().folder)))
    return exit_code(replayed)


def run_replay(spoken: str, trace: str | None, on: str | None = None, as_json: bool = False) -> int:
    """Replay one trace and tell it; the exit code."""
    from schedproof import retake
    from schedproof.telling.replays import replay_lines

    (replayed,) = retake.replay([retake.find(trace)], on)
    if as_json:
        _put_document([replayed])
    else:
        _put(replay_lines(replayed, spoken, width()))
    return replayed.exit_code


def _put_document(replayed: Sequence[Replayed]) -> None:
    from schedproof.traces.replay import to_document

    put(json.dumps(to_document(replayed, __version__), indent=2, ensure_ascii=False))


def _explain(
    spoken: str,
    /,
    trace: str | None,
    step: str | None,
    on: str | None,
    as_json: bool,
    **_said: Any,
) -> int:
    from schedproof import retake
    from schedproof.telling.reasons import explained_lines
    from schedproof.traces.trace import TraceError

    kept = retake.find(trace)
    explained = retake.explain(kept, on)
    if step is not None:
        try:
            explained = explained.only(OPTIONS["requests"].parse("--step", step))
        except TraceError as error:
            raise retake.usage_of(error) from None
    if as_json:
        put(json.dumps(explained.to_json(__version__), indent=2, ensure_ascii=False))
    else:
        _put(explained_lines(explained, spoken, width()))
    return 0 if explained.trouble is None else FAILED


def _minimise(spoken: str, /, trace: str | None, **_said: Any) -> int:
    from schedproof import retake
    from schedproof.telling.replays import minimised_lines

    _put(minimised_lines(retake.minimise(retake.find(trace)), spoken, width()))
    return 0


def _diff(spoken: str, /, one: str, other: str | None, trace: str | None, **_said: Any) -> int:
    from schedproof import retake
    from schedproof.telling.partings import parting_lines
    from schedproof.telling.trouble import trouble_lines

    named = trace is None and _names_a_trace(one)
    kept = retake.find(one if named else trace)
    try:
        pair = retake.differ(None if named else one, other or retake.model_like(kept), kept)
    except retake.DiffTrouble as error:
        _put(trouble_lines(tell(spoken), error.name, error.trouble, width()))
        return FAILED
    _put(parting_lines(pair, spoken, width()))
    return PARTED if pair.parts else 0


def _names_a_trace(text: str) -> bool:
    """Whether a word that may be a target names a kept trace."""
    known = [name.lower() for name in _names()]
    return text.endswith(SUFFIX) or any(name.startswith(text.lower()) for name in known)
