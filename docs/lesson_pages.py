"""The lessons: each page is run, its outputs are written into it, and a notebook is made of it.

`python docs/lesson_pages.py [NAME ...]` runs the pages (all, or those whose names begin so).

Rules.
1. A lesson is one Markdown page for each language. Its `python` fences are run from top to
   bottom, all in one namespace and in an empty folder; what one prints is written below it,
   folded, between `<!-- prints -->` and `<!-- end -->`. So every number comes from a run.
2. The notebook is the page without what was printed and without the part for instructors, whose
   heading is one of `INSTRUCTORS`. A test compares the two.
3. The cells of both languages are the same program; only its texts and comments differ. A
   test compares those, too.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schedproof.telling.language import set_language

FOLDER = Path(__file__).resolve().parent / "lessons"
PRINTED = re.compile(r"\n<!-- prints -->\n.*?<!-- end -->\n", re.DOTALL)
CELL = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
INSTRUCTORS = ("## For instructors", "## 教师说明")
SUMMARY = {"en": "What it prints", "zh": "输出"}
SECONDS = "10m"
BY_LANGUAGE = (("en", "zh"), ("of", "/"))
"""Texts without a Chinese letter that differ all the same."""


def pages() -> list[Path]:
    """Every lesson in both languages, in order."""
    return sorted(FOLDER.glob("[0-9]*.md"))


def language_of(page: Path) -> str:
    """The language of a page, by its name."""
    return "zh" if page.name.endswith(".zh.md") else "en"


def cells_of(text: str) -> list[str]:
    """The code of a page, cell by cell."""
    return CELL.findall(PRINTED.sub("", text))


def outputs_of(text: str) -> list[str]:
    """What a page says that each cell prints; empty for cells that print nothing."""
    found: list[str] = []
    for place in CELL.finditer(text):
        shown = PRINTED.match(text, place.end())
        inside = re.search(r"^```text\n(.*?)^```$", shown[0], re.DOTALL | re.M) if shown else None
        found.append(inside[1] if inside else "")
    return found


def run_cells(cells: list[str], lang: str) -> Iterator[str]:
    """Run cells as a notebook does; what each of them prints."""
    names: dict[str, Any] = {"__name__": "lesson"}
    with _own_folder(), _environment(SCHEDPROOF_LANG=lang, SCHEDPROOF_TIME=SECONDS):
        for number, cell in enumerate(cells, start=1):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(cell, f"<cell {number}>", "exec"), names)
            yield "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())
    set_language(None)  # the first cell has set it


@contextlib.contextmanager
def _own_folder() -> Generator[None]:
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


@contextlib.contextmanager
def _environment(**values: str) -> Generator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def with_outputs(text: str, outputs: list[str], lang: str) -> str:
    """A page with what its cells print below them."""
    left = iter(outputs)

    def shown(cell: re.Match[str]) -> str:
        printed = next(left)
        if not printed:
            return cell[0]
        head = f"<!-- prints -->\n<details><summary>{SUMMARY[lang]}</summary>\n"
        return f"{cell[0]}\n{head}\n```text\n{printed}```\n\n</details>\n<!-- end -->\n"

    return CELL.sub(shown, PRINTED.sub("", text))


# -- notebooks ---------------------------------------------------------------


def notebook_of(page: Path) -> Path:
    """Where a page's notebook is."""
    return page.with_suffix(".ipynb")


def as_notebook(text: str) -> str:
    """A page as a notebook of format 4, without outputs."""
    text = PRINTED.sub("", text)
    for heading in INSTRUCTORS:
        text = text.partition(f"{heading}\n")[0]
    text = re.sub(r"^<!-- .*? -->\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\[(?:简体中文|English)\]\([^)]+\)\n\n", "", text, flags=re.MULTILINE)
    parts = CELL.split(text)
    cells = [
        _cell("code" if place % 2 else "markdown", part.strip("\n"), place)
        for place, part in enumerate(parts)
        if part.strip()
    ]
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _cell(kind: str, text: str, place: int) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "id": f"cell-{place}", "metadata": {}}
    made["source"] = text.splitlines(keepends=True)
    return {**made, "execution_count": None, "outputs": []} if kind == "code" else made


def is_same_program(english: list[str], chinese: list[str]) -> bool:
    """Whether cells do the same, whatever their comments and translated texts say."""
    (one, texts), (other, translated) = _program_of(english), _program_of(chinese)
    return one == other and all(map(_may_stand_for, texts, translated))


def _program_of(cells: list[str]) -> tuple[str, list[str]]:
    """The program without its texts, and its texts; f-strings count by what they show."""
    tree, texts = ast.parse("\n".join(cells)), list[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            node.values = [part for part in node.values if isinstance(part, ast.FormattedValue)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
            node.value = ""
    return ast.dump(tree), texts


def _may_stand_for(english: str, chinese: str) -> bool:
    return english == chinese or not chinese.isascii() or (english, chinese) in BY_LANGUAGE


def main(names: list[str]) -> None:
    """Run the pages and renew them and their notebooks."""
    for page in pages():
        if names and not page.name.startswith(tuple(names)):
            continue
        text, lang = page.read_text(encoding="utf-8"), language_of(page)
        renewed = with_outputs(text, list(run_cells(cells_of(text), lang)), lang)
        page.write_text(renewed, encoding="utf-8")
        notebook_of(page).write_text(as_notebook(renewed), encoding="utf-8")
        sys.stdout.write(f"{page.name}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
