"""A lesson's exercise in Python: what it asks for, an answer to it, and whether yours is right.

Rules. Nothing is raised for what is wrong with an answer, and the result is false until it is
right. `UsageError` and `TargetError` say what is wrong with a call.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from schedproof.learn.api import Card
from schedproof.learn.lessons.exercises import LESSONS, Lesson
from schedproof.learn.lessons.judging import FAILED, RIGHT, Judged, judge
from schedproof.learn.lessons.telling import judged_card, task_card
from schedproof.notebook.blocks import Blocks
from schedproof.search.results import EXIT_CODES, Verdict
from schedproof.settings import UsageError, resolve
from schedproof.telling.language import choose_language


class LessonTask(Card):
    """What a lesson asks for; with `answer`, one that is right, too."""

    def __init__(self, number: int, answer: bool, lang: str) -> None:
        self.exercise, self.answer, self.lang = LESSONS[number - 1], answer, lang

    def blocks(self, lang: str, further: int = 0) -> Blocks:
        """The task as a card."""
        return task_card(self.exercise, self.answer, lang)


class LessonResult(Card):
    """What became of an answer. False in a condition until it is right."""

    def __init__(self, exercise: Lesson, judged: Judged, lang: str) -> None:
        self.exercise, self.judged, self.lang = exercise, judged, lang

    @property
    def ok(self) -> bool:
        """Whether the answer is right."""
        return self.judged.state == RIGHT

    @property
    def exit_code(self) -> int:
        """0: right; 1: not what was asked for; 3: the answer itself failed."""
        if self.judged.state == FAILED:
            return EXIT_CODES[Verdict.ERROR]
        return 0 if self.ok else EXIT_CODES[Verdict.VIOLATED]

    def blocks(self, lang: str, further: int = 0) -> Blocks:
        """The result as a card."""
        return judged_card(self.exercise, self.judged, lang)

    def __bool__(self) -> bool:
        return self.ok


def lesson(
    number: int, answer: Any = None, *, show_answer: bool = False, lang: str | None = None
) -> LessonTask | LessonResult:
    """What a lesson asks for, or whether `answer` does it.

    An answer is the function, class or claim that the task speaks of, or the path of a Python
    file that has it. `show_answer` tells one that is right.
    """
    language = choose_language(lang, resolve({"lang": lang})["lang"])
    if type(number) is not int or not 1 <= number <= len(LESSONS):
        values = {"option": "lesson", "value": str(number), "at_least": 1, "at_most": len(LESSONS)}
        raise UsageError("usage.whole_number_between", **values)
    if answer is None:
        return LessonTask(number, show_answer, language)
    exercise = LESSONS[number - 1]
    given = str(answer) if isinstance(answer, Path) else answer
    return LessonResult(exercise, judge(exercise, given), language)
