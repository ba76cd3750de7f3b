"""Breadth-first search over the states of a scheduler of batches.

Rules.
1. The actions are: enqueue any kind of a slot that was not used, step, and abort of anybody who
   is not finished. All of them are the scheduler's own, on every edge; it is put into a state by
   writing that state back, and every thousandth state is reached once more from the start.
2. Every edge is judged when it is generated, level by level, and the search stops at the first
   broken one: its length is the least there is.
3. States are told apart by all that the scheduler stores and what the claims remember.
4. In every new situation (all but what finished requests once were) calls that must change
   nothing are tried as well, and are no actions: a used id, sizes of zero, the abort of nobody
   and of the finished, a step when all is done.
5. Each state has one successor by a step. When all states are known it is looked up from which
   of them steps alone do not lead to the end of all requests: so LIVE-1 is decided, not sampled.
"""

from __future__ import annotations

import gc
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from schedproof.claims.edge import Edge, make_edge
from schedproof.claims.judge import Judge
from schedproof.search.exhaustive.bfs import Hit, Options, peak_mib
from schedproof.search.exhaustive.scopes import Scope
from schedproof.search.pace import Pace
from schedproof.subjects.actions import STEP, Abort, Action, BatchEnqueue, Enqueue
from schedproof.subjects.batch import BatchSubject, Mark
from schedproof.subjects.contract import expected_refusal
from schedproof.subjects.observation import Answer, Observation

LOOK_EVERY = 64
CHECK_EVERY, CHECK_FIRST = 1009, 67
HITS_MAX = 100
NOBODY = -1


@dataclass
class Outcome:
    """What a search came to. `endless` is the way to a state from which steps alone never end.

    `complete` if nothing was left; `stopped_by` is None, "violation", "time", "memory" or
    "interrupt". `certified_states` were reached with fewer actions than the first hit has.
    """

    distinct_states: int = 1
    certified_states: int = 1
    transitions: int = 0
    steps_served: int = 0
    depth: int = 0
    complete: bool = False
    stopped_by: str | None = None
    hits: list[Hit] = field(default_factory=list[Hit])
    endless: tuple[Action, ...] | None = None


class Hidden(Exception):
    """A state that was written back is not what the same actions lead to."""


