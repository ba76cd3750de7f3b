"""Where in the subject's own files something went wrong.

An exception from a scheduler travels through the search, the scheduler's file, perhaps the
standard library or an installed package. A person wants one line of it: the innermost line of
the file they wrote. The rules, from best to worst: a line of a file that is neither ours nor
Python's nor installed; a line of code without a file; a line of an installed package. The last
two count only below the last line of ours, so that a library which *we* use is never blamed.
A cell of a notebook is a file whose name ends in ", cell 3" (see `notebook.py`). A cell that runs
in a kernel has a temporary file, and is called what the notebook calls it: In [3].
"""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, FrameType

OUR_PACKAGES = frozenset({"schedproof", "schedmodel"})
TEXT_MAX, ERROR_TEXT_MAX = 500, 2_000

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+\b")
_CELL = re.compile(r"^(?P<path>.+), cell (?P<cell>\d+)$", re.DOTALL)
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_OURS, _WRITTEN, _NO_FILE, _LIBRARY, _PYTHON = range(5)


class StopSubject(BaseException):
    """Raised into the subject's code by whoever runs it; never an error of the subject."""


@dataclass(frozen=True)
class Place:
    """One line of the subject's code.

    `path` is absolute (or what Python calls code without a file, like "<string>"), `line` counts
    from 1 within the file or the cell and is 0 when unknown, `function` is the plain name of the
    function ("<module>" outside of any, "" when unknown), `cell` is the number of the notebook's
    code cell, `lines` up to three pairs (number, text) around `line`, the text without its end.
    """

    path: str
    line: int
    function: str = ""
    cell: int | None = None
    lines: tuple[tuple[int, str], ...] = ()

    @property
    def name(self) -> str:
        """The path as a person would type it: relative where it lies below the current folder."""
        try:
            return str(Path(self.path).relative_to(Path.cwd()))
        except (OSError, ValueError):
            return self.path

    @property
    def message_id(self) -> str:
        """The id of the text that names this place.

        `place.file` or `place.cell`, with `.function` behind it for a line of a function, with
        `.whole` where no line is known.
        """
        kind = "place.file" if self.cell is None else "place.cell"
        if not self.line:
            return f"{kind}.whole"
        named = self.function and not self.function.startswith("<module")
        return f"{kind}.function" if named else kind

    @property
    def fields(self) -> dict[str, str]:
        """What the text of `message_id` has placeholders for."""
        cell = "" if self.cell is None else str(self.cell)
        return {
            "path": self.name,
            "line": str(self.line),
            "function": self.function,
            "cell": cell,
        }

    def excerpt(self) -> list[str]:
        """The lines around the place, numbered, the one itself marked with ">"."""
        width = max((len(str(number)) for number, _ in self.lines), default=0)
        return [
            f"{'>' if number == self.line else ' '} {number:>{width}}  {text}".rstrip()
            for number, text in self.lines
        ]

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` is its inverse."""
        return {
            "path": self.path,
            "line": self.line,
            "function": self.function,
            "cell": self.cell,
            "lines": [list(pair) for pair in self.lines],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any] | None) -> Place | None:
        """The place written by `to_json`; None for None."""
        if value is None:
            return None
        lines = tuple((int(number), str(text)) for number, text in value["lines"])
        return cls(value["path"], value["line"], value["function"], value["cell"], lines)


@dataclass(frozen=True)
class Spot:
    """One level of a stack: a file's name as Python knows it, a line, and who was running."""

    file: str
    line: int
    function: str
    module: str = ""
    code: CodeType | None = None


def locate(error: BaseException, inside: Iterable[str | Path] = ()) -> Place | None:
    """The innermost line of the subject's own files that `error` passed; None if there is none.

    For a `SyntaxError` of a file it is the line that does not parse. `inside` names files or
    folders that count as the subject's own though they would not (an installed scheduler).
    """
    if isinstance(error, SyntaxError) and error.filename and _is_written(error.filename):
        return place_at(error.filename, error.lineno or 0)
    return place_in(spots_of(error), inside)


def locate_frame(
    frame: FrameType | None, below: CodeType | None = None, inside: Iterable[str | Path] = ()
) -> Place | None:
    """The same for running code: `frame` and its callers, up to the one that runs `below`."""
    spots: list[Spot] = []
    while frame is not None and frame.f_code is not below:
        spots.append(_spot(frame, frame.f_lineno))
        frame = frame.f_back
    return place_in(reversed(spots), inside)


def spots_of(error: BaseException) -> Iterator[Spot]:
    """The levels of the error's traceback, outermost first."""
    step = error.__traceback__
    while step is not None:
        yield _spot(step.tb_frame, step.tb_lineno)
        step = step.tb_next


def place_in(spots: Iterable[Spot], inside: Iterable[str | Path] = ()) -> Place | None:
    """The best place among levels of a stack, outermost first; None if none is the subject's."""
    folders = tuple(str(Path(folder).absolute()) for folder in inside)
    best: tuple[int, Spot] | None = None
    for spot in spots:
        rank = _WRITTEN if _is_below(spot.file, folders) else _rank(spot)
        if rank == _OURS:
            best = best if best and best[0] == _WRITTEN else None
        elif rank != _PYTHON and (best is None or rank <= best[0]):
            best = rank, spot
    return place_at(best[1].file, best[1].line, best[1].function) if best else None


def place_at(file: str, line: int, function: str = "") -> Place:
    """The place at a line of a file, with the lines around it as far as they can be read."""
    source = linecache.getlines(file)
    first, last = max(line - 1, 1), min(line + 1, len(source)) if line else 0
    lines = tuple((number, source[number - 1].rstrip()) for number in range(first, last + 1))
    cell = _CELL.match(file)
    if cell:
        return Place(cell["path"], line, function, int(cell["cell"]), lines)
    return Place(_input_name(file) or file, line, function, None, lines)


def _input_name(file: str) -> str:
    """What the notebook that runs here calls the cell of a temporary file; "" for other files."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    numbers: Any = getattr(getattr(shell, "compile", None), "_filename_map", None)
    number: Any = numbers.get(file) if hasattr(numbers, "get") else None
    return f"In [{number}]" if isinstance(number, int) else ""


def is_written(spot: Spot) -> bool:
    """Whether a level runs code of a file that the subject's author wrote."""
    return _rank(spot) == _WRITTEN


def cell_file(path: str | Path, cell: int) -> str:
    """The name under which the code of a notebook's cell is compiled."""
    return f"{path}, cell {cell}"


def text_of(error: BaseException) -> str:
    """What an exception says; nothing where it cannot say it.

    Addresses of objects are left out: they differ whenever the same is done again.
    """
    try:
        return _ADDRESS.sub("", str(error))[:TEXT_MAX]
    except Exception:
        return ""


def error_text(error: BaseException) -> str:
    """The error as one text, "ValueError: no such policy", without any traceback.

    An error whose own `__str__` fails, and one that is very long, still give a short text.
    """
    name = type(error).__name__
    try:
        text = str(error.msg) if isinstance(error, SyntaxError) else str(error)
    except Exception as failure:
        text = f"({type(failure).__name__} in {name}.__str__)"
    if len(text) > ERROR_TEXT_MAX:
        text = text[:ERROR_TEXT_MAX] + " …"
    return f"{name}: {text}" if text else name


def _spot(frame: FrameType, line: int | None) -> Spot:
    code = frame.f_code
    module = frame.f_globals.get("__name__")
    return Spot(code.co_filename, line or 0, code.co_name, str(module or ""), code)


def _rank(spot: Spot) -> int:
    if spot.module.partition(".")[0] in OUR_PACKAGES:
        return _OURS
    rank = _rank_of_file(spot.file)
    return _WRITTEN if rank == _NO_FILE and spot.file in linecache.cache else rank


def _is_written(file: str) -> bool:
    return _rank(Spot(file, 0, "")) == _WRITTEN


@functools.lru_cache(maxsize=1024)
def _rank_of_file(file: str) -> int:
    """What kind of file it is, by its name alone."""
    if file.startswith("<"):
        return _PYTHON if file.startswith("<frozen ") else _NO_FILE
    if _INSTALLED.intersection(Path(file).parts):
        return _LIBRARY
    if _is_below(file, _our_folders()):
        return _OURS
    return _PYTHON if _is_below(file, _python_folders()) else _WRITTEN


def _is_below(file: str, folders: tuple[str, ...]) -> bool:
    return any(file == folder or file.startswith(folder + os.sep) for folder in folders)


@functools.cache
def _our_folders() -> tuple[str, ...]:
    # Our modules are also told by name; by file they are when a frame's globals were replaced.
    return (str(Path(__file__).absolute().parents[1]),)


@functools.cache
def _python_folders() -> tuple[str, ...]:
    folders = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    folders.add(str(Path(os.__file__).parent))
    return tuple(sorted(folders))
