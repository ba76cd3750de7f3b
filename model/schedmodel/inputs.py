"""What the model accepts, checked at the door.

Rules. Every check raises `InvalidInput` (a `ValueError`) that names field, value and
what is allowed, for wrong types as well as wrong values. A bool is not a number here,
and nothing is converted: 2.0 is not 2. Checks never change anything.
"""

from __future__ import annotations

from collections.abc import Collection

from schedmodel.errors import InvalidInput


def whole_number(field: str, value: object, at_least: int | None = None) -> int:
    """`value` when it is an int (not a bool) and not below `at_least`."""
    if type(value) is not int or (at_least is not None and value < at_least):
        bound = "" if at_least is None else f", at least {at_least}"
        raise InvalidInput(field, value, f"a whole number{bound}")
    return value


def truth_value(field: str, value: object) -> bool:
    """`value` when it is True or False; 0 and 1 are refused."""
    if type(value) is not bool:
        raise InvalidInput(field, value, "True or False")
    return value


def one_of(field: str, value: object, names: Collection[str]) -> str:
    """`value` when it is one of `names`."""
    if type(value) is not str or value not in names:
        raise InvalidInput(field, value, "one of " + ", ".join(names))
    return value


def deadline_after(clock: int, value: object) -> int | None:
    """A deadline in steps, strictly after `clock`; None means there is none."""
    if value is None:
        return None
    if type(value) is not int or value <= clock:
        raise InvalidInput("deadline_step", value, f"None or a whole number after clock {clock}")
    return value