class BatchSearch:
    """One search of one scope with one scheduler."""

    def __init__(
        self, subject: BatchSubject, scope: Scope, judge: Judge, pace: Pace, options: Options
    ) -> None:
        self._subject = subject.fresh()
        self._scope, self._judge, self._pace, self._options = scope, judge, pace, options
        self._rules = subject.config.rules()
        self._parents = array("i", [-1])
        self._actions: list[Action] = [STEP]
        self._after_step = array("i")
        self._index: dict[Mark, int] = {}
        self._enqueues = self._all_enqueues(scope)
        self._aborts = [Abort(slot) for slot in range(len(scope.slots) + 1)]
        self._broken_before: set[str] = set()
        self._situations: set[object] = set()
        self._at: tuple[int, Action] = (0, STEP)
        self.outcome = Outcome()

    @staticmethod
    def _all_enqueues(scope: Scope) -> list[list[Any]]:
        """The enqueues that each slot may be used for."""
        return [
            [kind.batch_enqueue(slot) for kind in kinds] for slot, kinds in enumerate(scope.slots)
        ]

    @staticmethod
    def _onward(seen: Observation) -> Action:
        """The action that leads on when nothing else is done any more."""
        return STEP

    @property
    def taken(self) -> tuple[Action, ...]:
        """The actions up to and including the one that is being taken."""
        index, action = self._at
        return (*self._path(index), action)

    def _path(self, index: int) -> tuple[Action, ...]:
        actions: list[Action] = []
        while index > 0:
            actions.append(self._actions[index])
            index = self._parents[index]
        return tuple(reversed(actions))

    # -- what can be done in a state -----------------------------------------

    def _possible(self, mark: Mark) -> Iterator[Action]:
        used = {row.request_id for row in mark.rows}
        for slot, enqueues in enumerate(self._enqueues):
            if slot not in used:
                yield from enqueues
        live = [row.request_id for row in mark.rows if not row.finished]
        if live:
            yield STEP
        for request_id in live:
            yield self._aborts[request_id]

    def _idle(self, mark: Mark) -> Iterator[Action]:
        """Calls that must change nothing here."""
        nobody = len(self._scope.slots)
        yield BatchEnqueue(nobody, 0)
        yield BatchEnqueue(nobody, 1, 0)
        for row in mark.rows[:1] + mark.rows[1:][-1:]:
            yield BatchEnqueue(row.request_id, 1)
        yield self._aborts[nobody]
        finished = [row.request_id for row in mark.rows if row.finished]
        for request_id in finished:
            yield self._aborts[request_id]
        if len(finished) == len(mark.rows):
            yield STEP

    # -- searching -----------------------------------------------------------

    def run(self) -> Outcome:
        """Search until nothing is left, something is broken, or the pace says stop."""
        start = self._subject.mark()
        self._index[start] = 0
        gc.disable()
        try:
            self._search(start)
        finally:
            gc.enable()
        self.outcome.distinct_states = len(self._index)
        if self.outcome.complete:
            self._look_for_endless()
        return self.outcome

    def _search(self, start: Mark) -> None:
        outcome, options = self.outcome, self._options
        level, base = [start], 0
        while level and (options.max_depth is None or outcome.depth < options.max_depth):
            if not outcome.hits:
                outcome.certified_states = base + len(level)
            following = self._expand(level, base)
            if outcome.hits and not options.keep_going:
                outcome.stopped_by = "violation"
            if outcome.stopped_by is not None:
                return
            outcome.depth += 1 if following else 0
            base += len(level)
            level = following
            gc.collect()
            gc.freeze()
        outcome.complete = not level

    def _expand(self, level: list[Mark], base: int) -> list[Mark]:
        following: list[Mark] = []
        for index, mark in enumerate(level, start=base):
            if index % LOOK_EVERY == 0 and self._must_stop():
                break
            self._subject.reset(mark)
            seen = self._subject.observe()
            self._try_idle(mark, seen, index)
            stepped, onward = NOBODY, self._onward(seen)
            for action in self._possible(mark):
                after = self._take(mark, seen, index, action, following)
                if action is onward:
                    stepped = after
            self._after_step.append(stepped)
            if self.outcome.hits and self._options.stops_at_once:
                break
        return following

    def _take(
        self, mark: Mark, seen: Observation, index: int, action: Action, following: list[Mark]
    ) -> int:
        """Take an action and judge it; the number of the state that it leads to."""
        after = self._judged(mark, seen, index, action)
        self.outcome.transitions += 1
        known = len(self._index)
        number = self._index.setdefault(after, known)
        if number == known:
            following.append(after)
            self._parents.append(index)
            self._actions.append(action)
            if number % (CHECK_EVERY if number > CHECK_EVERY else CHECK_FIRST) == 0:
                self._reach_again(after, number)
        return number

    def _judged(self, mark: Mark, seen: Observation, index: int, action: Action) -> Mark:
        subject = self._subject
        self._at = (index, action)
        subject.reset(mark)
        answer = subject.do(action)
        now, after = subject.look()
        edge = self._edge(mark, seen, action, answer, now)
        self.outcome.steps_served += bool(answer.batch)
        judgement = self._judge.ask(edge)
        self._judge.count_mask(judgement.exercised)
        if judgement.broken:
            ids = tuple(claim.id for claim, _ in judgement.broken)
            self._note((*self._path(index), action), ids)
        return after

    def _edge(
        self, mark: Mark, seen: Observation, action: Action, answer: Answer, now: Observation
    ) -> Edge:
        refused = None
        if isinstance(action, Enqueue):
            used = {row.request_id for row in mark.rows}
            refused = expected_refusal(action, used, 0, strict_types=False)
        return make_edge(seen, action, answer, now, self._rules, refused)

    def _try_idle(self, mark: Mark, seen: Observation, index: int) -> None:
        """All such calls one after the other; each by itself only where something changed."""
        if not self._is_new_situation(mark):
            return
        subject, calls = self._subject, list(self._idle(mark))
        refused = 0
        for call in calls:
            self._at = (index, call)
            answer = subject.do(call)
            refused += answer.accepted is False
        wanted = sum(isinstance(call, Enqueue) for call in calls)
        if refused == wanted and subject.mark() == mark:
            for claim, times in (("INPUT-1", wanted), ("INPUT-2", wanted), ("ABORT-1", 1)):
                self._judge.count(claim, times)
            return
        for call in calls:
            self._judged(mark, seen, index, call)

    def _is_new_situation(self, mark: Mark) -> bool:
        """Whether no state before was the same but for what finished requests once were."""
        rows = tuple([row.request_id if row.finished else row for row in mark.rows])
        known = len(self._situations)
        self._situations.add((rows, mark.pool, mark.rest))
        return len(self._situations) > known

    def _reach_again(self, mark: Mark, number: int) -> None:
        """Reach a state once more, from the start and on a new scheduler."""
        subject = self._subject.fresh()
        subject.observe()
        for action in self._path(number):
            subject.do(action)
            subject.observe()
        if subject.mark() != mark:
            raise Hidden

    def _note(self, actions: tuple[Action, ...], ids: tuple[str, ...]) -> None:
        fresh = tuple(i for i in ids if i not in self._broken_before)
        self._broken_before.update(ids)
        hits, options = self.outcome.hits, self._options
        if options.keep_going:
            hits += [Hit(actions, (claim, *(i for i in ids if i != claim))) for claim in fresh]
        elif not hits or (options.all_shortest and len(hits) < HITS_MAX):
            hits.append(Hit(actions, ids))

    def _must_stop(self) -> bool:
        pace, outcome = self._pace, self.outcome
        policy = self._subject.config.policy
        done = {"done": len(self._index), "of": None, "depth": outcome.depth}
        pace.progress({"policy": policy, **done})
        memory = self._options.memory_mib
        if pace.interrupted:
            outcome.stopped_by = "interrupt"
        elif memory is not None and peak_mib() > memory:
            outcome.stopped_by = "memory"
        elif time.monotonic() > pace.deadline:
            outcome.stopped_by = "time"
        return outcome.stopped_by is not None

    # -- whether everything ends ---------------------------------------------

    def _look_for_endless(self) -> None:
        """The first state from which steps alone go round in circles."""
        ends = bytearray(len(self._after_step))  # 1: on the way, 2: ends
        for first in range(len(ends)):
            way: list[int] = []
            at = first
            while at != NOBODY and not ends[at]:
                ends[at] = 1
                way.append(at)
                at = self._after_step[at]
            if at != NOBODY and ends[at] == 1:
                self.outcome.endless = self._path(first)
                return
            for passed in way:
                ends[passed] = 2
