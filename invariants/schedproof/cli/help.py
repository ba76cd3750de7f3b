"""Commands, options and help pages in the reader's language.

Rules.
1. A page is laid out here, not by click: it counts Chinese characters as a terminal does.
2. An option is made from its name alone: its help is the text `help.check.NAME`,
   or of another command than check.
3. Values are handed on as texts; `settings` says which are allowed. What click itself finds
   wrong with a command line is told by `mistakes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from schedproof.cli.output import complain, put
from schedproof.search.results import USAGE
from schedproof.settings import UsageError, unknown
from schedproof.telling.layout import wrap
from schedproof.telling.messages import Say, tell
from schedproof.telling.text import labelled

Values = Callable[[], Sequence[str]]


class _Translated(click.Command):
    """A command that tells its help in one language; `more` are paragraphs below it."""

    allow_extra_args = True  # they are a mistake of the user's, told in `parse_args`

    def __init__(self, *args: Any, lang: str, more: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lang, self.more = lang, more

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click's parser does not know the command
            raise

    def get_help(self, ctx: click.Context) -> str:
        return help_page(self, ctx)

    def get_help_option(self, ctx: click.Context) -> click.Option:
        def show(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
            if value and not context.resilient_parsing:
                put(self.get_help(context))
                context.exit()

        return click.Option(
            ["-h", "--help"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=show,
            help=tell(self.lang)("help.word.help"),
        )


class TranslatedCommand(_Translated):
    """A command whose help page is in one language."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if ctx.args and not ctx.resilient_parsing:
            raise UsageError("usage.extra", extra=" ".join(ctx.args), command=ctx.command_path)
        return rest


class TranslatedGroup(_Translated, click.Group):
    """A group of commands whose help page is in one language."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, no_args_is_help=False, **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            complain(self.get_help(ctx))
            ctx.exit(USAGE)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands and not ctx.resilient_parsing:
            raise unknown(ctx.command_path, args[0], tuple(self.commands))
        return super().resolve_command(ctx, args)


def option(
    lang: str,
    name: str,
    *,
    short: str = "",
    multiple: bool = False,
    values: Values = tuple,
    flag: str | None = None,
    of: str = "check",
) -> click.Option:
    """The option `--name` of a command; its values are completed, and parsed elsewhere."""
    text = tell(lang)(f"help.{of}.{name}")
    names = [*([short] if short else []), f"--{name.replace('_', '-')}"]
    if flag is not None:
        return click.Option([*names, flag], is_flag=True, help=text)
    return click.Option(
        names,
        help=text,
        metavar=name.upper(),
        multiple=multiple,
        default=None,
        shell_complete=completed_from(values),
    )


def completed_from(values: Values) -> Callable[..., list[CompletionItem]]:
    """Completes from these values, whatever the case of what was typed."""

    def complete(
        _context: click.Context, _parameter: click.Parameter, begun: str
    ) -> list[CompletionItem]:
        matching = [value for value in values() if value.lower().startswith(begun.lower())]
        return [CompletionItem(value) for value in matching]

    return complete


def help_page(command: _Translated, context: click.Context, width: int = 80) -> str:
    """What `--help` prints."""
    say = tell(command.lang)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [*wrap(say("help.word.usage", usage=usage), width, "    ", ""), ""]
    for paragraph in (command.help or "", *command.more):
        lines += [*wrap(paragraph, width, "  "), ""]
    options = [p for p in command.get_params(context) if isinstance(p, click.Option)]
    lines += _section(say, "help.word.options", [_row(option) for option in options], width)
    if isinstance(command, click.Group):
        parts = [(name, part.help or "") for name, part in command.commands.items()]
        lines += ["", *_section(say, "help.word.commands", parts, width)]
    if command.epilog:
        lines += ["", *command.epilog.splitlines()]
    return "\n".join(lines)


def _row(option: click.Option) -> tuple[str, str]:
    names = ", ".join([*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" {option.metavar}"
    return names + value, option.help or ""


def _section(say: Say, heading: str, rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    return [say(heading), *(line.text for line in labelled(rows, width))]
