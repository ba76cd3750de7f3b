"""`schedproof learn`: write the exercise, check it TODO by TODO, get hints.

Rules. A check ends with 0 when all of it is right, with 1 when a TODO is wrong and with 3 when
one is open or the file cannot be run. What only these commands need is imported when they run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click
from click.shell_completion import CompletionItem

from schedproof.cli.help import TranslatedCommand, TranslatedGroup, completed_from, option
from schedproof.cli.output import put, shown, width
from schedproof.settings import OPTIONS
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell


def build_learn(lang: str) -> click.Group:
    """The group of commands in one language."""
    say = tell(lang)
    group = TranslatedGroup("learn", help=say("help.learn"), lang=lang)
    spoken = option(lang, "lang", values=lambda: LANGUAGES)
    file = click.Argument(["file"], metavar="FILE", shell_complete=_complete_files)
    todo = click.Argument(["todo"], metavar="TODO", shell_complete=completed_from(_todos))
    number = click.Argument(["number"], metavar="NUMBER", shell_complete=completed_from(_lessons))
    answer = click.Argument(["file"], metavar="[FILE]", required=False)
    level = option(lang, "level", values=lambda: ("1", "2", "3"), of="learn")
    quiet = option(lang, "quiet", short="-q", flag="quiet", of="faults")
    commands: tuple[tuple[str, Callable[..., int | None], list[click.Parameter]], ...] = (
        ("new", _new, [file, spoken]),
        ("check", _check, [file, option(lang, "cell", of="learn"), spoken, quiet]),
        ("hint", _hint, [todo, level, spoken]),
        (
            "lesson",
            _lesson,
            [number, answer, option(lang, "answer", flag="answer", of="learn"), spoken],
        ),
    )
    for name, call, params in commands:
        callback = partial(call, lang)
        text = say(f"help.learn.{name}")
        group.add_command(
            TranslatedCommand(name, callback=callback, help=text, lang=lang, params=params)
        )
    return group


def _todos() -> tuple[str, ...]:
    from schedproof.learn.exercise import TODOS

    return tuple(todo.name for todo in TODOS)


def _lessons() -> tuple[str, ...]:
    from schedproof.learn.lessons.exercises import LESSONS

    return tuple(str(lesson.number) for lesson in LESSONS)


def _complete_files(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    return [CompletionItem(begun, type="file")]


def _new(spoken: str, /, file: str, lang: str | None) -> None:
    from schedproof.learn.api import new

    put(tell(spoken)("learn.written", path=str(new(file, lang=lang))))


def _check(spoken: str, /, file: str, cell: str | None, lang: str | None, quiet: bool) -> int:
    from schedproof.cli.progress import show_progress
    from schedproof.learn.api import check

    number = None if cell is None else OPTIONS["cell"].parse("cell", cell)
    with show_progress(spoken, quiet) as progress:
        result = check(file, cell=number, lang=lang, progress=progress)
    put(shown(result.lines(width())))
    return result.exit_code


def _hint(_spoken: str, /, todo: str, level: str | None, lang: str | None) -> None:
    from schedproof.learn.api import hint

    wanted = 1 if level is None else OPTIONS["requests"].parse("level", level)
    put(shown(hint(todo, wanted, lang=lang).lines(width())))


def _lesson(_spoken: str, /, number: str, file: str | None, answer: bool, lang: str | None) -> int:
    from schedproof.learn.lessons.api import LessonResult, lesson

    wanted = OPTIONS["requests"].parse("lesson", number)
    told = lesson(wanted, file, show_answer=answer, lang=lang)
    put(shown(told.lines(width())))
    return told.exit_code if isinstance(told, LessonResult) else 0
