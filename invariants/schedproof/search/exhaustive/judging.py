"""Judging the edges of a state space: each distinct question is asked once.

Rules. A predicate sees the edge and nothing else, so the question is what the edge shows:
unfinished and changed rows, free blocks, ticks, the report, and the clock where deadlines
exist. What is shown of the state before is its view, which the caller names by anything that
can be a key; the rest is what became of it. The answer is remembered under exactly that, with
a count of how often it came up; the counts give how often each claim was exercised, exactly.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from schedproof.claims.edge import Edge
from schedproof.claims.judge import Judge
from schedproof.claims.liveness import step_drains
from schedproof.search.exhaustive.situations import Entry, Led, Situation
from schedproof.search.exhaustive.space import CLOCK, EXTRAS, FREE, ROWS, State
from schedproof.subjects.actions import STEP, Enqueue
from schedproof.subjects.contract import Config
from schedproof.subjects.observation import EVENT_KEYS, Answer, Row, Span

_SERVED, _PHASE, _PREEMPTED = (
    EVENT_KEYS.index(name) for name in ("request_id", "phase", "preempted_request_id")
)
Shown = tuple[tuple[Row | None, ...], bool]
"""Rows that claims may see, before and after in turn, and whether any was left out."""


class EdgeMemo:
    """Judges edges between states; `timed` tells whether the clock must be shown."""

    def __init__(self, judge: Judge, config: Config, timed: bool) -> None:
        self._judge = judge
        self._rules = config.rules()
        self._capacity = config.blocks
        self._timed = timed
        self._entries: list[Entry] = []
        self._known: dict[Hashable, Entry] = {}
        self._events: dict[tuple[Any, ...], dict[str, Any]] = {}

    def first_step(
        self,
        situation: Situation,
        state: State,
        after: State,
        event: tuple[Any, ...] | None,
        kept: bool,
    ) -> Entry:
        """The first answer for a view, kept with it where it can be what other steps lead to."""
        view, places = situation.view, situation.places
        shown, left_out = _shown(state, after)
        odd = not kept or len(state) != len(after) or len(shown) != 2 * len(places)
        if view.led is not None or odd:
            return self.step(view, state, after, event, kept)
        answer = _answer_of(event, kept)
        edge = self._edge(STEP, answer, state, after, (shown, left_out))
        rows = tuple([after[ROWS + place] for place in places])
        ticks = after[CLOCK] - state[CLOCK]
        told = None if event is None else self._told(event)
        view.led = Led(self._ask(edge), told, rows, after[FREE], ticks, after[EXTRAS])
        return self._kept(view.led)

    def step(
        self,
        view: Hashable,
        state: State,
        after: State,
        event: tuple[Any, ...] | None,
        kept: bool,
    ) -> Entry:
        """The entry of a step's edge."""
        shown = _shown(state, after)
        key = (view, event, kept, *_became(state, after), *shown)
        entry = self._known.get(key)
        if entry is None:
            edge = self._edge(STEP, _answer_of(event, kept), state, after, shown)
            entry = self._known[key] = self._kept(self._ask(edge))
        return entry

    def enqueue(
        self,
        view: Hashable,
        code: int,
        action: Enqueue,
        state: State,
        after: State,
        accepted: bool,
        kept: bool,
        newcomer: Row | None = None,
    ) -> Entry:
        """The entry of a valid enqueue's edge; `code` stands for the action in the question.

        A `newcomer` is all that has changed.
        """
        key: Hashable = (view, code, newcomer)
        if newcomer is None:
            key = (view, code, accepted, kept, *_became(state, after), *_shown(state, after))
        entry = self._known.get(key)
        if entry is None:
            answer = Answer(accepted=accepted, log_kept=kept)
            edge = self._edge(action, answer, state, after, _shown(state, after))
            entry = self._known[key] = self._kept(self._ask(edge))
        return entry

    def _edge(self, action: Any, answer: Answer, state: State, after: State, shown: Shown) -> Edge:
        rows, left_out = shown
        before = tuple([row for row in rows[0::2] if row is not None])
        return Edge(
            action=action,
            answer=answer,
            before=before,
            after=tuple([row for row in rows[1::2] if row is not None]),
            free_before=state[FREE],
            free_after=after[FREE],
            capacity=self._capacity,
            ticks=after[CLOCK] - state[CLOCK],
            logged=0 if answer.event is None else 1,
            clock=state[CLOCK] if self._timed else None,
            rules=self._rules,
            extras_kept=state[EXTRAS] == after[EXTRAS],
            some_finished=left_out or any(row.finished for row in before),
        )

    def _ask(self, edge: Edge) -> Entry:
        exercised, broken = self._judge.ask(edge)
        return Entry(exercised, broken, step_drains(edge))

    def _kept(self, entry: Entry) -> Entry:
        self._entries.append(entry)
        return entry

    def _told(self, event: tuple[Any, ...]) -> dict[str, Any]:
        """A report by its keys; equal reports are the same object."""
        told = self._events.get(event)
        if told is None:
            told = self._events[event] = dict(zip(EVENT_KEYS, event, strict=True))
        return told

    def settle(self) -> None:
        """Add the counts of all remembered edges to the judge's, and begin to count anew."""
        for entry in self._entries:
            self._judge.count_mask(entry.exercised, entry.hits)
            entry.hits = 0

    def __len__(self) -> int:
        return len(self._entries)


def _became(state: State, after: State) -> tuple[int, int, bool]:
    """What is shown beside rows: free blocks, ticks, and whether the rest was kept."""
    return after[FREE], after[CLOCK] - state[CLOCK], state[EXTRAS] is after[EXTRAS]


def _answer_of(event: tuple[Any, ...] | None, kept: bool) -> Answer:
    """A step's answer, from its report."""
    if event is None:
        return Answer(log_kept=kept)
    victims = () if event[_PREEMPTED] is None else (event[_PREEMPTED],)
    span = Span(event[_SERVED], str(event[_PHASE]))
    return Answer(batch=(span,), preempted=victims, event=event, log_kept=kept)


def _shown(state: State, after: State) -> Shown:
    """What claims may see of the rows; left out are finished rows that did not change."""
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


def _shown_by_id(state: State, after: State) -> Shown:
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
