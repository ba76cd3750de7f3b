"""Help pages in the reader's language.

Rules. click writes the page; the few words of its own that stand on it are replaced by the
catalogue's. An option is made from its name alone: its help is the text `help.check.NAME`.
"""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from schedproof.telling.messages import tell

CLICKS_WORDS = {
    "Usage:": "help.word.usage",
    "Options:": "help.word.options",
    "Commands:": "help.word.commands",
    "Show this message and exit.": "help.word.help",
}
"""The words that click puts on a page by itself, and our texts for them."""


class _Translated(click.Command):
    def __init__(self, *args: Any, lang: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lang = lang

    def get_help(self, ctx: click.Context) -> str:
        page, say = super().get_help(ctx), tell(self.lang)
        for word, message in CLICKS_WORDS.items():
            page = page.replace(word, say(message))
        return page


class TranslatedCommand(_Translated):
    """A command whose help page is in one language."""


class TranslatedGroup(_Translated, click.Group):
    """A group of commands whose help page is in one language."""


def option(
    lang: str,
    command: str,
    name: str,
    multiple: bool = False,
    values: tuple[str, ...] = (),
    flag: str | None = None,
) -> click.Option:
    """The option `--name`; its values are completed in the shell, and parsed elsewhere."""
    text = tell(lang)(f"help.{command}.{name}")
    if flag is not None:
        return click.Option([f"--{name}", flag], is_flag=True, help=text)

    def complete(
        _context: click.Context, _parameter: click.Parameter, begun: str
    ) -> list[CompletionItem]:
        return [CompletionItem(value) for value in values if value.startswith(begun)]

    return click.Option(
        [f"--{name}"],
        help=text,
        metavar=name.upper(),
        multiple=multiple,
        default=None,
        shell_complete=complete,
    )
