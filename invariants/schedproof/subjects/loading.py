"""Turning a target into a class, by running the code of a stranger.

Everything here is meant for a child process: it runs the subject's top level and leaves `sys.path`
and `sys.modules` changed. A file is run as a script would be, with its folder on `sys.path`, except
that it is not `__main__` and that no file beside it can take the place of a standard module; what
fails below the class, such as tests of it, is noted. A module is imported with the current folder
on `sys.path`. The cells of a notebook run in order until the class is defined, in the notebook's
folder; the first definition counts (a later one may be somebody's solution), unless the cell is
named; cells that fail are noted, except the one that defines the class. What fails is a
`TargetError` or a `SubjectLoadError`; only an interrupt, a lack of memory and a `StopSubject` pass
as they are.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import itertools
import linecache
import os
import sys
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from schedproof.subjects.load_errors import Note, SubjectLoadError, TargetError, load_failure
from schedproof.subjects.notebook import Cell, compile_cell, read_cells
from schedproof.subjects.picking import (
    CLASS,
    FACTORY,
    FACTORY_PARAMETERS,
    Found,
    Wanted,
    candidates,
    defines,
    pick,
    single,
)
from schedproof.subjects.places import (
    Place,
    StopSubject,
    cell_file,
    error_text,
    is_written,
    locate,
    spots_of,
)
from schedproof.subjects.shadowing import shadowed_notes
from schedproof.subjects.targets import Target, closest, parse_target
from schedproof.subjects.todos import TODO_NUMBERS, is_open_todo, open_todos

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import CodeType

__all__ = [
    "FACTORY_PARAMETERS",
    "TODO_NUMBERS",
    "LoadedCallable",
    "LoadedClass",
    "Note",
    "Place",
    "StopSubject",
    "SubjectLoadError",
    "Target",
    "TargetError",
    "error_text",
    "is_open_todo",
    "load_callable",
    "load_class",
    "load_module",
    "locate",
    "open_todos",
    "parse_target",
]

_numbers = itertools.count(1)


@dataclass(frozen=True)
class LoadedClass:
    """A subject's class, the name it goes by, the notebook cell that defined it, and notes."""

    cls: type[Any]
    name: str
    notes: tuple[Note, ...] = ()
    cell: int | None = None


@dataclass(frozen=True)
class LoadedCallable:
    """A factory of schedulers: called with policy, blocks and aging_interval by name."""

    function: Callable[..., Any]
    name: str
    notes: tuple[Note, ...] = ()
    cell: int | None = None


def load_class(
    target: Target, cell: int | None = None, *, before: Callable[[str], None] | None = None
) -> LoadedClass:
    """The class that `target` names, after running the code around it.

    `cell` picks the notebook cell whose definition counts; `before` is told what runs next
    ("import" or "cell 3"). Raises TargetError or SubjectLoadError.
    """
    found = _load(target, cell, CLASS, before or _tell_nobody)
    return LoadedClass(found.value, found.name, found.notes, found.cell)


def load_callable(
    target: Target, cell: int | None = None, *, before: Callable[[str], None] | None = None
) -> LoadedCallable:
    """The same for a factory; without a name, the one function that takes FACTORY_PARAMETERS."""
    found = _load(target, cell, FACTORY, before or _tell_nobody)
    return LoadedCallable(found.value, found.name, found.notes, found.cell)


def load_module(path: str, *, before: Callable[[str], None] | None = None) -> ModuleType:
    """The Python file at `path`, run as a module. Raises TargetError or SubjectLoadError."""
    target = parse_target(path)
    if target.kind != "file" or target.name:
        raise TargetError("target.not_a_claims_file", path=path)
    (before or _tell_nobody)("import")
    with _as_script(target, target.path.parent, chdir=False):
        return _run_file(target.path, target)


def _tell_nobody(_part: str) -> None:
    """Stands for a `before` that was not given."""


def _load(target: Target, cell: int | None, wanted: Wanted, before: Callable[[str], None]) -> Found:
    if target.kind == "notebook":
        with _as_script(target, target.path.parent, chdir=True):
            return _load_from_notebook(target, cell, wanted, before)
    if cell is not None:
        raise TargetError("target.cell_without_notebook", where=target.text, cell=str(cell))
    before("import")
    folder = target.path.parent if target.kind == "file" else Path.cwd()
    with _as_script(target, folder, chdir=False):
        if target.kind == "file":
            return _load_from_file(target, wanted)
        module = _import(target)
        with _subject_code():
            return pick(module, target, wanted)


