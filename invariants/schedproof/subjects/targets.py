"""The words that name a subject: `file.py:Class`, `pkg.mod:Class`, `notebook.ipynb:Class`.

The text is split at its last colon, if what stands before it exists as a file (so drives, spaces
and colons in paths all work) or can be the name of a module; a file that exists under the whole
text comes first. The name behind the colon may be left out: then the one class that looks like a
scheduler is meant, which only loading can find. Nothing of the subject is read or run here.
"""

from __future__ import annotations

import keyword
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from schedproof.subjects.load_errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterable

TargetKind = Literal["file", "module", "notebook"]

_KIND_OF_SUFFIX: dict[str, TargetKind] = {".py": "file", ".pyw": "file", ".ipynb": "notebook"}


@dataclass(frozen=True)
class Target:
    """A subject as it was named.

    `where` is the absolute path of a file or notebook, or the dotted name of a module; `name` is
    the class (or function; dotted for a nested one), "" when it was left out; `text` is what was
    typed.
    """

    kind: TargetKind
    where: str
    name: str
    text: str

    @property
    def path(self) -> Path:
        """The file or notebook; of no use for a module."""
        return Path(self.where)


def parse_target(text: str) -> Target:
    """The target that `text` names; a `TargetError` says why it can name none."""
    text = text.strip()
    if not text.strip(":"):
        raise TargetError("target.empty", text=text)
    head, name = _split(text)
    for where, what in ((text, ""), (head, name)):
        if _is_file(where):
            return _file_target(where, what, text)
    where, name = (head, name) if not name or _is_dotted(name) else (text, "")
    if _is_dotted(where) and Path(where).suffix not in _KIND_OF_SUFFIX:
        return Target("module", where, name, text)
    raise _nothing_there(where, text)


def closest(name: str, names: Iterable[str]) -> str:
    """The one of `names` that was probably meant; "" if none is near."""
    import difflib  # slow to load, and only a mistake needs it

    by_lower = {other.lower(): other for other in names}
    found = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else ""


def _split(text: str) -> tuple[str, str]:
    """What stands before and behind the last colon; `a::b`, as pytest has it, is `a:b`."""
    head, _, name = text.rpartition(":")
    return (head.rstrip(":"), name.strip()) if head else (text, "")


def _file_target(where: str, name: str, text: str) -> Target:
    path = Path(where).expanduser().absolute()
    kind = _KIND_OF_SUFFIX.get(path.suffix.lower())
    if kind is None:
        raise TargetError("target.not_a_python_file", path=where)
    if name and not _is_dotted(name):
        raise TargetError("target.bad_name", name=name, path=where)
    return Target(kind, str(path), name, text)


def _nothing_there(where: str, text: str) -> TargetError:
    """The error for a text that is neither an existing file nor a module's name."""
    path = Path(where).expanduser()
    if _is_folder(path):
        files = _files_of(path)
        found = "target.folder" if files else "target.folder_empty"
        return TargetError(found, path=where, available=", ".join(files))
    if path.suffix.lower() in _KIND_OF_SUFFIX or "/" in where or "\\" in where:
        near = closest(path.name, _files_of(path.parent))
        suggestion = str(path.with_name(near)) if near else ""
        found = "target.no_file_did_you_mean" if suggestion else "target.no_file"
        return TargetError(found, path=where, folder=str(Path.cwd()), suggestion=suggestion)
    return TargetError("target.not_understood", text=text)


def _files_of(folder: Path) -> list[str]:
    try:
        paths = [path for path in folder.iterdir() if path.suffix.lower() in _KIND_OF_SUFFIX]
        return sorted(path.name for path in paths if path.is_file())
    except (OSError, ValueError):
        return []


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in name.split("."))


def _is_file(where: str) -> bool:
    # A pipe or a device is no file: reading it might never end.
    try:
        return bool(where) and Path(where).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False
