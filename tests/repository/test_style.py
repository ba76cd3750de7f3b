"""The taste of the project as limits that a machine can hold, over every committed file.

Short functions, short files, prose at the head of each module, and no word about the
machine that it was written on. Where printing is allowed, ruff decides (rule T20).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 400

# Spelled in halves, or this file would be the first offender.
REGISTRIES = ["pypi" + ".org", "python" + "hosted.org", "npm" + "js.org", "deb.debian" + ".org"]
LOCAL_FOLDERS = ["/" + "work/", "/" + "root/", "/" + "opt/wheels", "/" + "opt/pypi"]
LOCAL_TEXT = re.compile("|".join(map(re.escape, REGISTRIES + LOCAL_FOLDERS)))


@pytest.fixture(scope="session")
def modules(root: Path, repository_files: list[Path]) -> dict[Path, str]:
    python = (name for name in repository_files if name.suffix == ".py")
    return {name: (root / name).read_text(encoding="utf-8") for name in python}


def functions_of(source: str) -> Iterator[tuple[str, int, int]]:
    """Name, first line and number of lines of each function in a source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def opens_with_prose(source: str) -> bool:
    """Whether the module's docstring begins with a sentence."""
    first_paragraph = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]
    return first_paragraph.endswith((".", ":", "。", "：")) and " " in first_paragraph


def test_functions_are_short(modules: dict[Path, str]) -> None:
    long = [
        f"{path}:{line} {name}: {length} lines"
        for path, source in modules.items()
        for name, line, length in functions_of(source)
        if length > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_files_are_short(modules: dict[Path, str]) -> None:
    lengths = {str(path): source.count("\n") for path, source in modules.items()}
    assert {path: n for path, n in lengths.items() if n > MAX_FILE_LINES} == {}


def test_modules_open_with_prose(modules: dict[Path, str]) -> None:
    assert [str(path) for path, source in modules.items() if not opens_with_prose(source)] == []


def test_no_file_tells_of_the_machine_it_was_written_on(
    root: Path, repository_files: list[Path]
) -> None:
    told = []
    for name in repository_files:
        text = (root / name).read_bytes().decode("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            told += [f"{name}:{number} {found}" for found in LOCAL_TEXT.findall(line)]
    assert told == []
