"""`schedproof learn`: the exercise on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_an_exercise_is_written_checked_and_hinted_at(run: Run, alone: Path) -> None:
    said = run("learn", "new", "mine.py")
    assert (said.code, said.err) == (0, "")
    assert "schedproof learn check mine.py" in said.out
    said = run("learn", "check", "mine.py", "-q")
    assert said.code == 3
    assert said.out.startswith("– TODO 1, 2, 3 and 4 are still open\n")
    said = run("check", "mine.py")
    assert said.code == 3
    assert "None of it is written yet: TODO 1 (enqueue), TODO 2 (_schedule_key)" in said.out
    assert "schedproof learn check FILE" in " ".join(said.out.split())
    said = run("learn", "hint", "TODO 3", "--level", "2")
    assert said.code == 0
    assert said.out.startswith("TODO 3: _ensure_capacity. Hint 2 of 3\n")


def test_all_of_it_is_told_in_chinese(run: Run) -> None:
    said = run("learn", "new", "mine.ipynb", "--lang", "zh")
    assert said.out.startswith("已写入：mine.ipynb")
    said = run("learn", "check", "mine.ipynb", "--lang", "zh", "-q")
    assert said.out.startswith("– TODO 1、2、3、4 还没写完\n")
    assert run("learn", "hint", "1", "--lang", "zh").out.startswith("TODO 1：enqueue")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("new", "mine.txt"), "mine.ipynb"),
        (("new", "there.py"), "there.py is already there"),
        (("check", "nowhere.py"), "no file nowhere.py"),
        (("check", "there.py", "--cell", "x"), "cell"),
        (("hint", "TODO 9"), "TODO 4"),
        (("hint", "TODO 1", "--level", "4"), "from 1 to 3"),
        (("hint",), "TODO"),
        (("chekc", "x"), "check"),
    ],
)
def test_a_wrong_call_is_told_and_ends_with_2(
    run: Run, alone: Path, words: tuple[str, ...], told: str
) -> None:
    (alone / "there.py").write_text("x = 1\n", encoding="utf-8")
    said = run("learn", *words)
    assert (said.code, said.out) == (2, "")
    assert told in said.err
