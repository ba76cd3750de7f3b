"""Which of the names in a module that has run is the subject.

A name that was given has to stand for a class (for a factory: something callable). Without a
name, the one class defined there that has `enqueue` and `step` is meant, or the one function that
takes the three parameters of a factory; where there are several, or none, the error lists what
there is, the likely ones first. Whatever is asked of the subject's values here may run its code.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedproof.subjects.load_errors import Note, TargetError
from schedproof.subjects.targets import Target, closest

if TYPE_CHECKING:
    from types import ModuleType

FACTORY_PARAMETERS = ("policy", "blocks", "aging_interval")

_MISSING = object()


@dataclass(frozen=True)
class Wanted:
    """What a name may stand for (`fits`), and what is meant without a name (`guess`).

    `kind` is "class" or "function", `statement` what defines it, `words` what its text contains.
    """

    kind: str
    statement: str
    words: tuple[str, ...]
    fits: Callable[[object], bool]
    guess: Callable[[object], bool]


@dataclass(frozen=True)
class Found:
    """The subject's value, the name it goes by, notes, and the notebook cell that defined it."""

    value: Any
    name: str
    notes: tuple[Note, ...] = ()
    cell: int | None = None


def candidates(module: ModuleType, name: str, wanted: Wanted) -> dict[str, object]:
    """What may be meant: the named thing, or all that look right and were defined here."""
    if name:
        value = _look_up(module, name)
        return {name: value} if wanted.fits(value) else {}
    return {
        name: value
        for name, value in list(vars(module).items())
        if wanted.fits(value) and wanted.guess(value) and _is_own(value, module)
    }


def pick(module: ModuleType, target: Target, wanted: Wanted) -> Found:
    """What the target names in a module that has run to its end, or a TargetError."""
    found = candidates(module, target.name, wanted)
    if found:
        name = single(list(found), target, wanted)
        return Found(found[name], name)
    value = _look_up(module, target.name) if target.name else _MISSING
    if value is not _MISSING:
        raise TargetError(
            f"target.not_a_{wanted.kind}",
            name=target.name,
            where=shown(target),
            got=type(value).__name__,
        )
    raise _nothing_found(module, target, wanted)


def single(names: list[str], target: Target, wanted: Wanted) -> str:
    """The only one of `names`, or a TargetError that lists them."""
    if len(names) == 1:
        return names[0]
    raise TargetError(
        f"target.several_{wanted.kind}",
        where=shown(target),
        available=", ".join(names),
        suggestion=f"{shown(target)}:{names[0]}",
    )


def defines(source: str, name: str, wanted: Wanted) -> bool:
    """Whether the text of a cell, which may not parse, means to define what is wanted."""
    if not name:
        return all(word in source for word in wanted.words)
    pattern = rf"^\s*{wanted.statement}\s+{re.escape(name)}\b"
    return re.search(pattern, source, re.MULTILINE) is not None


def shown(target: Target) -> str:
    """The target without its name, as it was typed."""
    text = target.text.rpartition(":")[0] if target.name else target.text
    return text.rstrip(":")


def _nothing_found(module: ModuleType, target: Target, wanted: Wanted) -> TargetError:
    """No such name, or nothing that could be meant without a name: say what there is."""
    available = _own_names(module, wanted)
    suggestion = closest(target.name, available) if target.name else ""
    kind = f"target.no_{wanted.kind}" if target.name else f"target.no_{wanted.kind}_to_guess"
    if suggestion:
        kind += "_did_you_mean"
    elif not available:
        kind += "_at_all"
    return TargetError(
        kind,
        name=target.name,
        where=shown(target),
        available=", ".join(available),
        suggestion=suggestion,
    )


def _look_up(module: ModuleType, name: str) -> object:
    """The value of a dotted name; _MISSING if there is none."""
    value: object = module
    for part in name.split("."):
        value = getattr(value, part, _MISSING)
    return value


def _own_names(module: ModuleType, wanted: Wanted) -> list[str]:
    """The names to offer, those that look right first."""
    things = [
        (name, value)
        for name, value in list(vars(module).items())
        if wanted.fits(value) and _is_own(value, module) and not name.startswith("__")
    ]
    return [name for name, _ in sorted(things, key=lambda pair: not wanted.guess(pair[1]))]


def _is_own(value: object, module: ModuleType) -> bool:
    return bool(getattr(value, "__module__", None) == module.__name__)


def _is_class(value: object) -> bool:
    return isinstance(value, type)


def _is_callable(value: object) -> bool:
    return callable(value)


def _looks_like_scheduler(value: object) -> bool:
    return all(callable(getattr(value, method, None)) for method in ("enqueue", "step"))


def _looks_like_factory(value: object) -> bool:
    if not inspect.isfunction(value):
        return False
    return set(FACTORY_PARAMETERS) <= set(inspect.signature(value).parameters)


CLASS = Wanted(
    "class", "class", ("class ", "def enqueue", "def step"), _is_class, _looks_like_scheduler
)
FACTORY = Wanted("function", "def", FACTORY_PARAMETERS, _is_callable, _looks_like_factory)
