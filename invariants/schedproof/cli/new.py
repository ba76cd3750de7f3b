"""`schedproof new`: write the beginnings of an adapter, and try an adapter out.

Rules. Nothing is overwritten. The self-test ends with 0 when every planted fault was caught, and
with 1 when one was not. What only these commands need is imported when they run.
"""

from __future__ import annotations

import re
from functools import partial
from importlib.resources import files
from pathlib import Path

import click

from schedproof.cli.help import TranslatedCommand, TranslatedGroup, option
from schedproof.cli.output import put
from schedproof.settings import UsageError
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell


def build_new(lang: str) -> click.Group:
    """The group of commands in one language."""
    say = tell(lang)
    group = TranslatedGroup("new", help=say("help.new"), lang=lang)
    spoken = option(lang, "lang", values=lambda: LANGUAGES)
    for name, call, metavar in (("adapter", _adapter, "NAME"), ("self-test", _self_test, "TARGET")):
        wanted = click.Argument(["name"], metavar=metavar)
        text = say(f"help.new.{name}")
        group.add_command(
            TranslatedCommand(
                name, callback=partial(call, lang), help=text, lang=lang, params=[wanted, spoken]
            )
        )
    return group


def _adapter(spoken: str, /, name: str, lang: str | None) -> None:
    words = re.findall(r"[A-Za-z0-9]+", Path(name).name)
    if not words or words[0][0].isdigit():
        raise UsageError("usage.no_name", option="NAME", value=name)
    path = Path("_".join(words).lower() + "_adapter.py")
    text = (files("schedproof.engines") / "skeleton.py.txt").read_text(encoding="utf-8")
    for sign, value in (
        ("CLASS", "".join(word.capitalize() for word in words)),
        ("FILE", str(path)),
        ("NAME", "_".join(words)),
    ):
        text = text.replace(sign, value)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError("usage.exists", path=str(path)) from None
    put(tell(spoken)("new.written", path=str(path)))


def _self_test(spoken: str, /, name: str, lang: str | None) -> int:
    from schedproof.engines.named import engine_target
    from schedproof.search.engines.engine_runs import run_self_test

    say, target = tell(spoken), engine_target(name)
    if target is None:
        raise UsageError("usage.no_engine", option="TARGET", value=name)
    tested = run_self_test(target)
    lines = [
        f"{'✓' if each.caught else '✗'} {each.name}: {each.told or say('new.not_caught')}"
        for each in tested.tried
    ]
    caught = sum(each.caught for each in tested.tried)
    lines += ["", say("new.caught", caught=caught, of=len(tested.tried))]
    if tested.missing:
        lines.append(say("new.missing", names=", ".join(tested.missing)))
    if tested.plain.counterexamples:
        lines.append(say("new.plain", claim=tested.plain.counterexamples[0].claim))
    put("\n".join(lines))
    return 0 if tested.passed else 1
