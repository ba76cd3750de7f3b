"""The exercise in Python: check it, ask for a hint, write it.

Rules. `check` does not raise for what is wrong with the exercise, and its result is false until
all of it is right. `UsageError` and `TargetError` say what is wrong with a call.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from schedproof import api as whole_api
from schedproof.learn.evidence import OPEN, RIGHT, TOGETHER, WRONG
from schedproof.learn.exercise import LEVELS, POLICIES, TODOS, Todo, todo_named
from schedproof.learn.judging import Judged, exercise_of, judge
from schedproof.learn.telling import exercise_card, headline, hint_card
from schedproof.learn.writing import write_exercise
from schedproof.notebook.blocks import Blocks
from schedproof.notebook.bundle import bundle
from schedproof.notebook.plain import plain_lines, plain_text
from schedproof.search.results import EXIT_CODES, Verdict
from schedproof.settings import UsageError, resolve, unknown
from schedproof.telling.language import choose_language
from schedproof.telling.messages import tell
from schedproof.telling.text import Line

WHOLE_SECONDS = 120.0


class Card:
    """Something that is shown as a card in a notebook, and as text everywhere else."""

    lang: str

    def blocks(self, lang: str, further: int = 0) -> Blocks:
        """What it says, in a language."""
        raise NotImplementedError

    def lines(self, width: int = 80) -> list[Line]:
        """Its lines with their styles, for a terminal."""
        return plain_lines(self.blocks(self.lang), width)

    def explain(self, lang: str | None = None) -> str:
        """All of it as text, in the given language."""
        return plain_text(self.blocks(choose_language(lang) if lang else self.lang))

    def __str__(self) -> str:
        return self.explain()

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows."""
        text = self.explain()
        return bundle(tell(self.lang), self.lang, text, lambda n: self.blocks(self.lang, n), 0)


class LearnResult(Card):
    """What became of an exercise. False in a condition until all of it is right.

    `todos` has for each TODO by its name "open", "wrong", "right", "together" (right with the
    learner's own parts, not with ours) or "unknown" (the time was up); `whole` is the check of
    the whole class, None before every TODO is right.
    """

    def __init__(self, judged: Judged, whole: whole_api.CheckResult | None, lang: str) -> None:
        self.judged, self.whole, self.lang = judged, whole, lang

    @property
    def todos(self) -> dict[str, str]:
        """The state of each TODO."""
        return {TODOS[seen.number - 1].name: seen.state for seen in self.judged.todos}

    @property
    def headline(self) -> str:
        """One line about all of it."""
        return headline(self.judged, self.lang)

    @property
    def exit_code(self) -> int:
        """0: all is right; 1: a TODO is wrong; 3: one is open, or nothing ran; 4: stopped early."""
        if self.judged.in_state(WRONG):
            return EXIT_CODES[Verdict.VIOLATED]
        if self.judged.trouble is not None or self.judged.in_state(OPEN):
            return EXIT_CODES[Verdict.ERROR]
        return EXIT_CODES[Verdict.INCOMPLETE] if self.whole is None else self.whole.exit_code

    @property
    def ok(self) -> bool:
        """Whether all of it is right."""
        return self.exit_code == 0

    def blocks(self, lang: str, further: int = 0) -> Blocks:
        """The result as a card."""
        whole = None if self.whole is None else self.whole.summary
        return exercise_card(self.judged, whole, lang)

    def __bool__(self) -> bool:
        return self.ok


class Hint(Card):
    """One hint for one TODO."""

    def __init__(self, todo: Todo, level: int, lang: str) -> None:
        self.todo, self.level, self.lang = todo, level, lang

    def blocks(self, lang: str, further: int = 0) -> Blocks:
        """The hint as a card."""
        return hint_card(self.todo, self.level, lang)


def check(
    target: str | type[Any],
    *,
    cell: int | None = None,
    lang: str | None = None,
    progress: whole_api.Progress | None = None,
) -> LearnResult:
    """Say of each TODO whether it is open, wrong or right; check the whole when all are right.

    `target` is the class, or a text: "file.py", "notebook.ipynb", each with ":Class" behind it if
    need be; `cell` is the code cell whose class counts. Raises `UsageError` and `TargetError`.
    """
    asked = resolve({"cell": cell, "lang": lang})
    language = choose_language(lang, asked["lang"])
    judged = judge(exercise_of(target, asked["cell"]))
    whole = None
    if judged.trouble is None and all(s.state in (RIGHT, TOGETHER) for s in judged.todos):
        options: dict[str, Any] = {} if progress is None else {"progress": progress}
        options |= {"policy": POLICIES, "time": WHOLE_SECONDS, "cell": cell, "lang": language}
        whole = whole_api.check(target, **options)
    return LearnResult(judged, whole, language)


def hint(todo: str | int, level: int = 1, *, lang: str | None = None) -> Hint:
    """A hint for a TODO ("TODO 3", 3, or its method's name), of level 1, 2 or 3."""
    found = todo_named(todo)
    if found is None:
        raise unknown("TODO", todo, tuple(each.name for each in TODOS))
    if type(level) is not int or level not in LEVELS:
        raise UsageError(
            "usage.whole_number_between",
            option="level",
            value=str(level),
            at_least=min(LEVELS),
            at_most=max(LEVELS),
        )
    return Hint(found, level, choose_language(lang, resolve({"lang": lang})["lang"]))


def new(path: str | Path, *, lang: str | None = None) -> Path:
    """Write the exercise to a .py or .ipynb file; where it is. Raises `UsageError`."""
    language = choose_language(lang, resolve({"lang": lang})["lang"])
    return write_exercise(Path(path).expanduser(), language)
