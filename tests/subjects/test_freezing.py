"""Frozen values are equal exactly when the values look equal."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from schedproof.subjects.freezing import frozen, stored


class Plain:
    def __init__(self, *things: Any) -> None:
        self.things = things

    def method(self) -> None:
        """To be bound."""


@dataclass
class Record:
    number: int


@dataclass(frozen=True)
class FrozenRecord:
    things: Any


class Slots:
    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Colour(Enum):
    RED = 1
    BLUE = 2


class Stubborn:
    """Cannot be copied, compared or hashed."""

    __hash__ = None  # type: ignore[assignment]

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError

    def __repr__(self) -> str:
        return "stubborn"


class Global:
    def __reduce__(self) -> str:
        return "SOMEWHERE"


def itself(thing: Any) -> Any:
    thing.things = [thing, {"more": thing}]
    return thing


def deep(levels: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(levels):
        nested = [nested]
    return nested


def adder(amount: int) -> Callable[[int], int]:
    others = [amount]
    return lambda value: value + amount + len(others)


def unready(amount: int) -> Callable[[], int]:
    later: int

    def function() -> int:
        return amount + later

    if amount < 0:
        later = 1
    return function


def held() -> Any:
    lock = threading.Lock()
    lock.acquire()
    return lock


MAKERS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "numbers": (lambda: 1, lambda: 2),
    "texts": (lambda: "a", lambda: "b"),
    "lists": (lambda: [1, [2]], lambda: [1, [3]]),
    "lists and tuples": (lambda: [1], lambda: (1,)),
    "dictionaries": (lambda: {"a": {1}}, lambda: {"a": {2}}),
    "sets": (lambda: {1, 2}, lambda: {1}),
    "objects": (lambda: Plain(1, []), lambda: Plain(1, [2])),
    "objects of two classes": (lambda: Record(1), lambda: Slots(1)),
    "records": (lambda: Record(1), lambda: Record(2)),
    "frozen records": (lambda: FrozenRecord(1), lambda: FrozenRecord(2)),
    "frozen records of lists": (lambda: FrozenRecord([1]), lambda: FrozenRecord([2])),
    "objects in slots": (lambda: Slots(1), lambda: Slots(2)),
    "enumerations": (lambda: Colour.RED, lambda: Colour.BLUE),
    "fractions": (lambda: Fraction(1, 2), lambda: Fraction(1, 3)),
    "queues": (lambda: deque([1, 2]), lambda: deque([2, 1])),
    "random numbers": (lambda: Random(1), lambda: Random(2)),
    "classes": (lambda: Plain, lambda: Record),
    "functions": (lambda: frozen, lambda: stored),
    "methods": (lambda: Plain(1).method, lambda: Plain(2).method),
    "objects in themselves": (lambda: itself(Plain()), lambda: itself(Record(1))),
    "functions made on the way": (lambda: adder(1), lambda: adder(2)),
    "functions of two places": (lambda: adder(1), lambda: lambda: 1),
    "functions that are not made yet": (lambda: unready(1), lambda: unready(2)),
    "locks": (threading.Lock, held),
    "locks for one thread": (threading.RLock, threading.Lock),
    "globals": (Global, Plain),
    "stubborn ones": (Stubborn, Plain),
}


@pytest.mark.parametrize("name", MAKERS)
def test_equal_looks_are_equal_and_other_looks_are_not(name: str) -> None:
    make, make_other = MAKERS[name]
    assert frozen(make()) == frozen(make())
    assert frozen(make()) != frozen(make_other())
    assert isinstance(hash(frozen(make())), int)


def test_a_frozen_value_does_not_change_with_the_value() -> None:
    thing = Plain([1])
    before = frozen(thing)
    thing.things[0].append(2)
    assert frozen(thing) != before


def generator() -> Iterator[int]:
    yield 1


def test_what_cannot_be_copied_stands_for_itself() -> None:
    thing = generator()
    assert frozen(thing) is thing
    assert frozen([thing]) != frozen([generator()])


def test_what_is_told_elsewhere_stands_for_its_name() -> None:
    one, other = Plain(), Record(1)
    known = {id(one): "one", id(other): 2}
    assert frozen(one, known) == ("known", "one")
    assert frozen([other], known) == ("list", ("known", 2))


def test_what_is_nested_too_deep_stands_for_its_text_or_itself() -> None:
    thing = Plain(deep(100_000))
    assert frozen(thing) is thing


def test_stored_attributes_are_found_in_slots_dictionaries_and_both() -> None:
    class Private(Slots):
        __slots__ = ("__secret", "__weakref__", "unset")

        def __init__(self) -> None:
            super().__init__(1)
            self.__secret = 2

    class Both(Private):
        pass

    class OneSlot:
        __slots__ = "alone"

    both, alone = Both(), OneSlot()
    vars(both)["free"] = 3
    alone.alone = 4  # type: ignore[attr-defined]
    assert stored(both) == {"number": 1, "_Private__secret": 2, "free": 3}
    assert stored(alone) == {"alone": 4}
    assert stored((1, 2)) == {}
    assert stored(Plain(1)) == {"things": (1,)}
