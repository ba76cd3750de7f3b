"""What a claim is shown: one action, the state before and after, and what was answered.

Rules.
1. An `Edge` holds just what predicates may look at, and nothing else: so two equal edges
   have equal judgements, and a judgement can be remembered.
2. Requests that are finished, hold nothing and did not change are left out of an edge;
   only that there were any is told. The clock is left out (None) unless some request has
   a deadline.
3. A `Change` is one request across one action. Claims about single requests look at
   changes, and there are far fewer different changes than different edges.
4. A predicate answers None (the edge did not exercise the claim), True, or a `Breach`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from schedmodel.policy import Key, Policy
from schedproof.subjects.actions import Action, Enqueue, Step
from schedproof.subjects.observation import (
    EVENT_KEYS,
    MISSING,
    STORED_FIELDS,
    Answer,
    Observation,
    Paged,
    Row,
    quickly,
)


@dataclass(frozen=True)
class Breach:
    """How a claim is broken: a text of the message catalogue, its values, and who is guilty.

    `text` is the catalogue id after "breach."; `guilty` names (request id, field) pairs, or
    (None, field) for the scheduler's own.
    """

    text: str
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    guilty: tuple[tuple[int | None, str], ...] = ()

    def __bool__(self) -> bool:
        return False


Judged = bool | Breach | None


class Change(NamedTuple):
    """One request across one action.

    `before` is None for a newcomer, `after` for a request that is gone. `ran` is what the
    step says it ran for this request ("prefill", "decode") or None; `served` whether the
    step served anybody; `victim` whether this request was preempted, by what it says or by
    what it did; `stepped` whether the action was a step.
    """

    before: Row | None
    after: Row | None
    ran: str | None
    served: bool
    victim: bool
    stepped: bool


_change = quickly(Change)

T = TypeVar("T")


class lazily(Generic[T]):  # noqa: N801  it is used as a decorator
    """A property that is worked out once; `functools` has one that locks before Python 3.12."""

    def __init__(self, work_out: Callable[[Any], T]) -> None:
        self._work_out, self._name = work_out, work_out.__name__

    def __get__(self, owner: Any, _kind: type[Any] | None = None) -> T:
        value = owner.__dict__[self._name] = self._work_out(owner)
        return value


@lru_cache(maxsize=1 << 16)
def _key(rules: Policy, row: Row, clock: int) -> Key:
    """A row's key; the same rows come up on many edges."""
    return rules.key(row, clock)


_first = itemgetter(0)


