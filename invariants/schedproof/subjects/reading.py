"""Reading requests off a stranger's objects: what they store, what kind it is, where they stand.

Rules.
1. What the contract asks for and is missing, or is of another kind, is a `SubjectError` that says
   what was got.
2. A request's values are frozen as they are read; a scheduler or a request among them is told by
   its name.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from functools import cache
from numbers import Number
from operator import attrgetter
from typing import Any

from schedmodel.lifecycle import State
from schedmodel.request import FIELDS, RequestState, state_of
from schedproof.subjects.contract import SubjectError
from schedproof.subjects.freezing import ATOMS, Names, frozen, stored
from schedproof.subjects.observation import Row, make_row

_NO_NUMBERS = ("phase", "cache_hit", "admitted", "preemptible", "status")
_NUMBERS = tuple(name for name in FIELDS if name not in _NO_NUMBERS)
_COUNTED = ("prompt_len", "max_new_tokens", "generated_len", "wait_steps", "preemptions")
"""What a row cannot do without; the rest of a newcomer may be a wrong value just accepted."""
_EXTRA_FREE = ("arrival_index", "finish_reason", "_phase", "_state")

OUR_NAMES = RequestState.__slots__[:-1]
read_ours = attrgetter(*OUR_NAMES)
"""Our request's values without its place in the order of arrival, which a row has itself."""


def names_and_values(
    request: Any, known: Names, left_out: frozenset[str] = frozenset()
) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The names and the frozen values of what a request stores; `known` as for `frozen`."""
    if type(request) is RequestState:
        return OUR_NAMES, read_ours(request)
    values = stored(request)
    if left_out:
        values = {name: value for name, value in values.items() if name not in left_out}
    raw = [v if isinstance(v, ATOMS) else frozen(v, known) for v in values.values()]
    return tuple(values), tuple(raw)


def names_of(scheduler: Any, requests: Iterable[Any]) -> Names:
    """A name for each object that a state tells of: the scheduler, and requests by their ids."""
    names: dict[int, Hashable] = {id(scheduler): "scheduler"}
    for place, request in enumerate(requests):
        number = getattr(request, "request_id", None)
        names[id(request)] = number if isinstance(number, ATOMS) else ("place", place)
    return names


@cache
def elsewhere(names: tuple[str, ...]) -> tuple[str, ...]:
    """The chapter's fields that a request of these attributes works out when it is asked."""
    return () if names == OUR_NAMES else tuple(name for name in FIELDS if name not in names)


def attribute(request: Any, name: str) -> Any:
    """An attribute that the contract asks for."""
    try:
        return getattr(request, name)
    except AttributeError:
        kind = type(request).__name__
        values = {"class": kind, "name": name}
        raise SubjectError("contract", "contract.attribute", values) from None


def collection(holder: Any, name: str) -> Any:
    """An attribute that must be a list or something like it."""
    value: Any = attribute(holder, name)
    kind: Any = value.__class__
    if issubclass(kind, Collection):
        return value
    raise _wrong_kind("list", holder, name, value)


def number(holder: Any, name: str, value: Any) -> Any:
    """The value, which must be a number."""
    if isinstance(value, (int, Number)):
        return value
    raise _wrong_kind("number", holder, name, value)


def _wrong_kind(wanted: str, holder: Any, name: str, value: Any) -> SubjectError:
    values = {"class": type(holder).__name__, "name": name, "got": repr(value)[:200]}
    return SubjectError("contract", f"contract.{wanted}", values)


def has_advanced(request: Any, previous: Row | None) -> bool:
    """Whether the request was served since its last preemption; True before the first."""
    if previous is None:
        return True
    if number(request, "preemptions", request.preemptions) > previous.preemptions:
        return False
    progress = (request.phase, request.generated_len)
    return previous.advanced or progress != (previous.phase, previous.generated_len)


def new_row(
    request: Any,
    names: tuple[str, ...],
    raw: tuple[Any, ...],
    advanced: bool,
    position: int,
    newcomer: bool,
) -> Row:
    """The row of a request; fields of a newcomer may hold a wrong value that was just accepted."""
    fields = {name: frozen(attribute(request, name)) for name in FIELDS}
    for name in _COUNTED if newcomer else _NUMBERS:
        if type(fields[name]) is not int and (fields[name] is not None or name != "deadline_step"):
            number(request, name, fields[name])
    known = {*FIELDS, *_EXTRA_FREE}
    extra = {name: value for name, value in zip(names, raw, strict=True) if name not in known}
    return make_row(
        names,
        raw,
        state=_state(request, fields),
        held_blocks=fields["required_blocks"] if fields.pop("admitted") else 0,
        arrival_index=position,
        finish_reason=getattr(request, "finish_reason", None),
        advanced=advanced,
        extra=tuple(extra.items()),
        **fields,
    )


def _state(request: Any, fields: dict[str, Any]) -> State | None:
    if type(request) is RequestState:
        return request.state
    try:
        return state_of(fields["status"], fields["phase"])
    except ValueError:
        return None
