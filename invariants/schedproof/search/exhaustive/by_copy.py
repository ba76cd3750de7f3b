"""A scheduler that is put into any state by loading a copy of it, made when it was there.

Rules.
1. A copy holds all that the scheduler reaches: containers, helper objects, requests that left the
   queue. Classes, functions, modules and locks are no state and are shared by all copies.
2. A copy is made of each new state and given up when the next state is entered for good, so that
   there are as many as two levels of the search have states.
3. What cannot be copied (a generator, an open file) is refused with `NotFlat`.
"""

from __future__ import annotations

import io
import pickle
import threading
from collections.abc import Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

from schedproof.search.exhaustive.situations import Led
from schedproof.search.exhaustive.space import (
    ROWS,
    Enqueued,
    NotFlat,
    PathTo,
    State,
    Stepped,
    flat_state,
)
from schedproof.subjects.actions import STEP, Action, Enqueue
from schedproof.subjects.chapter import ChapterSubject
from schedproof.subjects.observation import Answer

SHARED: Final = (
    type,
    FunctionType,
    BuiltinFunctionType,
    ModuleType,
    type(threading.Lock()),
    type(threading.RLock()),
)
CANNOT_BE_COPIED = (pickle.PickleError, TypeError, AttributeError, ValueError, RecursionError)

_shared: dict[int, Any] = {}


def _the_same(number: int) -> Any:
    """An object that all copies share."""
    return _shared[number]


class _Copier(pickle.Pickler):
    """Copies all but what is shared."""

    def reducer_override(self, obj: Any) -> Any:
        """How an object is made again; the usual way for all that is not shared."""
        if not isinstance(obj, SHARED) or obj is _the_same:
            return NotImplemented
        _shared[id(obj)] = obj
        return _the_same, (id(obj),)


class ByCopy:
    """One subject; its parts are loaded from a copy for each action."""

    restore = "copy"

    def __init__(self, subject: ChapterSubject, by_id: bool) -> None:
        self._subject = subject.fresh()
        self._by_id = by_id
        self._copies: dict[State, bytes | None] = {}
        self._state: State = ()
        self._is_there = False

    def initial(self) -> State:
        """The state at the start."""
        return self._now()

    def enter(self, state: State, index: int, path_to: PathTo) -> None:
        """Bring the scheduler into that state, if it is not there still."""
        if state is not self._state:
            if self._state:
                self._copies[self._state] = None  # all its actions were taken
            self._state, self._is_there = state, False

    def _arrive(self) -> ChapterSubject:
        subject = self._subject
        if not self._is_there:
            copied = self._copies[self._state]
            assert copied is not None
            subject.put_back(pickle.loads(copied), self._state[ROWS:])
        self._is_there = False
        return subject

    def _now(self) -> State:
        """The live state; a copy is kept of one that is new."""
        state = flat_state(self._subject.observe(), self._by_id)
        if state not in self._copies:
            self._copies[state] = self._copy()
        return state

    def _copy(self) -> bytes:
        buffer = io.BytesIO()
        try:
            _Copier(buffer, pickle.HIGHEST_PROTOCOL).dump(self._subject.parts())
        except CANNOT_BE_COPIED:
            raise NotFlat from None
        return buffer.getvalue()

    def step(self, expected: Led | None = None, places: Sequence[int] = ()) -> Stepped:
        """Step from the state that was entered last; enter again afterwards."""
        answer = self._do(STEP)
        return self._now(), answer.event, answer.log_kept

    def enqueue(self, action: Enqueue) -> Enqueued:
        """Enqueue in the state that was entered last; enter again afterwards."""
        answer = self._do(action)
        return self._now(), bool(answer.accepted), answer.log_kept, None

    def _do(self, action: Action) -> Answer:
        return self._arrive().do(action)

    def refused_and_unchanged(self, probes: Sequence[Enqueue]) -> bool:
        """Whether all of these are refused and leave the entered state as it was."""
        subject = self._arrive()
        refused = all(subject.do(probe).accepted is False for probe in probes)
        self._is_there = refused and flat_state(subject.observe(), self._by_id) == self._state
        return self._is_there
