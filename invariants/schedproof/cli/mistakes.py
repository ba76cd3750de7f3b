"""What click finds wrong with a command line, told in the reader's language.

Rule. Every text says what was typed and what to do next. What click calls by a class of its
own is told by a text of ours; the rest, which should not happen, in click's words.
"""

from __future__ import annotations

import click

from schedproof.settings import UsageError, did_you_mean


def usage_error(error: click.ClickException) -> UsageError:
    """The same mistake with a text of the catalogue."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "schedproof"
    if isinstance(error, click.NoSuchOption):
        known = _options(context)
        meant = did_you_mean(error.option_name, known)
        text = "usage.no_option_did_you_mean" if meant else "usage.no_option"
        return UsageError(text, option=error.option_name, suggestion=meant, command=command)
    if isinstance(error, click.BadOptionUsage):
        text = "usage.no_value" if _is_flag(context, error.option_name) else "usage.needs_value"
        return UsageError(text, option=error.option_name, command=command)
    if isinstance(error, click.MissingParameter) and error.param is not None:
        name = error.param.human_readable_name
        return UsageError("usage.missing", name=name, command=command)
    return UsageError("usage.command_line", error=error.format_message(), command=command)


def _options(context: click.Context | None) -> list[str]:
    if context is None:
        return []
    return [name for part in context.command.get_params(context) for name in part.opts]


def _is_flag(context: click.Context | None, name: str) -> bool:
    parts = context.command.params if context else []
    return any(isinstance(p, click.Option) and p.is_flag and name in p.opts for p in parts)
