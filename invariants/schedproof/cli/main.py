"""The command line: words in, one verdict and one exit code out.

Rules.
1. What a person reads is told in their language, help included, so the commands are built
   after the language is known: `--lang`, then the environment, then the locale.
2. With `--json` there is one document on standard output and everything else is on
   standard error. The exit code is the same either way.
3. A user's mistake is one or two sentences and exit code 2, never a traceback.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence

import click

from schedproof.cli.commands import build
from schedproof.search.results import INTERRUPTED, USAGE
from schedproof.settings import UsageError
from schedproof.subjects.load_errors import TargetError
from schedproof.telling.language import UnknownLanguage, choose_language
from schedproof.telling.messages import tell

Say = Callable[..., str]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and end the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: list[str]) -> int:
    """Run the command; its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without our letters is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    try:
        lang = choose_language(spoken_language(arguments))
    except UnknownLanguage as error:
        return _mistake(str(error))
    say = tell(lang)
    try:
        code = build(lang).main(arguments, prog_name="schedproof", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        return _mistake(say("usage.command_line", error=error.format_message()))
    except (UsageError, TargetError) as error:
        return _mistake(_told(say, error))
    except UnknownLanguage as error:
        return _mistake(str(error))
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return USAGE


def spoken_language(arguments: Sequence[str]) -> str | None:
    """What `--lang` says, read before anything else is: help needs it too."""
    for place, word in enumerate(arguments):
        if word.startswith("--lang="):
            return word.partition("=")[2]
        if word == "--lang" and place + 1 < len(arguments):
            return arguments[place + 1]
    return None


def _told(say: Say, error: UsageError | TargetError) -> str:
    values = error.values if isinstance(error, UsageError) else error.fields
    return say(error.message_id, **values)


def _mistake(text: str) -> int:
    click.echo(text, err=True)
    return USAGE
