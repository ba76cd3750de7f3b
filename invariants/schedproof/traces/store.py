"""The folder `.schedproof`: where traces are kept, one small file each.

Rules.
1. A trace lies under its id. The same trace is kept once, however often it is found; where
   two different ones have the same short id, the second lies under its long one.
2. A file is written under another name first and then renamed, so nobody sees half of it.
3. The folder does not grow without end: beyond `KEPT_MAX` traces the oldest are removed.
4. A trace is found by its path, its id, or the beginning of its id.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from schedproof.traces.itf import trace_in
from schedproof.traces.trace import Trace, TraceError

FOLDER = ".schedproof"
KEPT_MAX = 200
BYTES_MAX = 2_000_000
SUFFIX = ".json"


@dataclass(frozen=True)
class Kept:
    """A trace and the file it lies in."""

    path: Path
    trace: Trace

    @property
    def name(self) -> str:
        """What to call it by: the file's name, which is its id."""
        return self.path.name.removesuffix(SUFFIX)


class Store:
    """The traces in a folder, which need not exist yet."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = Path(FOLDER) if folder is None else folder

    def save(self, trace: Trace) -> Kept:
        """Keep a trace. Raises `OSError` for what the system refuses."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._place(trace)
        write_atomically(path, trace.to_text())
        self._forget_the_oldest(path)
        return Kept(path, trace)

    def _place(self, trace: Trace) -> Path:
        """The file of a trace: the short id, unless another trace has it."""
        short = self.folder / (trace.id + SUFFIX)
        with contextlib.suppress(TraceError):
            if short.is_file() and read(short).digest != trace.digest:
                return self.folder / (trace.long_id + SUFFIX)
        return short

    def _forget_the_oldest(self, newest: Path) -> None:
        paths = self.paths()
        for path in sorted(paths, key=_age)[: max(0, len(paths) - KEPT_MAX)]:
            if path != newest:
                path.unlink(missing_ok=True)

    def paths(self) -> list[Path]:
        """The files of all traces, by name."""
        try:
            return sorted(p for p in self.folder.iterdir() if _is_trace(p))
        except FileNotFoundError:
            return []
        except OSError as error:
            reason = error.strerror or str(error)
            raise TraceError("trace.unreadable", path=str(self.folder), error=reason) from None

    def all(self) -> list[Kept]:
        """All traces, by name. Raises `TraceError` at the first that cannot be read."""
        return [Kept(path, read(path)) for path in self.paths()]

    def newest(self) -> Kept:
        """The trace that was kept last. Raises `TraceError` where there is none."""
        paths = sorted(self.paths(), key=_age)
        if not paths:
            raise TraceError("trace.none_at_all", folder=str(self.folder))
        return Kept(paths[-1], read(paths[-1]))

    def find(self, name: str) -> Kept:
        """The trace of that id, or of the only one that begins so, or in that file."""
        path = Path(name).expanduser()
        if path.suffix == SUFFIX or os.sep in name:
            return Kept(path, read(path))
        wanted = name.lower()
        paths = {path.name.removesuffix(SUFFIX): path for path in self.paths()}
        found = [each for each in paths if each.lower() == wanted]
        found = found or [each for each in paths if each.lower().startswith(wanted)]
        if len(found) != 1:
            kind = "trace.several" if found else "trace.none" if paths else "trace.none_kept"
            names = found or list(paths)
            raise TraceError(kind, name=name, folder=str(self.folder), allowed=names)
        return Kept(paths[found[0]], read(paths[found[0]]))


def _is_trace(path: Path) -> bool:
    return path.suffix == SUFFIX and not path.name.startswith(".") and path.is_file()


def _age(path: Path) -> tuple[float, str]:
    try:
        return path.stat().st_mtime, path.name
    except OSError:
        return 0.0, path.name


def read(path: Path) -> Trace:
    """The trace in a file. Raises `TraceError`."""
    try:
        if path.is_file() and path.stat().st_size > BYTES_MAX:
            raise TraceError("trace.too_large", path=str(path), most=BYTES_MAX)
        return trace_in(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError:
        raise TraceError("trace.unreadable", path=str(path), error="not UTF-8") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise TraceError("trace.unreadable", path=str(path), error=reason) from None


def write_atomically(path: Path, text: str) -> None:
    """Write a whole file or nothing. Raises `OSError`."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".half")
    half = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        half.chmod(0o666 & ~_umask())
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def _umask() -> int:
    """What this process leaves out of the rights of new files; reading it means setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
