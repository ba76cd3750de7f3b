"""Importing the scheduling part of a package, and none of what it would drag in.

Rules.
1. A package is named as Python names it, or by its folder. Its `__init__` files are not run:
   most of them import a whole model. The modules that hold the scheduler are.
2. Libraries for tensors are replaced by names without meaning while these modules are
   imported, installed or not, and so is any other library that is not there: a scheduler has
   no need of them. What is asked of such a name later is told as an error of the engine.
3. `numpy` and `xxhash` are used where installed; small replacements do for block hashes.
4. What was replaced is put back afterwards. A package that is not there is a `MissingPackage`.
5. A package whose folder has another name than its own code imports it by is refused: its parts
   would be replaced as a library that is not there, and a verdict would be about something else.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import types
from array import array
from collections.abc import Generator, Iterable
from hashlib import blake2b
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from schedproof.engines.adapter import MissingPackage
from schedproof.subjects.load_errors import TargetError

TENSORS = frozenset("torch triton flash_attn transformers torch_npu vllm".split())
SMALL = frozenset({"numpy", "xxhash"})


class _Nothing(type):
    """The class of names without meaning: whatever is asked of one is another."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing(name)

    def _itself(cls, _other: Any = None) -> Any:
        return cls

    __getitem__ = __add__ = __radd__ = __or__ = __ror__ = __mul__ = __rmul__ = _itself
    __sub__ = __truediv__ = __matmul__ = __neg__ = __invert__ = __lt__ = __gt__ = _itself

    def __call__(cls, *args: Any, **_named: Any) -> Any:
        """As a decorator it leaves what it decorates as it is."""
        if len(args) == 1 and callable(args[0]) and not _named:
            return args[0]
        return cls


def _nothing(name: str) -> Any:
    return _Nothing(name, (), {})


class _Emptied(types.ModuleType):
    """A module in which every name stands for nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        vars(self)["__path__"] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing(name)


class _Finder(MetaPathFinder, Loader):
    """Finds the modules that are not to be loaded: those named, or all but one package's."""

    def __init__(self, names: frozenset[str] = TENSORS, but: Path | None = None) -> None:
        self._names, self._but = names, but

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        top, _, part = fullname.partition(".")
        wanted = top in self._names if self._but is None else top != self._but.name
        if wanted and self._but is not None and "." in part:
            _insist_that_it_is_another(self._but, top, part)
        return ModuleSpec(fullname, self, is_package=True) if wanted else None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return _Emptied(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


def _insist_that_it_is_another(folder: Path, name: str, part: str) -> None:
    """Raise `TargetError` where this is a module of the package in the folder itself."""
    if folder.joinpath(*part.split(".")).with_suffix(".py").is_file():
        raise TargetError("target.renamed", package=str(folder), name=name)


class _Digest:
    """A hash of 64 bits in the manner of `xxhash.xxh64`."""

    def __init__(self, data: bytes = b"") -> None:
        self._parts = [bytes(data)]

    def update(self, data: Any) -> None:
        """Take more bytes in."""
        self._parts.append(bytes(data))

    def intdigest(self) -> int:
        """The hash as a number."""
        return int.from_bytes(blake2b(b"".join(self._parts), digest_size=8).digest(), "little")

    def digest(self) -> bytes:
        """The hash as bytes."""
        return self.intdigest().to_bytes(8, "big")

    def hexdigest(self) -> str:
        """The hash as text."""
        return self.digest().hex()


def _small(name: str) -> types.ModuleType:
    """What schedulers use of numpy or xxhash, where that is not installed."""
    module = _Emptied(name)
    if name == "xxhash":
        vars(module).update(xxh64=_Digest, xxh3_64=_Digest)
    else:
        vars(module).update(array=_numbers, ndarray=list)
    return module


def _numbers(values: Iterable[int], *_more: Any, **_named: Any) -> array[int]:
    return array("q", values)


def folder_of(package: str) -> Path:
    """The folder of a package that is named, or that is a folder; raises `MissingPackage`."""
    path = Path(package).expanduser()
    if path.is_dir():
        return path.absolute()
    try:
        spec = importlib.util.find_spec(package) if package.isidentifier() else None
    except (ImportError, ValueError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise MissingPackage(package, package)
    return Path(places[0])


@contextlib.contextmanager
def alone(folder: Path) -> Generator[None]:
    """Within this, modules of the package in `folder` can be imported by their dotted names."""
    before = dict(sys.modules)
    finder, last = _Finder(), _Finder(but=folder)
    for name in [*sys.modules]:
        if name.partition(".")[0] in (*TENSORS, folder.name):
            del sys.modules[name]
    for part in [folder, *(p for p in folder.rglob("*") if p.is_dir())]:
        if any(part.glob("*.py")):
            name = ".".join([folder.name, *part.relative_to(folder).parts])
            package = types.ModuleType(name)
            package.__path__ = [str(part)]
            package.__file__ = str(part / "__init__.py")
            sys.modules[name] = package
    for name in SMALL:
        if importlib.util.find_spec(name) is None:
            sys.modules[name] = _small(name)
    sys.meta_path[:] = [finder, *sys.meta_path, last]
    sys.path.insert(0, str(folder.parent))
    try:
        yield
    finally:
        sys.meta_path[:] = [each for each in sys.meta_path if each not in (finder, last)]
        sys.path.remove(str(folder.parent))
        kept = {n: m for n, m in sys.modules.items() if n.partition(".")[0] == folder.name}
        sys.modules.clear()
        sys.modules.update({**before, **kept})


def names_of(folder: Path, *wanted: str) -> list[Any]:
    """The things at `module:Name` below a package's folder."""
    found: list[Any] = []
    with alone(folder):
        for where in wanted:
            module, _, name = where.partition(":")
            loaded = importlib.import_module(f"{folder.name}.{module}")
            found.append(getattr(loaded, name))
    return found
