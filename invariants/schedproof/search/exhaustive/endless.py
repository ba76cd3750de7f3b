"""Endless arrivals as a finite graph of a real scheduler's states.

Rules.
1. At most N requests are unfinished at a time, and there is always another one to come. A
   state is what is left of the past: finished requests are dropped, the ids become 0, 1, 2 in
   the order of arrival, and the clock 0, with deadlines counted from now.
2. What can grow for ever is cut where it stops to matter. Preemptions are none or some. Waits
   are kept only under a policy that ages, and requests larger than the pool have none. There
   waits, and under `deadline` how late a request is, are exact below a cap; a request at the cap
   stays there, and `Graph.capped` says that one was.
3. Each edge is a `step` or `enqueue` of the scheduler itself, entered and read in place, and is
   judged by all claims about edges.
4. In the end one long way is taken through the graph on a new scheduler, with the real clock,
   ids and finished requests, each time by the edge that was used least. Where the scheduler
   looks different from the graph it is `NotFlat`: it remembers more of the past.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from schedmodel.policy import Deadline
from schedproof.claims.judge import Judge
from schedproof.search.exhaustive.bfs import STEP_CODE, peak_mib
from schedproof.search.exhaustive.in_place import InPlace
from schedproof.search.exhaustive.judging import EdgeMemo
from schedproof.search.exhaustive.scopes import Scope
from schedproof.search.exhaustive.situations import Entry
from schedproof.search.exhaustive.space import (
    CLOCK,
    EXTRAS,
    FREE,
    ROWS,
    NotFlat,
    State,
    flat_state,
)
from schedproof.search.pace import Pace
from schedproof.subjects.actions import STEP, Action
from schedproof.subjects.chapter import ChapterSubject
from schedproof.subjects.contract import Config
from schedproof.subjects.observation import Row

LOOK_EVERY = 512
LONG_WAY = 150
RENAMED = ("request_id", "deadline_step", "wait_steps", "preemptions")
GONE = -1
Move = tuple[int, ...]
"""Where each request of a state stands in the next one; `GONE` if it advanced."""


class Way(NamedTuple):
    """An edge: 0 for a step, else 1 + the kind that arrived; `served` whether a step served."""

    code: int
    target: int
    move: Move
    served: bool


@dataclass
class Graph:
    """All states that endless arrivals lead to, in the order in which they were found.

    `parents`, `codes`, `clocks` and `arrived` (requests so far) rebuild the way to a state.
    `broken` is the first edge that breaks a claim: its actions and the ids. `stopped_by` as in
    `bfs.Outcome`; `depth` in actions.
    """

    states: list[State] = field(default_factory=list[State])
    ways: list[list[Way]] = field(default_factory=list[list[Way]])
    parents: list[int] = field(default_factory=list[int])
    codes: list[int] = field(default_factory=list[int])
    clocks: list[int] = field(default_factory=list[int])
    arrived: list[int] = field(default_factory=list[int])
    depths: list[int] = field(default_factory=list[int])
    transitions: int = 0
    steps_served: int = 0
    capped: bool = False
    broken: tuple[tuple[Action, ...], tuple[str, ...]] | None = None
    stopped_by: str | None = None

    def codes_to(self, index: int) -> list[int]:
        """The codes of the shortest way to a state."""
        codes: list[int] = []
        while index:
            codes.append(self.codes[index])
            index = self.parents[index]
        return codes[::-1]


class Looking:
    """How a row looks once all that is past is left out; equal looks are the same row."""

    def __init__(self, config: Config, cap: int) -> None:
        rules = config.rules()
        self._blocks = config.blocks
        self.cap = cap
        self._longest = cap if rules.ages else 0
        self._latest = cap if isinstance(rules, Deadline) else 0
        self._known: dict[tuple[Row, int, int], Row] = {}
        self._rows: dict[tuple[Any, ...], Row] = {}
        self._patient: dict[Row, Row] = {}
        self._places: dict[tuple[str, ...], tuple[int, ...]] = {}
        self.capped = False

    def state(self, after: State) -> State:
        """The state without its past."""
        clock, place = after[CLOCK], 0
        rows: list[Row] = []
        for row in after[ROWS:]:
            if not row.finished:
                rows.append(self._row(row, place, clock))
                place += 1
        return (after[FREE], 0, after[EXTRAS], *rows)

    def _row(self, row: Row, place: int, clock: int) -> Row:
        known = self._known.get((row, place, clock))
        if known is None:
            known = self._known[row, place, clock] = self._looked_at(row, place, clock)
        return known

    def _looked_at(self, row: Row, place: int, clock: int) -> Row:
        fits = row.required_blocks <= self._blocks
        longest, latest = (self._longest, self._latest) if fits else (0, 0)
        due = None if row.deadline_step is None else max(row.deadline_step - clock, -latest)
        wait = min(row.wait_steps, longest)
        self.capped |= 0 < longest == wait or (due is not None and 0 < latest == -due)
        return self.with_values(row, place, due, wait)

    def with_values(self, row: Row, place: int, due: int | None, wait: int) -> Row:
        """The same row at another place, with another deadline and wait."""
        preempted = min(row.preemptions, 1)
        raw = list(row.raw)
        for at, value in zip(self._at(row.names), (place, due, wait, preempted), strict=False):
            raw[at] = value
        if "arrival_index" in row.names:
            raw[row.names.index("arrival_index")] = place
        key = (row.names, *raw, row.advanced, row.held_blocks, row.state, row.extra)
        found = self._rows.get(key)
        if found is None:
            found = self._rows[key] = replace(
                row,
                request_id=place,
                arrival_index=place,
                deadline_step=due,
                wait_steps=wait,
                preemptions=preempted,
                raw=tuple(raw),
            )
        return found

    def _at(self, names: tuple[str, ...]) -> tuple[int, ...]:
        places = self._places.get(names)
        if places is None:
            if not set(RENAMED) <= set(names):
                raise NotFlat  # one of them is worked out somewhere else
            places = self._places[names] = tuple(names.index(name) for name in RENAMED)
        return places

    def without_patience(self, state: State, marked: int) -> State:
        """The state as it would be if the marked request had just come."""
        row = state[ROWS + marked]
        same = self._patient.get(row)
        if same is None:
            due = None if row.deadline_step is None else 0
            same = self._patient[row] = self.with_values(row, marked, due, 0)
        return (*state[: ROWS + marked], same, *state[ROWS + marked + 1 :])


class Explorer:
    """Breadth-first search of one scope under endless arrivals."""

    def __init__(
        self,
        subject: ChapterSubject,
        scope: Scope,
        judge: Judge,
        pace: Pace,
        cap: int,
        memory_mib: float | None = None,
    ) -> None:
        self._subject, self._scope, self._pace = subject, scope, pace
        self._memory_mib = memory_mib
        self._space = InPlace(subject, by_id=False)
        self._memo = EdgeMemo(judge, subject.config, scope.timed)
        self.looking = Looking(subject.config, cap)
        self._numbers: dict[State, int] = {}
        self._moves: dict[Move, Move] = {}
        self._at = (0, STEP_CODE)
        self.graph = Graph()

    @property
    def taken(self) -> tuple[Action, ...]:
        """The actions up to and including the one that is being taken."""
        index, code = self._at
        return (*self.path(index), self._action(index, code))

    def path(self, index: int) -> tuple[Action, ...]:
        """The actions from the start to a state."""
        graph, actions = self.graph, list[Action]()
        while index:
            parent = graph.parents[index]
            actions.append(self._action(parent, graph.codes[index]))
            index = parent
        return tuple(reversed(actions))

    def _action(self, index: int, code: int) -> Action:
        if code == STEP_CODE:
            return STEP
        graph = self.graph
        return self._scope.kinds[code - 1].enqueue(graph.arrived[index], graph.clocks[index])

    def run(self) -> Graph:
        """Explore until nothing is left, a claim is broken, or the pace says stop."""
        graph = self.graph
        start = self.looking.state(self._space.initial())
        self._number(start, parent=0, code=STEP_CODE, clock=0)
        index = 0
        while index < len(graph.states) and graph.broken is None:
            if index % LOOK_EVERY == 0 and self._must_stop():
                break
            self._expand(index)
            index += 1
        if graph.broken is None and graph.stopped_by is None:
            graph.capped = self.looking.capped
            self._take_a_long_way()
        self._memo.settle()
        return graph

    def _expand(self, index: int) -> None:
        state = self.graph.states[index]
        active = len(state) - ROWS
        ways: list[Way] = []
        self.graph.ways.append(ways)
        if active < self._scope.active:
            for code in range(1, 1 + len(self._scope.kinds)):
                self._arrive(index, state, code, ways)
        if active:
            self._step(index, state, ways)

    def _arrive(self, index: int, state: State, code: int, ways: list[Way]) -> None:
        self._at = (index, code)
        space = self._space
        space.enter(state, index, self.path)
        action = self._scope.kinds[code - 1].enqueue(len(state) - ROWS, 0)
        after, accepted, kept, _ = space.enqueue(action)
        entry = self._memo.enqueue(index, code, action, state, after, accepted, kept)
        entry.hits += 1
        self._take(index, state, code, after, entry, ways, served=False)

    def _step(self, index: int, state: State, ways: list[Way]) -> None:
        self._at = (index, STEP_CODE)
        self._space.enter(state, index, self.path)
        after, event, kept = self._space.step()
        entry = self._memo.step(index, state, after, event, kept)
        entry.hits += 1
        self.graph.steps_served += event is not None
        self._take(index, state, STEP_CODE, after, entry, ways, event is not None)

    def _take(
        self,
        index: int,
        state: State,
        code: int,
        after: State,
        entry: Entry,
        ways: list[Way],
        served: bool,
    ) -> None:
        """Note an edge and the state behind it."""
        graph = self.graph
        graph.transitions += 1
        if entry.broken and graph.broken is None:
            graph.broken = (self.taken, entry.ids)
            return
        clock = graph.clocks[index] + after[CLOCK]
        target = self._number(self.looking.state(after), index, code, clock)
        move = _move(state[ROWS:], after[ROWS:])
        ways.append(Way(code, target, self._moves.setdefault(move, move), served))

    def _number(self, state: State, parent: int, code: int, clock: int) -> int:
        """The number of a state, which is new at most once."""
        graph = self.graph
        number = self._numbers.setdefault(state, len(graph.states))
        if number == len(graph.states):
            graph.states.append(state)
            graph.parents.append(parent)
            graph.codes.append(code)
            graph.clocks.append(clock)
            before = graph.arrived[parent] if number else 0
            graph.arrived.append(before + (code != STEP_CODE))
            graph.depths.append(graph.depths[parent] + 1 if number else 0)
        return number

    def _take_a_long_way(self) -> None:
        """Compare the graph with a new scheduler, as long as no request is at the cap."""
        subject, graph = self._subject.fresh(), self.graph
        uses: Counter[tuple[int, int]] = Counter()
        seen, index, arrived = subject.observe(), 0, 0
        for _ in range(LONG_WAY):
            if not graph.ways[index]:
                return
            here = index
            way = min(graph.ways[here], key=lambda way: uses[here, way.code])
            uses[here, way.code] += 1
            action: Action = STEP
            if way.code != STEP_CODE:
                action = self._scope.kinds[way.code - 1].enqueue(arrived, seen.clock)
                arrived += 1
            subject.do(action)
            seen, index = subject.observe(), way.target
            if self.looking.state(flat_state(seen, by_id=False)) != graph.states[index]:
                if graph.capped:
                    return
                raise NotFlat

    def _must_stop(self) -> bool:
        pace, graph = self._pace, self.graph
        done, depth = len(graph.states), graph.depths[-1]
        policy = self._subject.config.policy
        pace.progress({"policy": policy, "done": done, "of": None, "depth": depth})
        if pace.interrupted:
            graph.stopped_by = "interrupt"
        elif self._memory_mib is not None and peak_mib() > self._memory_mib:
            graph.stopped_by = "memory"
        elif time.monotonic() > pace.deadline:
            graph.stopped_by = "time"
        return graph.stopped_by is not None


def has_advanced(before: Row, after: Row) -> bool:
    """Whether a request is further than it was: a token more, its prefill done, or finished."""
    if before is after:
        return False
    if after.finished or after.generated_len > before.generated_len:
        return True
    return before.phase == "prefill" and after.phase != "prefill"


def _move(before: tuple[Row, ...], after: tuple[Row, ...]) -> Move:
    """Where the requests of `before` stand among the unfinished ones of `after`."""
    move: list[int] = []
    place = 0
    for old, new in zip(before, after, strict=False):
        move.append(GONE if has_advanced(old, new) else place)
        place += not new.finished
    return tuple(move)
