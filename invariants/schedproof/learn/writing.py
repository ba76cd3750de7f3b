"""The exercise as a file: the solved one without the answers, with its words in one language.

Rules.
1. There is one text, `solved.py`. Its docstrings are replaced by the catalogue's, its header and
   its answers are taken out, and in their place stands what the learner has to do.
2. A file that is there is not overwritten, and nobody ever sees half of a new one.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from schedproof.learn.exercise import TODOS
from schedproof.settings import UsageError, unknown
from schedproof.telling.layout import wrap
from schedproof.telling.messages import Say, tell
from schedproof.zoo.export import write_new

NOTEBOOK, PYTHON = ".ipynb", ".py"
WIDTH = 96
ALL = frozenset(todo.number for todo in TODOS)
_REGION = re.compile(r"^( *)# \[TODO (\d)\]\n(.*?)^ *# \[end\]\n", re.MULTILINE | re.DOTALL)
_LEFT_OPEN = {
    1: ("# request = ???",),
    2: ("# deadline_slack = ???",),
    3: ("raise NotImplementedError",),
    4: ("# chosen = ???", "# preempted_request_id = ???", "# action = ???"),
}
_IMPORTS = "import schedproof\nfrom schedproof import learn"
_INTRODUCTION = tuple(f"exercise.intro.{number}" for number in range(1, 5))


def solved_text() -> str:
    """The solved exercise, as it stands in its file."""
    return (files("schedproof.learn") / "solved.py").read_text(encoding="utf-8")


def skeleton(language: str, solved: Collection[int] = ()) -> str:
    """The code of the exercise, with the answers to these TODOs in it."""
    say = tell(language)
    text = _with_docstrings(say, solved_text())

    def opened(match: re.Match[str]) -> str:
        indent, number = match[1], int(match[2])
        comment = wrap(say(f"exercise.todo.{number}"), WIDTH, f"{indent}# ")
        bar = f"{indent}# {'-' * 40}"
        answer = match[3].rstrip("\n").split("\n")
        left = [indent + line for line in _LEFT_OPEN[number]]
        return "\n".join([bar, *comment, bar, *(answer if number in solved else left)]) + "\n"

    return _REGION.sub(opened, text)


def _with_docstrings(say: Say, text: str) -> str:
    """The text from its first import on, with the docstrings of the catalogue."""
    tree = ast.parse(text)
    lines = text.split("\n")
    header = tree.body[0].end_lineno or 0
    for name, first, last in sorted(_docstrings(tree), key=lambda found: -found[1]):
        indent = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip())]
        lines[first - 1 : last] = [f'{indent}"""{say(f"exercise.doc.{name}")}"""']
    return "\n".join(lines[header:]).lstrip("\n")


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """The name, first and last line of every docstring below the module's own."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            yield node.name, node.body[0].lineno, node.body[0].end_lineno or 0


def as_python(language: str, file: str, solved: Collection[int] = ()) -> str:
    """The exercise as a Python file."""
    say = tell(language)
    told = [say("exercise.title") + "\n"]
    told += ["\n".join(wrap(say(part), WIDTH)) + "\n" for part in _INTRODUCTION]
    told += [say("exercise.how.file", file=file), say("exercise.how.hint")]
    return '"""' + "\n".join(told) + '\n"""\n\n' + skeleton(language, solved)


def as_notebook(language: str, solved: Collection[int] = ()) -> str:
    """The exercise as a notebook of format 4."""
    say = tell(language)
    words = "\n\n".join([f"# {say('exercise.title')}", *map(say, _INTRODUCTION)])
    code = skeleton(language, solved).rstrip("\n")
    cells = [
        ("markdown", words),
        ("code", f'{_IMPORTS}\n\nschedproof.set_language("{language}")'),
        ("markdown", "\n".join(f"- {say(f'exercise.todo.{todo.number}')}" for todo in TODOS)),
        ("code", code),
        ("markdown", say("exercise.cell.check")),
        ("code", "learn.check(DecodeSchedulerSim)"),
        ("markdown", say("exercise.cell.hint")),
        ("code", 'learn.hint("TODO 1", level=1)'),
        ("markdown", say("exercise.cell.whole")),
        ("code", "schedproof.check(DecodeSchedulerSim)"),
    ]
    notebook = {
        "cells": [_cell(kind, text, number) for number, (kind, text) in enumerate(cells, 1)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _cell(kind: str, text: str, number: int) -> dict[str, Any]:
    source = text.splitlines(keepends=True)
    made: dict[str, Any] = {
        "cell_type": kind,
        "id": f"cell-{number}",
        "metadata": {},
        "source": source,
    }
    return {**made, "execution_count": None, "outputs": []} if kind == "code" else made


def write_exercise(path: Path, language: str) -> Path:
    """Write the exercise; where it is. Raises `UsageError` for a name that cannot be used."""
    if path.suffix not in (PYTHON, NOTEBOOK):
        raise unknown("FILE", path.name, (f"{path.stem}{PYTHON}", f"{path.stem}{NOTEBOOK}"))
    text = as_python(language, path.name) if path.suffix == PYTHON else as_notebook(language)
    try:
        return write_new(path, text)
    except FileExistsError:
        raise UsageError("usage.exists", path=str(path)) from None
    except OSError as error:
        raise UsageError("usage.cannot_write", error=str(error)) from None