@dataclass(frozen=True)
class Edge:
    """One action and everything about it that claims may look at.

    `must_refuse` is the argument for which the chapter refuses an enqueue, None when it is
    valid or the action is another. `clock` is the clock before the action. `some_finished`
    tells whether any request was finished before it. `paged_before` and `paged_after` are there
    where blocks have numbers.
    """

    action: Action
    answer: Answer
    before: tuple[Row, ...]
    after: tuple[Row, ...]
    free_before: int
    free_after: int
    capacity: int
    ticks: int
    logged: int
    clock: int | None
    rules: Policy
    must_refuse: str | None = None
    extras_kept: bool = True
    some_finished: bool = False
    paged_before: Paged | None = None
    paged_after: Paged | None = None

    @lazily
    def before_by_id(self) -> dict[int, Row]:
        return {row.request_id: row for row in self.before}

    @lazily
    def after_by_id(self) -> dict[int, Row]:
        return {row.request_id: row for row in self.after}

    @lazily
    def stepped(self) -> bool:
        return isinstance(self.action, Step)

    @property
    def refused(self) -> bool:
        return self.answer.accepted is False

    @lazily
    def served(self) -> tuple[int, ...]:
        """Ids that the step says it served, in its order."""
        return tuple([span.request_id for span in self.answer.batch])

    @lazily
    def chosen(self) -> Row | None:
        """The one request that was served, as it was before the step."""
        ids = self.served
        return self.before_by_id.get(ids[0]) if len(ids) == 1 else None

    @lazily
    def victims(self) -> tuple[int, ...]:
        """Ids preempted in this action: those named, and those whose state or count says so.

        A name that is no number is no id; that the report is wrong is for its own claim to say.
        """
        if not self.stepped:
            return ()
        named = [victim for victim in self.answer.preempted if isinstance(victim, int)]
        after = self.after_by_id
        for number, row in self.before_by_id.items():
            if number in after and _was_preempted(row, after[number]):
                named.append(number)
        return tuple(sorted(set(named))) if named else ()

    @lazily
    def changes(self) -> tuple[Change, ...]:
        """One change for every request on the edge, in queue order, newcomers last."""
        ran = {span.request_id: span.phase for span in self.answer.batch}
        served, victims, stepped = bool(ran), self.victims, self.stepped
        old, new = self.before_by_id, self.after_by_id
        changes = [
            _change((row, new.get(i), ran.get(i), served, i in victims, stepped))
            for i, row in old.items()
        ]
        changes += [
            _change((None, row, ran.get(i), served, i in victims, stepped))
            for i, row in new.items()
            if i not in old
        ]
        return tuple(changes)

    @lazily
    def order(self) -> list[tuple[Key, Row]]:
        """The unfinished requests before the action with their keys, smallest first."""
        rules, clock = self.rules, self.clock or 0
        keyed = [(_key(rules, row, clock), row) for row in self.before if not row.done]
        return sorted(keyed, key=_first)

    @lazily
    def event(self) -> dict[str, Any]:
        """The step's report by key; empty when there is none."""
        event = self.answer.event
        return {} if event is None else dict(zip(EVENT_KEYS, event, strict=True))


def _was_preempted(before: Row, after: Row) -> bool:
    if after.preemptions > before.preemptions:
        return True
    return after.status == "preempted" and before.status != "preempted"


def stored_differences(before: Row, after: Row) -> tuple[str, ...]:
    """Names of the stored fields that differ between two rows, extra attributes included."""
    names = [n for n in STORED_FIELDS if getattr(before, n) != getattr(after, n)]
    old, new = dict(before.extra), dict(after.extra)
    names += [n for n in {**old, **new} if old.get(n, MISSING) != new.get(n, MISSING)]
    return tuple(names)


def make_edge(
    before: Observation,
    action: Action,
    answer: Answer,
    after: Observation,
    rules: Policy,
    must_refuse: str | None = None,
) -> Edge:
    """The edge between two observations of one subject."""
    shown_before = _shown(before.rows, after.rows)
    shown_after = _shown(after.rows, before.rows)
    timed = after.paged is None and (
        any(row.deadline_step is not None for row in shown_before + shown_after)
        or (isinstance(action, Enqueue) and action.deadline_step is not None)
    )
    edge: Edge = object.__new__(Edge)  # the constructor of a frozen class sets one by one
    edge.__dict__.update(
        action=action,
        answer=answer,
        before=shown_before,
        after=shown_after,
        free_before=before.free,
        free_after=after.free,
        capacity=after.capacity,
        ticks=after.clock - before.clock,
        logged=after.logged - before.logged,
        clock=before.clock if timed else None,
        rules=rules,
        must_refuse=must_refuse,
        extras_kept=before.extras == after.extras,
        some_finished=any(row.finished for row in before.rows),
        paged_before=before.paged,
        paged_after=after.paged,
        # Worked out here because they are needed on every edge.
        before_by_id={row.request_id: row for row in shown_before},
        after_by_id={row.request_id: row for row in shown_after},
        stepped=isinstance(action, Step),
    )
    return edge


def _shown(rows: tuple[Row, ...], others: tuple[Row, ...]) -> tuple[Row, ...]:
    for row in rows:
        if not row.shown:
            unchanged = set(map(id, others))
            return tuple([row for row in rows if row.shown or id(row) not in unchanged])
    return rows
