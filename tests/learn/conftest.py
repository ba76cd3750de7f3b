"""The solved exercise with single changes, as classes and as files."""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schedproof.learn.writing import ALL, as_python, skeleton
from schedproof.telling.language import set_language

Change = tuple[str, str]
MakeClass = Callable[..., type[Any]]


def changed(text: str, *changes: Change) -> str:
    """The text with each old part, which stands in it once, replaced."""
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder, a path and a language of its own for each test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("SCHEDPROOF_LANG", "en")
    yield
    set_language(None)  # the first cell of the exercise's notebook has set it


@pytest.fixture
def solved() -> MakeClass:
    """Makes the class of the solved exercise, with changes."""

    def make(*changes: Change) -> type[Any]:
        text, file = changed(skeleton("en", solved=ALL), *changes), "exercise of a test"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        module = types.ModuleType("exercise_of_a_test")
        sys.modules[module.__name__] = module
        exec(compile(text, file, "exec"), vars(module))
        return vars(module)["DecodeSchedulerSim"]  # type: ignore[no-any-return]

    return make


@pytest.fixture
def solved_file(tmp_path: Path) -> Callable[..., str]:
    """Writes the solved exercise with changes; the name of the file."""

    def write(*changes: Change) -> str:
        text = changed(as_python("en", "mine.py", solved=ALL), *changes)
        (tmp_path / "mine.py").write_text(text, encoding="utf-8")
        return "mine.py"

    return write
