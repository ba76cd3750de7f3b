"""The states of a real scheduler, and going from one to the next.

Rules.
1. A state is a flat tuple: free blocks, clock, the scheduler's further attributes, and one
   row for each request. Rows are interned, so hashing and comparing states is cheap.
2. A space can put a scheduler into any state it was seen in. `ByReplay` makes a new
   scheduler for each action and takes the whole path again; it needs nothing but that the
   same actions do the same. `in_place` and `by_copy` have quick ways, for schedulers that
   allow them.
3. In all of them, `step` and `enqueue` are the scheduler's own, on every single edge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Protocol

from schedmodel.request import FIELDS
from schedproof.subjects.actions import STEP, Action, Enqueue
from schedproof.subjects.chapter import ChapterSubject
from schedproof.subjects.observation import MISSING, Observation, Row

if TYPE_CHECKING:
    from schedproof.search.exhaustive.situations import Led

State = tuple[Any, ...]
Extras = tuple[tuple[str, Any], ...]
FREE, CLOCK, EXTRAS, ROWS = 0, 1, 2, 3
PathTo = Callable[[int], Sequence[Action]]


AS_EXPECTED: Final = ("as expected",)
"""Stands for a report, where all that a step led to was read and is what was expected."""

Stepped = tuple[State, tuple[Any, ...] | None, bool]
"""What a step led to: the next state, the report's values (None if nobody was served), and
whether the log was kept."""

Enqueued = tuple[State, bool, bool, Row | None]
"""What an enqueue led to: the next state, whether it was accepted, whether the log was kept, and
the new row if it is known that nothing else changed."""


class NotFlat(Exception):
    """The scheduler keeps state that cannot be written back in place."""


class HiddenState(NotFlat):
    """States that look the same are not: something is kept where nobody can see it."""


class VolatileState(HiddenState):
    """Some attributes differ whenever the same is done again: real time, random numbers."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(names)
        self.names = names


class Space(Protocol):
    """One scheduler that can be put into any state it was seen in."""

    restore: str

    def initial(self) -> State:
        """The state at the start."""
        ...

    def enter(self, state: State, index: int, path_to: PathTo) -> None:
        """Bring the scheduler into state number `index`; `path_to` gives the way there."""
        ...

    def step(self, expected: Led | None = None, places: Sequence[int] = ()) -> Stepped:
        """Step from the state that was entered last; enter again afterwards.

        `expected` is what another state of the same view led to, whose rows stand for those in
        these places; a space may compare instead of telling.
        """
        ...

    def enqueue(self, action: Enqueue) -> Enqueued:
        """Enqueue in the state that was entered last; enter again afterwards."""
        ...

    def refused_and_unchanged(self, probes: Sequence[Enqueue]) -> bool:
        """Whether all of these are refused and leave the entered state as it was."""
        ...


def flat_state(seen: Observation, by_id: bool) -> State:
    """An observation as a state; `by_id` sorts the rows, which leaves the queue order out."""
    rows = sorted(seen.rows, key=by_request_id) if by_id else seen.rows
    return (seen.free, seen.clock, seen.extras, *rows)


by_request_id = attrgetter("request_id")


def differences(one: State, other: State) -> frozenset[str] | None:
    """The attributes in which two states differ, if it is nothing else; None if it is.

    The chapter's own are none of them: a scheduler decides by these.
    """
    if one[:EXTRAS] != other[:EXTRAS] or len(one) != len(other):
        return None
    pairs = [(dict(one[EXTRAS]), dict(other[EXTRAS]))]
    for row, again in zip(one[ROWS:], other[ROWS:], strict=True):
        pairs.append((dict(zip(row.names, row.raw)), dict(zip(again.names, again.raw))))  # noqa: B905
    names = {
        name
        for mine, theirs in pairs
        for name in {**mine, **theirs}
        if mine.get(name, MISSING) != theirs.get(name, MISSING)
    }
    return None if not names or names & set(FIELDS) else frozenset(names)


class ByReplay:
    """Any deterministic scheduler: each action on a new one, after the whole path."""

    restore = "replay"

    def __init__(self, subject: ChapterSubject, by_id: bool) -> None:
        self._first = subject
        self._by_id = by_id
        self._path: Sequence[Action] = ()

    def initial(self) -> State:
        return flat_state(self._first.fresh().observe(), self._by_id)

    def enter(self, state: State, index: int, path_to: PathTo) -> None:
        self._path = path_to(index)

    def _arrived(self) -> ChapterSubject:
        subject = self._first.fresh()
        subject.observe()
        for action in self._path:
            subject.do(action)
            subject.observe()  # rows carry what they need of the past from row to row
        return subject

    def step(self, expected: Led | None = None, places: Sequence[int] = ()) -> Stepped:
        subject = self._arrived()
        answer = subject.do(STEP)
        return flat_state(subject.observe(), self._by_id), answer.event, answer.log_kept

    def enqueue(self, action: Enqueue) -> Enqueued:
        subject = self._arrived()
        logged = len(subject.scheduler.timeline)
        accepted = bool(subject.do(action).accepted)
        kept = len(subject.scheduler.timeline) == logged
        return flat_state(subject.observe(), self._by_id), accepted, kept, None

    def refused_and_unchanged(self, probes: Sequence[Enqueue]) -> bool:
        subject = self._arrived()
        before = subject.observe()
        refused = all(subject.do(probe).accepted is False for probe in probes)
        return refused and subject.observe() == before
