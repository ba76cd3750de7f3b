"""The command line: words in, one verdict and one exit code out.

Rules.
1. What a person reads is told in their language, help included, so the commands are built
   after the language is known: `--lang`, the environment, the configuration, the locale.
2. With `--json` there is one document on standard output and everything else is on
   standard error. The exit code is the same either way.
3. A user's mistake is one or two sentences and exit code 2, never a traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TextIO

import click

from schedproof.cli.commands import build
from schedproof.cli.mistakes import usage_error
from schedproof.cli.output import accept_all_letters, complain
from schedproof.search.results import INTERRUPTED, USAGE
from schedproof.settings import UsageError, language
from schedproof.subjects.load_errors import TargetError
from schedproof.telling.language import language_of_locale
from schedproof.telling.messages import tell


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and end the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: list[str]) -> int:
    """Run the command; its exit code."""
    sys.stdout, sys.stderr = sys.stdout or nowhere(), sys.stderr or nowhere()
    accept_all_letters()
    lang = language_of_locale()
    try:
        lang = language(spoken_language(arguments))
        code = build(lang).main(arguments, prog_name="schedproof", standalone_mode=False)
        return int(code or 0)
    except click.ClickException as error:
        complain(usage_error(error).told(lang))
    except UsageError as error:
        complain(error.told(lang))
    except TargetError as error:
        complain(tell(lang)(error.message_id, **error.fields))
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except SystemExit as leave:  # click completed a word for the shell
        return int(leave.code or 0)
    return USAGE


def nowhere() -> TextIO:
    """Stands for a stream that was closed before the command began."""
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123


def spoken_language(arguments: Sequence[str]) -> str | None:
    """What `--lang` says, read before anything else is: help needs it too."""
    for place, word in enumerate(arguments):
        if word.startswith("--lang="):
            return word.partition("=")[2]
        if word == "--lang" and place + 1 < len(arguments):
            return arguments[place + 1]
    return None