def _load_from_file(target: Target, wanted: Wanted) -> Found:
    """What a file defines, also where it fails afterwards: then with a note."""
    module = _new_module(target.path)
    notes: tuple[Note, ...] = ()
    try:
        _run(module, target)
    except SubjectLoadError as error:
        with _subject_code():
            if not candidates(module, target.name, wanted):
                raise
        line = str(error.place.line if error.place else 0)
        notes = (Note("note.file_failed", {"line": line, "error": error.error}),)
    with _subject_code():
        found = pick(module, target, wanted)
    return dataclasses.replace(found, notes=(*notes, *shadowed_notes(target)))


@contextlib.contextmanager
def _as_script(target: Target, folder: Path, *, chdir: bool) -> Generator[None]:
    """Let the subject see the command line, the folder and the path a script would see."""
    argv, quiet, home = sys.argv, sys.dont_write_bytecode, Path.cwd()
    sys.argv, sys.dont_write_bytecode = [target.where], True
    _add_to_path(str(folder))
    try:
        with contextlib.suppress(OSError):
            os.chdir(folder if chdir else home)
        yield
    finally:
        sys.argv, sys.dont_write_bytecode = argv, quiet
        os.chdir(home)


def _add_to_path(folder: str) -> None:
    """Put the folder behind the standard library and before what is installed."""
    if folder in sys.path:
        return
    installed = (
        index
        for index, entry in enumerate(sys.path)
        if entry.endswith(("site-packages", "dist-packages"))
    )
    sys.path.insert(next(installed, len(sys.path)), folder)
    importlib.invalidate_caches()


@contextlib.contextmanager
def _subject_code(suggestion: str = "", file: str = "") -> Generator[None]:
    """Run the subject's top level: what it raises becomes a SubjectLoadError."""
    try:
        yield
    except (KeyboardInterrupt, StopSubject, TargetError, SubjectLoadError):
        raise
    except MemoryError as error:
        # The compiler says so, too, of code that is nested too deeply for it.
        if any(is_written(spot) for spot in spots_of(error)):
            raise
        raise SubjectLoadError("too_deep", None, error_text(error)) from error
    except BaseException as error:
        raise load_failure(error, suggestion, file=file) from error


class _FreshLoader(SourceFileLoader):
    """Compiles the file as it is now; cached code may miss the edits of the last second."""

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _run_file(path: Path, target: Target) -> ModuleType:
    """The file as a module under a name that nothing else has."""
    module = _new_module(path)
    _run(module, target)
    return module


def _new_module(path: Path) -> ModuleType:
    _check_readable(path)
    name = f"schedproof_subject_{next(_numbers)}"
    spec = spec_from_file_location(name, path, loader=_FreshLoader(name, str(path)))
    if spec is None:
        raise TargetError("target.not_a_python_file", path=str(path))
    module = sys.modules[name] = module_from_spec(spec)
    return module


def _run(module: ModuleType, target: Target) -> None:
    with _subject_code(_as_module(target.path, target.name), str(target.path)):
        _FreshLoader(module.__name__, str(target.path)).exec_module(module)


def _check_readable(path: Path) -> None:
    """Refuse a file that cannot be read, and show tracebacks the text it has now."""
    try:
        path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise TargetError("target.unreadable", path=str(path), reason=reason) from None
    linecache.checkcache(str(path))
    linecache.getlines(str(path))


def _as_module(path: Path, name: str) -> str:
    """The file as `pkg.mod:Class`, if it lies in a package; else ""."""
    parts = [path.stem]
    for folder in path.parents:
        if not (folder / "__init__.py").is_file():
            break
        parts.insert(0, folder.name)
    return f"{'.'.join(parts)}:{name}" if len(parts) > 1 else ""


def _import(target: Target) -> ModuleType:
    with _subject_code():
        try:
            return importlib.import_module(target.where)
        except ModuleNotFoundError as error:
            if not f"{target.where}.".startswith(f"{error.name}."):
                raise
            raise _module_missing(target, error.name or target.where) from None


