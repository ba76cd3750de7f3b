"""Parts of the reference pages: every command as its own help tells it, and the scopes.

Rules. Commands, arguments and options are read from the command itself, in the page's
language. What the scopes are for stands in their files in English; the Chinese is here, and
a scope that is missing here is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click
from docs.markdown import markdown_table

from schedproof.cli.commands import build
from schedproof.search.exhaustive import scopes

IN_FULL_ABOVE = ("schedproof check",)
HEAD = {"en": ("argument", "what it does"), "zh": ("参数", "作用")}


def commands(lang: str) -> str:
    """Every command with its arguments and options."""
    return "\n\n".join(_section(path, command, lang) for path, command in _all(build(lang)))


def _all(command: click.Command, path: str = "schedproof") -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            if found is not None and not found.hidden:
                yield from _all(found, f"{path} {name}")
    else:
        yield path, command


def _section(path: str, command: click.Command, lang: str) -> str:
    words = [path, *(p.make_metavar(click.Context(command)) for p in _arguments(command))]
    parts = [f"### {path}", f"`{' '.join(words)}`", (command.help or "").strip()]
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    if options and path not in IN_FULL_ABOVE:
        rows = [(_typed(option), option.help or "") for option in options]
        parts.append(markdown_table(HEAD[lang], rows))
    return "\n\n".join(parts)


def _arguments(command: click.Command) -> list[click.Argument]:
    return [p for p in command.params if isinstance(p, click.Argument)]


def _typed(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    return names if option.is_flag else f"{names} `{option.metavar}`"


def shipped(lang: str) -> str:
    """The scopes that come with the package."""
    rows: list[tuple[Any, ...]] = []
    for name in scopes.shipped():
        scope = scopes.load_scope(name)
        about = json.loads((scopes.FOLDER / f"{name}.json").read_text("utf-8"))["about"]
        told = about if lang == "en" else ABOUT_ZH[name]
        rows.append(
            (f"`{name}`", scope.arrivals, scope.active or len(scope.slots), scope.blocks, told)
        )
    return markdown_table(SCOPE_HEAD[lang], rows, right=(2, 3))


SCOPE_HEAD = {
    "en": ("scope", "arrivals", "requests", "blocks", "what it is for"),
    "zh": ("范围", "到达", "请求数", "block 数", "用途"),
}
ABOUT_ZH = {
    "batch-default": "三个请求，三个 block，每个放两个 token，任何时刻都可以中止：一个"
    "在后台长时间运行，几个紧急的会超出自己的 block，一个短的，一个永远放不下，一个的"
    " prefill 无法重做。",
    "default": "三个请求，三个 block：有在后台运行的，有不可抢占的，有紧急、命中缓存、"
    "需要全部容量的，有带 deadline 的，有永远放不下的，还有一个很快的可以在几个抢占对"
    "象里挑选。",
    "endless-equal": "相同的请求不断到来，容量只够一个：对策略最起码的要求。",
    "endless-hits": "没有命中缓存的请求旁边，不断到来命中缓存的，优先级全都相同：在这样"
    "的请求流里 aging 不起作用，同时有两个未完成的请求就够了。",
    "endless-mixed": "两个 block，三种请求不断到来：一种带 deadline，一种不可抢占，一种"
    "命中缓存而且需要全部容量。",
    "endless-small": "需要全部容量的大请求旁边，不断到来不可抢占的小请求。",
    "endless-urgent": "可以等的请求旁边，不断到来紧急的请求，容量只够一个。",
    "large": "五个请求：small 的三种各一个，另外两个任意。",
    "medium": "四个请求，每个是 small 三种里的任意一种。",
    "paged-default": "两个请求，三个 block，每个放两个 token，最多两步在途；prompt 开头相同"
    "或不同，任何时刻都可以中止。",
    "paged-large": "三个请求，三个 block，每个放两个 token，最多两步在途：通常的时限不够用。",
    "paged-tight": "三个请求，只有两个 block，每个放两个 token，一次一步在途：block 很快重新分"
    "配，里面原来的内容还有人找。",
    "small": "三个请求，每个是三种里的任意一种：两种会抢占或受保护，一种大而且命中缓存。",
}


MAKERS = (commands, shipped)
