"""Reading and running the cells of a Jupyter notebook without Jupyter.

Code cells are numbered from 1 in the order of the file, as a fresh "run all" numbers them; cells
of text do not count. Each runs as a file of its own, "<path>, cell 3", whose text is put where
tracebacks and `inspect` look for it. What IPython adds to Python is left out and noted: lines
that start with % or !, those that ask with ?, and whole cells under a %% magic that is not about
Python; only cells that do not parse are searched for it, so a % inside an expression is safe.
`from __future__` imports last from their cell on, as they do in IPython.
"""

from __future__ import annotations
import __future__

import ast
import json
import linecache
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from schedproof.subjects.load_errors import Note, TargetError
from schedproof.subjects.places import cell_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import CodeType

# Cell magics under which the rest of the cell is still this notebook's Python.
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun"})
_MAGIC_LINE = re.compile(r"^\s*([%!?]|[\w.,\s]+=\s*[%!])|\?\s*$")
_FUTURE_FLAGS: int = sum(
    {getattr(__future__, feature).compiler_flag for feature in __future__.all_feature_names}
)


@dataclass(frozen=True)
class Cell:
    """One code cell: its number from 1, its text as it stands in the notebook."""

    number: int
    source: str


@dataclass(frozen=True)
class CompiledCell:
    """A cell ready to run, and what IPython would have done that it will not do."""

    code: CodeType
    notes: tuple[Note, ...]

    @property
    def future_flags(self) -> int:
        """The `from __future__` features in force at the end of the cell."""
        return self.code.co_flags & _FUTURE_FLAGS


def read_cells(path: Path) -> list[Cell]:
    """The code cells of a notebook of format 3 or 4; a `TargetError` for any other file."""
    notebook = _read_json(path)
    language = _language(notebook)
    if language not in {"", "python", "ipython", "python3"}:
        raise TargetError("target.notebook_not_python", path=str(path), language=language)
    sources = [
        _joined(cell.get("source", cell.get("input", "")))
        for cell in _all_cells(notebook)
        if cell.get("cell_type") == "code"
    ]
    if not sources:
        raise TargetError("target.notebook_no_cells", path=str(path))
    return [Cell(number, source) for number, source in enumerate(sources, start=1)]


def compile_cell(path: Path, cell: Cell, future_flags: int = 0) -> CompiledCell:
    """The cell as code; `future_flags` are those of the cells before it.

    Raises SyntaxError (or what else the compiler raises) with the cell's name and line.
    """
    file = cell_file(path, cell.number)
    lines = cell.source.replace("\r\n", "\n").split("\n")
    linecache.cache[file] = (len(cell.source), None, [line + "\n" for line in lines], file)
    source, magics = without_magics(cell.source)
    code = compile(source, file, "exec", flags=future_flags, dont_inherit=True)
    return CompiledCell(code, _magic_notes(cell.number, magics))


def without_magics(source: str) -> tuple[str, list[tuple[int, str]]]:
    """The Python of a cell with as many lines as before, and the lines left out: (line, text)."""
    # Not `splitlines`: Python counts lines by "\n" alone, a string may hold other separators.
    lines = source.replace("\r\n", "\n").split("\n")
    magics = _blank_cell_magic(lines)
    for _ in range(len(lines)):
        bad = _line_that_fails("\n".join(lines))
        if not 1 <= bad <= len(lines) or not _MAGIC_LINE.search(lines[bad - 1]):
            break
        magics.append((bad, lines[bad - 1].strip()))
        _blank_from(lines, bad - 1)
    return "\n".join(lines), sorted(magics)


def _blank_cell_magic(lines: list[str]) -> list[tuple[int, str]]:
    """Take a leading %% magic out of `lines`, and the cell with it if that is another language."""
    first = next((index for index, line in enumerate(lines) if line.strip()), len(lines))
    if first == len(lines) or not lines[first].startswith("%%"):
        return []
    magic = lines[first].strip()
    words = magic[2:].split()
    keep = bool(words) and words[0] in _PYTHON_CELLS
    lines[first : first + 1 if keep else len(lines)] = [""] * (1 if keep else len(lines) - first)
    return [(first + 1, magic)]


def _blank_from(lines: list[str], index: int) -> None:
    """Replace one magic line, and the lines that a backslash adds to it, by a `pass`."""
    indent = lines[index][: len(lines[index]) - len(lines[index].lstrip())]
    while lines[index].rstrip().endswith("\\") and index + 1 < len(lines):
        lines[index] = indent + "pass"
        index += 1
    lines[index] = indent + "pass"


def _line_that_fails(source: str) -> int:
    """The line at which the source stops to parse; 0 if it parses or nobody can tell."""
    try:
        ast.parse(source)
    except SyntaxError as error:
        return error.lineno or 0
    except (ValueError, RecursionError, MemoryError):
        return 0
    return 0


def _magic_notes(number: int, magics: list[tuple[int, str]]) -> tuple[Note, ...]:
    """One note a cell, however many lines were left out."""
    if not magics:
        return ()
    line, text = magics[0]
    fields = {"cell": str(number), "line": str(line), "text": text, "count": str(len(magics))}
    return (Note("note.magic_skipped", fields),)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        notebook = json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise TargetError(
            "target.unreadable", path=str(path), reason=error.strerror or str(error)
        ) from None
    except json.JSONDecodeError as error:
        raise _broken(path, str(error.lineno), str(error.colno), error.msg) from None
    except UnicodeDecodeError as error:
        raise _broken(path, *_line_of_byte(error), error.reason) from None
    except RecursionError:
        raise _broken(path, "1", "1", "nested too deeply") from None
    if not isinstance(notebook, dict):
        raise TargetError("target.notebook_no_cells", path=str(path))
    return cast("dict[str, Any]", notebook)


def _broken(path: Path, line: str, column: str, reason: str) -> TargetError:
    return TargetError(
        "target.notebook_not_json", path=str(path), line=line, column=column, reason=reason
    )


def _line_of_byte(error: UnicodeDecodeError) -> tuple[str, str]:
    before = error.object[: error.start]
    return str(before.count(b"\n") + 1), str(error.start - before.rfind(b"\n"))


def _all_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of all kinds; format 3 keeps them in worksheets."""
    sheets = [notebook, *_objects(notebook.get("worksheets"))]
    return [cell for sheet in sheets for cell in _objects(sheet.get("cells"))]


def _objects(value: object) -> list[dict[str, Any]]:
    items = cast("Iterable[Any]", value) if isinstance(value, list) else ()
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _joined(source: object) -> str:
    """The text of a cell, which a notebook keeps as one string or as a list of lines."""
    lines = cast("Iterable[Any]", source) if isinstance(source, list) else (source,)
    return "".join(line for line in lines if isinstance(line, str))


def _language(notebook: dict[str, Any]) -> str:
    """The language in lower case; "" where the notebook does not say."""
    metadata = notebook.get("metadata")
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        part = cast("dict[str, Any]", metadata).get(key) if isinstance(metadata, dict) else None
        found = cast("dict[str, Any]", part).get(name) if isinstance(part, dict) else None
        if isinstance(found, str) and found:
            return found.lower()
    return ""