def _module_missing(target: Target, missing: str) -> TargetError:
    """Say which module is missing, and guess what was meant: `pkg.mod.Class`, or a file here."""
    package, _, last = target.where.rpartition(".")
    if not target.name and package in sys.modules and missing == target.where:
        suggestion = f"{package}:{last}"
    else:
        near = closest(missing, [path.stem for path in Path.cwd().glob("*.py")])
        suggestion = near and f"{near}.py" + (f":{target.name}" if target.name else "")
    found = "target.module_missing_did_you_mean" if suggestion else "target.module_missing"
    return TargetError(
        found,
        module=target.where,
        missing=missing,
        folder=str(Path.cwd()),
        suggestion=suggestion,
    )


def _load_from_notebook(
    target: Target, only: int | None, wanted: Wanted, before: Callable[[str], None]
) -> Found:
    """Run cells until one of them defines what is wanted (the cell `only`, if it is given)."""
    cells = read_cells(target.path)
    _check_cell(target, only, len(cells))
    run = _NotebookRun(target.path)
    for cell in cells[:only]:
        before(f"cell {cell.number}")
        old = run.candidates(target.name, wanted)
        error = run.run(cell)
        if only in (None, cell.number):
            new = _what_is_new(old, run.candidates(target.name, wanted))
            if new:
                rest = cells[cell.number :] if only is None else []
                return run.found(new, cell, rest, target, wanted)
            if error is not None and defines(cell.source, target.name, wanted):
                raise load_failure(error, notes=tuple(run.notes[:-1])) from error
    if only is not None:
        found = "target.not_in_cell" if target.name else "target.nothing_in_cell"
        raise TargetError(found, name=target.name, path=target.where, cell=str(only))
    with _subject_code():
        return pick(run.module, target, wanted)


def _check_cell(target: Target, only: int | None, count: int) -> None:
    if only is not None and not 1 <= only <= count:
        raise TargetError("target.no_cell", path=target.where, cell=str(only), count=str(count))


def _what_is_new(old: dict[str, object], new: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in new.items() if old.get(name) is not value}


class _NotebookRun:
    """The names that the cells of one notebook share, and what was noted about them so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[Note] = []
        self.module = ModuleType(f"schedproof_subject_{next(_numbers)}")
        sys.modules[self.module.__name__] = self.module
        # What IPython gives to every cell besides Python's own names.
        vars(self.module).update(display=_display, get_ipython=_no_ipython)
        self._flags = 0

    def run(self, cell: Cell) -> BaseException | None:
        """Run one cell; what it raises is noted and returned."""
        try:
            compiled = compile_cell(self.path, cell, self._flags)
            self.notes += compiled.notes
            self._flags |= compiled.future_flags
            exec(compiled.code, vars(self.module))
        except (KeyboardInterrupt, MemoryError, StopSubject):
            raise
        except BaseException as error:
            self.notes.append(self._failure(cell, error))
            return error
        return None

    def candidates(self, name: str, wanted: Wanted) -> dict[str, object]:
        """What may be meant among the names defined so far."""
        with _subject_code():
            return candidates(self.module, name, wanted)

    def found(
        self,
        new: dict[str, object],
        cell: Cell,
        rest: list[Cell],
        target: Target,
        wanted: Wanted,
    ) -> Found:
        """What `cell` defined; a note where one of the cells in `rest` defines it again."""
        name = single(list(new), target, wanted)
        # This is where `inspect` looks for the text of a class.
        self.module.__file__ = cell_file(self.path, cell.number)
        again = next((other for other in rest if defines(other.source, name, wanted)), None)
        if again is not None:
            fields = {"name": name, "cell": str(cell.number), "other_cell": str(again.number)}
            self.notes.append(Note("note.defined_again", fields))
        return Found(new[name], name, tuple(self.notes), cell.number)

    def _failure(self, cell: Cell, error: BaseException) -> Note:
        file = cell_file(self.path, cell.number)
        line = error.lineno if isinstance(error, SyntaxError) and error.filename == file else None
        lines = [spot.line for spot in spots_of(error) if spot.file == file]
        shown = str(line or (lines[-1] if lines else 0))
        fields = {"cell": str(cell.number), "line": shown, "error": error_text(error)}
        return Note("note.cell_failed", fields)


def _display(*_objects: object, **_options: object) -> None:
    """Stands for IPython's `display`: there is nobody to show anything to."""


def _no_ipython() -> None:
    """Stands for IPython's `get_ipython`, which gives None outside of it."""
