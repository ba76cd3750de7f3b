"""`schedproof faults`: list the faults of the zoo, show one, hunt them, export one.

Rules. A hunt ends with 0 if every fault was killed as the zoo says, and with 1 otherwise.
What only these commands need is imported when they run.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedmodel import __version__
from schedproof.cli.help import TranslatedCommand, TranslatedGroup, completed_from, option
from schedproof.cli.output import complain, put
from schedproof.search.results import USAGE
from schedproof.settings import OPTIONS, UsageError, unknown
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell

if TYPE_CHECKING:
    from schedproof.hunt import Prey
    from schedproof.zoo.faults import Fault

LINE_SECONDS = 10.0
ALL = "all"


def build_faults(lang: str) -> click.Group:
    """The group of commands in one language."""
    say = tell(lang)
    group = TranslatedGroup("faults", help=say("help.faults"), lang=lang)
    spoken = option(lang, "lang", values=lambda: LANGUAGES)
    one = click.Argument(["name"], metavar="NAME", shell_complete=completed_from(_names))
    some = click.Argument(
        ["names"], metavar="[NAME]...", nargs=-1, shell_complete=completed_from(_names)
    )
    hunting: list[click.Parameter] = [
        some,
        option(lang, "all", flag="hunt_all", of="faults"),
        option(lang, "policy", multiple=True, values=lambda: (*_policies(), ALL), of="faults"),
        spoken,
        option(lang, "json", flag="as_json"),
        option(lang, "quiet", short="-q", flag="quiet", of="faults"),
    ]
    exporting: list[click.Parameter] = [one, option(lang, "to", of="faults"), spoken]
    commands: tuple[tuple[str, Callable[..., int | None], list[click.Parameter]], ...] = (
        ("list", _list, [spoken]),
        ("show", _show, [one, spoken]),
        ("hunt", _hunt, hunting),
        ("export", _export, exporting),
    )
    for name, call, params in commands:
        callback = partial(call, lang)
        text = say(f"help.faults.{name}")
        group.add_command(
            TranslatedCommand(name, callback=callback, help=text, lang=lang, params=params)
        )
    return group


def _names() -> tuple[str, ...]:
    from schedproof.zoo.all_faults import BY_NAME

    return tuple(BY_NAME)


def _policies() -> tuple[str, ...]:
    from schedproof.zoo.plain import POLICIES

    return POLICIES


def _list(spoken: str, /, **_said: Any) -> None:
    from schedproof.telling.faults import faults_table
    from schedproof.zoo.all_faults import ALL_FAULTS

    put(faults_table(ALL_FAULTS, spoken))


def _show(spoken: str, /, name: str, **_said: Any) -> None:
    from schedproof.telling.faults import fault_page

    put(fault_page(_fault(name), spoken))


def _fault(name: str) -> Fault:
    from schedproof.zoo.all_faults import BY_NAME

    fault = BY_NAME.get(name.lower())
    if fault is None:
        raise unknown("NAME", name, tuple(BY_NAME))
    return fault


def _export(spoken: str, /, name: str, to: str | None, **_said: Any) -> None:
    from schedproof.engines.paged_source import OUR_PAGED
    from schedproof.subjects.sources import OUR_BATCHES
    from schedproof.zoo.chapter_faults import CHAPTER_FAULTS
    from schedproof.zoo.export import export
    from schedproof.zoo.faults import BATCH, CHAPTER

    fault = _fault(name)
    if fault.level != CHAPTER:
        families = ", ".join(dict.fromkeys(one.family for one in CHAPTER_FAULTS))
        target = OUR_BATCHES if fault.level == BATCH else OUR_PAGED
        raise UsageError("usage.no_export", name=fault.name, target=target, families=families)
    if to is None:
        raise UsageError("usage.missing", name="--to", command="schedproof faults export")
    try:
        path = export(fault, Path(to).expanduser())
    except FileExistsError as error:
        there = str(error.filename2 or error.filename or Path(to))
        raise UsageError("usage.exists", path=there) from None
    except OSError as error:
        raise UsageError("usage.cannot_write", error=str(error)) from None
    put(tell(spoken)("fault.exported", path=str(path)))


def _hunt(
    spoken: str,
    /,
    names: Sequence[str],
    hunt_all: bool,
    policy: Sequence[str],
    as_json: bool,
    quiet: bool,
    **_said: Any,
) -> int:
    from schedproof.hunt import hunt
    from schedproof.telling.faults import hunt_document, hunt_table
    from schedproof.zoo.hunted import all_killed

    prey = _prey(names, hunt_all, policy)
    started = time.monotonic()
    hunted = hunt(prey, _ignore if quiet else _progress(spoken, len(prey)))
    if as_json:
        put(json.dumps(hunt_document(hunted, __version__), indent=2, ensure_ascii=False))
    else:
        put(hunt_table(hunted, time.monotonic() - started, spoken))
    return 0 if all_killed(hunted) else 1


def _prey(names: Sequence[str], hunt_all: bool, policy: Sequence[str]) -> list[Prey]:
    """What is to be hunted. Raises `UsageError` where nothing is, or not clearly."""
    from schedproof.hunt import prey_of
    from schedproof.zoo.all_faults import ALL_FAULTS

    if bool(names) == hunt_all:
        raise UsageError("usage.names_or_all", code=USAGE)
    faults = ALL_FAULTS if hunt_all else tuple(dict.fromkeys(map(_fault, names)))
    policies: Sequence[str] = OPTIONS["policy"].parse("policy", list(policy)) if policy else ()
    for name in policies:
        if name not in _policies():
            raise unknown("policy", name, (*_policies(), ALL))
    prey = prey_of(faults, policies)
    if not prey:
        shown = tuple(dict.fromkeys(p for fault in faults for p in fault.policies))
        raise UsageError("usage.no_prey", policy=", ".join(policies), allowed=shown)
    return prey


def _ignore(_index: int, _prey: Prey) -> None:
    """Stands for progress that nobody wants to see."""


def _progress(lang: str, total: int) -> Callable[[int, Prey], None]:
    """One line that changes on a terminal; elsewhere a plain line every ten seconds."""
    say, last = tell(lang), time.monotonic()
    terminal = sys.stderr.isatty()

    def begun(index: int, prey: Prey) -> None:
        nonlocal last
        line = say("hunt.progress", done=index + 1, of=total, fault=prey[0].name)
        if terminal:
            end = "\r" if index + 1 < total else "\r\x1b[K"
            click.echo(f"\x1b[K{line}{end}", nl=False, err=True)
        elif time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            complain(line)

    return begun
