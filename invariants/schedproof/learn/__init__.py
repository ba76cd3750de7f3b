"""The exercise of the course: write it, check it TODO by TODO, get hints.

from schedproof import learn
learn.check(DecodeSchedulerSim)          # what is open, right or wrong, and why
learn.hint("TODO 3", level=2)            # three levels; the third is nearly the answer
learn.new("exercise.ipynb")              # the exercise itself
learn.lesson(3)                          # what lesson 3 asks for; learn.lesson(3, run): is it that?
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedproof.learn.api import Hint, LearnResult, check, hint, new
    from schedproof.learn.lessons.api import LessonResult, LessonTask, lesson

__all__ = ["Hint", "LearnResult", "LessonResult", "LessonTask", "check", "hint", "lesson", "new"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for."""
    if name in ("lesson", "LessonResult", "LessonTask"):
        from schedproof.learn.lessons import api as lessons

        return getattr(lessons, name)
    if name in __all__:
        from schedproof.learn import api

        return getattr(api, name)
    raise AttributeError(f"module 'schedproof.learn' has no attribute {name!r}")
