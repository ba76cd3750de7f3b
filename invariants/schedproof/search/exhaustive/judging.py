"""Judging the edges of a state space: each distinct question is asked once.

Rules. A predicate sees the edge and nothing else, so the question is what the edge shows:
unfinished and changed rows, free blocks, ticks, the report, and the clock where deadlines
exist. The answer is remembered under exactly that, with a count of how often it came up;
the counts give how often each claim was exercised, exactly.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from schedproof.claims.edge import Edge
from schedproof.claims.judge import Judge
from schedproof.claims.liveness import step_drains
from schedproof.search.exhaustive.space import CLOCK, EXTRAS, FREE, ROWS, State
from schedproof.subjects.actions import STEP, Enqueue
from schedproof.subjects.contract import Config
from schedproof.subjects.observation import EVENT_KEYS, Answer, Row, Span

_SERVED, _PHASE, _PREEMPTED = (
    EVENT_KEYS.index(name) for name in ("request_id", "phase", "preempted_request_id")
)
HITS, EXERCISED, BROKEN, DRAINS = 0, 1, 2, 3


class EdgeMemo:
    """Judges edges between states; `timed` tells whether the clock must be shown."""

    def __init__(self, judge: Judge, config: Config, timed: bool) -> None:
        self._judge = judge
        self._rules = config.rules()
        self._capacity = config.blocks
        self._timed = timed
        self._known: dict[Hashable, list[Any]] = {}

    def step(
        self, state: State, after: State, event: tuple[Any, ...] | None, kept: bool
    ) -> list[Any]:
        """The entry of a step's edge; its hit is counted."""
        shown, left_out = _shown(state, after)
        key = (
            event,
            state[FREE],
            after[FREE],
            after[CLOCK] - state[CLOCK],
            kept,
            state[CLOCK] if self._timed else None,
            left_out,
            state[EXTRAS] is after[EXTRAS],
            shown,
        )
        entry = self._known.get(key)
        if entry is None:
            answer = _answer_of(event, kept)
            edge = self._edge(STEP, answer, state, after, shown, left_out)
            entry = self._ask(key, edge)
        entry[HITS] += 1
        return entry

    def enqueue(
        self, code: int, action: Enqueue, state: State, after: State, accepted: bool, kept: bool
    ) -> list[Any]:
        """The entry of a valid enqueue's edge; `code` stands for the action in the question."""
        shown, left_out = _shown(state, after)
        key = (
            code,
            accepted,
            state[FREE],
            after[FREE],
            after[CLOCK] - state[CLOCK],
            kept,
            (action.deadline_step, state[CLOCK]) if self._timed else None,
            left_out,
            state[EXTRAS] is after[EXTRAS],
            shown,
        )
        entry = self._known.get(key)
        if entry is None:
            answer = Answer(accepted=accepted, log_kept=kept)
            edge = self._edge(action, answer, state, after, shown, left_out)
            entry = self._ask(key, edge)
        entry[HITS] += 1
        return entry

    def _edge(
        self,
        action: Any,
        answer: Answer,
        state: State,
        after: State,
        shown: tuple[Row | None, ...],
        left_out: bool,
    ) -> Edge:
        return Edge(
            action=action,
            answer=answer,
            before=tuple(row for row in shown[0::2] if row is not None),
            after=tuple(row for row in shown[1::2] if row is not None),
            free_before=state[FREE],
            free_after=after[FREE],
            capacity=self._capacity,
            ticks=after[CLOCK] - state[CLOCK],
            logged=0 if answer.event is None else 1,
            clock=state[CLOCK] if self._timed else None,
            rules=self._rules,
            extras_kept=state[EXTRAS] == after[EXTRAS],
            some_finished=left_out or any(row is not None and row.finished for row in shown[0::2]),
        )

    def _ask(self, key: Hashable, edge: Edge) -> list[Any]:
        exercised, broken = self._judge.ask(edge)
        entry = [0, exercised, broken, step_drains(edge)]
        self._known[key] = entry
        return entry

    def settle(self) -> None:
        """Add the counts of all remembered edges to the judge's, and begin to count anew."""
        for entry in self._known.values():
            self._judge.count_mask(entry[EXERCISED], entry[HITS])
            entry[HITS] = 0

    def __len__(self) -> int:
        return len(self._known)


def _answer_of(event: tuple[Any, ...] | None, kept: bool) -> Answer:
    """A step's answer, from its report."""
    if event is None:
        return Answer(log_kept=kept)
    victims = () if event[_PREEMPTED] is None else (event[_PREEMPTED],)
    span = Span(event[_SERVED], str(event[_PHASE]))
    return Answer(batch=(span,), preempted=victims, event=event, log_kept=kept)


def _shown(state: State, after: State) -> tuple[tuple[Row | None, ...], bool]:
    """Rows that claims may see, before and after in turn, and whether any was left out.

    Left out are finished rows that did not change.
    """
    if len(state) != len(after):
        return _shown_by_id(state, after)
    shown: list[Row | None] = []
    left_out = False
    for old, new in zip(state[ROWS:], after[ROWS:]):  # noqa: B905  equal lengths, hot path
        if old is not new:
            if old.request_id != new.request_id:
                return _shown_by_id(state, after)
            shown += (old, new)
        elif old.shown:
            shown += (old, old)
        else:
            left_out = True
    return tuple(shown), left_out


def _shown_by_id(state: State, after: State) -> tuple[tuple[Row | None, ...], bool]:
    """The same where somebody came or went: by id, with None for who is not there."""
    old = {row.request_id: row for row in state[ROWS:]}
    shown: list[Row | None] = []
    left_out = False
    for row in after[ROWS:]:
        before = old.pop(row.request_id, None)
        if before is not row or row.shown:
            shown += (before, row)
        else:
            left_out = True
    for row in old.values():
        shown += (row, None)
    return tuple(shown), left_out
