"""The exercises of the lessons: a right answer is right, and each wrong one is told why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schedproof import claim, learn
from schedproof.learn.lessons import judging
from schedproof.learn.lessons.exercises import CLAIM, LESSONS, SCHEDULER, SEVEN, Lesson
from schedproof.search.exhaustive.scopes import load_scope
from schedproof.settings import UsageError
from schedproof.zoo.all_faults import BY_NAME
from schedproof.zoo.plain import PlainScheduler

QUICK = [lesson for lesson in LESSONS if lesson.kind not in (SCHEDULER, CLAIM)]
Run = Callable[[Any], None]


def flat(shown: object) -> str:
    return " ".join(str(shown).split())


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of two requests."""
    scope = load_scope("default").resized(2, None)
    monkeypatch.setattr(judging, "load_scope", lambda _name: scope)


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return path.name


@pytest.mark.parametrize("lesson", QUICK, ids=lambda lesson: str(lesson.number))
def test_the_answer_is_right(lesson: Lesson, tmp_path: Path) -> None:
    result = learn.lesson(lesson.number, write(tmp_path / "a.py", lesson.answer))
    assert result, str(result)
    assert isinstance(result, learn.LessonResult)
    assert result.exit_code == 0


def test_lessons_are_numbered_and_the_seven_faults_pass_the_chapters_tests() -> None:
    assert [lesson.number for lesson in LESSONS] == list(range(1, 11))
    assert all(BY_NAME[name].passes_chapter for name in SEVEN)


def test_a_claim_that_bites(small: None, tmp_path: Path) -> None:
    result = learn.lesson(10, write(tmp_path / "a.py", LESSONS[9].answer))
    assert result, str(result)
    assert "It bites" in flat(result)


def harmless(_change: Any) -> bool:
    return True


def too_strict(change: Any) -> bool:
    return bool(change.after.deadline_step is None)


def never_asked(_change: Any) -> None:
    return None


@pytest.mark.parametrize(
    ("predicate", "told"),
    [
        (harmless, "It does not bite"),
        (too_strict, "It says too much"),
        (never_asked, "nothing was judged"),
    ],
)
def test_claims_that_do_not(small: None, predicate: Any, told: str) -> None:
    result = learn.lesson(10, claim("DUE-1", "A deadline stays", over="change")(predicate))
    assert not result
    assert told in flat(result)


def nothing(_s: Any) -> None:
    """A run without actions."""


def endless(s: Any) -> None:
    while True:
        s.step()


def calm(s: Any) -> None:
    s.enqueue(0, 4)
    s.run()


def early(s: Any) -> None:
    s.enqueue(0, 4, required_blocks=3)
    s.step()
    s.enqueue(1, 4, priority=1, required_blocks=3)
    s.run()


def stops(s: Any) -> None:
    s.enqueue(0, 4, required_blocks=3)
    s.step()
    s.step()
    s.enqueue(1, 4, priority=1, required_blocks=3)
    s.step()


def refused(s: Any) -> None:
    s.enqueue(0, 0)


@pytest.mark.parametrize(
    ("number", "run", "told"),
    [
        (1, nothing, "does nothing"),
        (1, endless, "more than 100 actions"),
        (1, calm, "Nobody is preempted"),
        (1, early, "had no token yet"),
        (1, stops, "ends before it is finished"),
        (1, refused, "It raised ValueError"),
        (4, calm, "Nobody is preempted"),
        (4, stops, "nobody else of the same priority"),
        (7, calm, "Nobody waits for 20 steps"),
        (2, nothing, "does nothing"),
        (6, calm, "It must break LEDGER-2"),
    ],
)
def test_runs_that_are_not_it(number: int, run: Run, told: str) -> None:
    result = learn.lesson(number, run)
    assert not result
    assert told in flat(result)


def test_a_run_that_breaks_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = Lesson(2, "run", "fault:protected-victim", claim="LEDGER-1")
    monkeypatch.setattr("schedproof.learn.lessons.api.LESSONS", (LESSONS[0], lesson))

    def protected(s: Any) -> None:
        s.enqueue(0, 4, required_blocks=2, preemptible=False)
        s.step()
        s.enqueue(1, 4, priority=1, required_blocks=2)
        s.step()

    told = flat(learn.lesson(2, protected))
    assert "breaks VICTIM-2 at action 4" in told
    assert "not of LEDGER-1" in told


def test_a_test_that_misses_bugs_is_told_which() -> None:
    def test(scheduler: Any) -> None:
        s = scheduler()
        s.enqueue(0, 1)
        s.step()
        assert s.queue[0].wait_steps == 0

    result = learn.lesson(5, test)
    assert not result
    assert "finds 1 of 7 bugs" in flat(result)
    assert "`chosen-waits-too`" not in flat(result)
    assert "preempt-drops-deadline" in flat(result)


def test_a_test_that_fails_on_the_right_scheduler() -> None:
    def test(scheduler: Any) -> None:
        assert not scheduler, "no scheduler will do"

    assert "AssertionError: no scheduler will do" in flat(learn.lesson(5, test))


def test_a_scheduler_without_a_bug_does_not_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "SECONDS", 1.0)
    assert "must find a violation" in flat(learn.lesson(8, PlainScheduler))


def test_files_without_an_answer(tmp_path: Path) -> None:
    result = learn.lesson(1, write(tmp_path / "a.py", "x = 1\n"))
    assert "There is no function" in flat(result)
    assert isinstance(result, learn.LessonResult)
    assert result.exit_code == 3
    assert "no claim" in flat(learn.lesson(10, tmp_path / "a.py"))
    broken = learn.lesson(1, write(tmp_path / "b.py", "def run(s:\n"))
    assert not broken
    assert "b.py" in flat(broken)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: str(lesson.number))
def test_tasks_are_told_with_and_without_an_answer(lesson: Lesson, lang: str) -> None:
    task = learn.lesson(lesson.number, lang=lang)
    answered = learn.lesson(lesson.number, show_answer=True, lang=lang)
    line = lesson.answer.splitlines()[0]
    assert line in str(answered)
    assert line not in str(task)


@pytest.mark.parametrize("number", [0, 11, "one", True])
def test_there_are_ten_lessons(number: Any) -> None:
    with pytest.raises(UsageError):
        learn.lesson(number)
