"""Values that were read off a stranger's objects, made comparable.

Rules.
1. A frozen value is a stand-in that can be hashed and never changes. Two of them are equal
   exactly when the values look equal, also when they belong to different schedulers.
2. Containers are taken for what is in them. So are objects that know no equality of their
   own: for what a copy of them would be made from, however deep, and an object within
   itself for its place.
3. A function is taken for its code and for the plain values that it closes over, a lock for
   whether it is held.
4. What can neither be compared nor copied (a generator) stands for itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import cache
from threading import Lock, RLock
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, Final

ATOMS = (int, str, float, bool, type(None), bytes)
LOCKS: Final = (type(Lock()), type(RLock()))
Names = Mapping[int, Hashable]
NOBODY: Names = MappingProxyType({})
_AS_THEY_ARE = (*ATOMS, type, BuiltinFunctionType, ModuleType)


def frozen(value: Any, known: Names = NOBODY) -> Any:
    """A hashable stand-in that is equal exactly when the values look equal.

    `known` names objects that are told elsewhere, by their `id`: where it leads to one of them,
    the name stands for it.
    """
    if isinstance(value, ATOMS):
        return value
    try:
        return _frozen(value, known, ())
    except RecursionError:
        return _itself(value)


def _frozen(value: Any, known: Names, around: tuple[int, ...]) -> Any:
    """`around` are the objects in which this one was found, outermost first."""
    if isinstance(value, _AS_THEY_ARE):
        return value
    number = id(value)
    if number in known or number in around:
        return ("known", known[number]) if number in known else ("around", around.index(number))
    around = (*around, number)
    kind = value.__class__
    if issubclass(kind, dict):
        return (
            "dict",
            *((_frozen(k, known, around), _frozen(v, known, around)) for k, v in value.items()),
        )
    if issubclass(kind, (list, tuple)):
        return (kind.__name__, *(_frozen(item, known, around) for item in value))
    if issubclass(kind, (set, frozenset)):
        return ("set", frozenset(_frozen(item, known, around) for item in value))
    if issubclass(kind, (FunctionType, MethodType)):
        return _of_code(value, known, around)
    if issubclass(kind, LOCKS):
        return (kind, repr(value).split()[0])  # "<locked" or "<unlocked"
    if kind.__eq__ is not object.__eq__ and can_be_hashed(value):
        return value
    try:
        parts = list(_parts(value))
    except Exception:  # whatever a stranger's object raises when it is to be copied
        return _itself(value)
    return (kind, *(_frozen(part, known, around) for part in parts))


def _of_code(value: Any, known: Names, around: tuple[int, ...]) -> Any:
    """A function, or a method with whose it is."""
    if isinstance(value, MethodType):
        return (
            "method",
            _frozen(value.__func__, known, around),
            _frozen(value.__self__, known, around),
        )
    return ("function", value.__code__, *_closed_over(value))


def _closed_over(function: Any) -> Iterator[Any]:
    """The plain values among those that a function keeps from where it was made."""
    kept = [*(function.__defaults__ or ()), *map(_contents, function.__closure__ or ())]
    return (value for value in kept if isinstance(value, ATOMS))


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return None


def _parts(value: Any) -> Iterator[Any]:
    """What a copy of the object would be made from."""
    recipe = value.__reduce_ex__(4)
    if isinstance(recipe, str):
        yield recipe
        return
    maker, arguments, state, items, pairs = (*recipe, None, None, None)[:5]
    yield from (maker, arguments, state, list(items or ()), list(pairs or ()))


def _itself(value: Any) -> Any:
    return value if can_be_hashed(value) else repr(value)


def can_be_hashed(value: Any) -> bool:
    """Whether the value can be a key."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def stored(thing: Any) -> dict[str, Any]:
    """The attributes that an object stores, by name: in slots, in a dictionary, or in both."""
    in_dictionary: dict[str, Any] = dict(getattr(thing, "__dict__", ()))
    slots = _slots_of(thing.__class__)
    if not slots:
        return in_dictionary
    return {n: getattr(thing, n) for n in slots if hasattr(thing, n)} | in_dictionary


def has_slots(thing: Any) -> bool:
    """Whether the object may store anything outside its dictionary."""
    return bool(_slots_of(thing.__class__))


@cache
def _slots_of(kind: Hashable) -> tuple[str, ...]:
    return tuple(_slot_names(kind))


def _slot_names(kind: Any) -> Iterator[str]:
    for owner in reversed(kind.__mro__):
        slots = owner.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            private = name.startswith("__") and not name.endswith("__")
            if name not in ("__dict__", "__weakref__"):
                yield f"_{owner.__name__.lstrip('_')}{name}" if private else name
