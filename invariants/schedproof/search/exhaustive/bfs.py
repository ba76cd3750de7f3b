"""Breadth-first search, level by level, over the states of a real scheduler.

Rules.
1. Every edge is judged when it is generated, before anybody asks whether its state is new:
   a broken edge into a known state is still found.
2. A level is expanded only after the one before it is complete, and the search stops at
   the first broken edge. So its length is the least there is, and "no violation within
   n - 1 actions" is certified by the states of the levels before.
3. The order is fixed: states in the order they were found, in each first the enqueues by
   slot and kind, then the step. Among counterexamples of equal length the first is told.
4. In every state refused calls are tried as well: a used id, sizes of zero, a deadline that
   has passed; and a step where nothing is left to do. They are no actions: they add no state,
   no transition and no depth. In each new situation (unfinished requests, ids, free blocks)
   every id is tried, in the first `PROBED_WIDELY` states negative sizes too. Beyond `PROBED_ALL`
   states refused calls are tried in new situations only, and `Outcome.probed_all` says so.
5. For each state only its parent and the action are kept; a path is rebuilt when needed.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from array import array
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from schedproof.claims.judge import Judge
from schedproof.search.exhaustive.judging import EdgeMemo
from schedproof.search.exhaustive.probing import Probes
from schedproof.search.exhaustive.scopes import Scope
from schedproof.search.exhaustive.situations import Entry, Situation, Situations
from schedproof.search.exhaustive.space import AS_EXPECTED, CLOCK, Space, State
from schedproof.search.pace import Pace
from schedproof.subjects.actions import STEP, Action, Enqueue
from schedproof.subjects.contract import Config

LOOK_EVERY = 64
CHECK_EVERY, CHECK_FIRST = 1009, 67
PROBED_ALL, PROBED_WIDELY = 50_000, 500
STEP_CODE = 0
HITS_MAX = 100
UNDRAINED_MAX = 20
SAMPLE_MAX = 40
KeyOf = Callable[[State], Hashable]
Confirm = Callable[[tuple[Action, ...]], bool]
"""Whether the last of these actions, a call that should be refused, breaks a claim in use."""
SpotCheck = Callable[[State, tuple[Action, ...]], None]
Watch = Callable[[State, Hashable, State, tuple[str, ...]], None]
"""Is told of every edge: the state, what was done, the next state, the ids that it breaks."""


@dataclass(frozen=True)
class Hit:
    """A broken edge: the actions up to and including it, and the ids it breaks."""

    actions: tuple[Action, ...]
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Options:
    """How a search goes about it.

    `all_shortest` finishes the level of the first violation; `keep_going` searches on and
    finds one shortest for each claim. `max_depth` in actions. `memory_mib` is the most that
    the process may have used at its peak. `in_id_order` lets requests arrive in the order of
    their slots only.
    """

    all_shortest: bool = False
    keep_going: bool = False
    probing: bool = True
    in_id_order: bool = False
    max_depth: int | None = None
    memory_mib: float | None = None

    @property
    def stops_at_once(self) -> bool:
        """Whether the first violation ends the search."""
        return not (self.all_shortest or self.keep_going)


DEFAULT = Options()


@dataclass
class Outcome:
    """What a search came to. `hits` in the order found; `complete` if nothing was left.

    `stopped_by` is None, "violation", "time", "memory" or "interrupt". `certified_states`
    were reached with fewer actions than the first hit has, and none of their edges but the
    hit's own level is broken. `undrained` are paths to steps that did not bring the pool
    nearer to being drained, `sampled` to the deepest states and to others.
    """

    distinct_states: int = 1
    certified_states: int = 1
    steps_served: int = 0
    transitions: int = 0
    depth: int = 0
    complete: bool = False
    stopped_by: str | None = None
    hits: list[Hit] = field(default_factory=list[Hit])
    undrained: list[tuple[Action, ...]] = field(default_factory=list[tuple[Action, ...]])
    sampled: list[tuple[Action, ...]] = field(default_factory=list[tuple[Action, ...]])
    probed_all: bool = True


class Search:
    """One search of one scope in one space."""

    def __init__(
        self,
        space: Space,
        scope: Scope,
        config: Config,
        judge: Judge,
        pace: Pace,
        options: Options = DEFAULT,
        key_of: KeyOf | None = None,
        spot_check: SpotCheck | None = None,
        watch: Watch | None = None,
        confirm: Confirm | None = None,
    ) -> None:
        self._space = space
        self._config = config
        self._scope = scope
        self._pace = pace
        self._options = options
        self._key_of = key_of
        self._spot_check = spot_check
        self._watch = watch
        self._confirm = confirm
        self._judge = judge
        self._memo = EdgeMemo(judge, config, scope.timed)
        self._timed = scope.timed
        self._kinds = scope.kinds
        self._situations = Situations(scope, options.in_id_order)
        self._probes = Probes(scope)
        self._parents = array("i", [-1])
        self._codes = array("i", [STEP_CODE])
        self._clocks = array("i", [0])
        self._enqueues: dict[tuple[int, int], Enqueue] = {}
        self._broken_before: set[str] = set()
        self._at = (0, STEP_CODE)
        self._seen: set[Hashable] = set()
        self.outcome = Outcome()

    @property
    def taken(self) -> tuple[Action, ...]:
        """The actions up to and including the one that is being taken."""
        index, code = self._at
        return (*self._path(index), self._action(code, self._clocks[index]))

    # -- actions -------------------------------------------------------------

    def _enqueue(self, code: int, clock: int) -> Enqueue:
        clock = clock if self._timed else 0
        action = self._enqueues.get((code, clock))
        if action is None:
            slot, place = divmod(code - 1, len(self._kinds))
            action = self._kinds[place].enqueue(slot, clock)
            self._enqueues[code, clock] = action
        return action

    def _path(self, index: int) -> tuple[Action, ...]:
        """The actions from the start to a state."""
        actions: list[Action] = []
        while index > 0:
            code, parent = self._codes[index], self._parents[index]
            actions.append(self._action(code, self._clocks[parent]))
            index = parent
        return tuple(reversed(actions))

    def _action(self, code: int, clock: int) -> Action:
        return STEP if code == STEP_CODE else self._enqueue(code, clock)

    # -- searching -----------------------------------------------------------

    def run(self) -> Outcome:
        """Search until nothing is left, something is broken, or the pace says stop."""
        start = self._space.initial()
        self._clocks[0] = start[CLOCK]
        self._seen.add(start if self._key_of is None else self._key_of(start))
        gc.disable()  # what a search makes has no cycles; what a scheduler makes waits a level
        gc.freeze()  # nor is there any use in looking through what was there before
        try:
            self._search(start)
        finally:
            gc.enable()
            gc.unfreeze()
        self._settle()
        return self.outcome

    def _search(self, start: State) -> None:
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
            gc.freeze()  # states stay: no use in looking through them for garbage again
        outcome.complete = not level

    def _expand(self, level: list[State], base: int) -> list[State]:
        """Take every action from every state of a level; the new states, in order."""
        following: list[State] = []
        probing, index = self._options.probing, base
        clock, deadline = time.monotonic, self._pace.deadline
        for index, state in enumerate(level, start=base):
            late = clock() > deadline  # one state of a slow scheduler may take seconds
            if (late or index % LOOK_EVERY == 0) and self._must_stop():
                break
            situation = self._situations.of(state)
            if probing and (index < PROBED_ALL or not situation.probed):
                self._probe(state, index, situation)
            for code in situation.codes:
                self._take_enqueue(code, state, index, situation, following)
            if situation.works:
                self._take_step(state, index, situation, following)
            elif probing:
                self._idle(state, index, situation)
            if self.outcome.hits and self._options.stops_at_once:
                break
        self.outcome.probed_all = index < PROBED_ALL or not probing
        return following

    def _take_step(
        self, state: State, index: int, situation: Situation, following: list[State]
    ) -> None:
        space, outcome, led = self._space, self.outcome, situation.view.led
        self._at = (index, STEP_CODE)
        space.enter(state, index, self._path)
        after, event, kept = space.step(led, situation.places)
        if led is not None and event is AS_EXPECTED:
            entry: Entry = led
            served = led.event is not None
        else:
            entry = self._memo.first_step(situation, state, after, event, kept)
            served = event is not None
        entry.hits += 1
        outcome.transitions += 1
        outcome.steps_served += served
        if entry.broken:
            self._note((*self._path(index), STEP), entry.ids)
        if self._watch is not None:
            self._watch(state, STEP_CODE, after, entry.ids)
        if not entry.drains and len(outcome.undrained) < UNDRAINED_MAX:
            outcome.undrained.append((*self._path(index), STEP))
        self._add(after, index, STEP_CODE, following)

    def _idle(self, state: State, index: int, situation: Situation) -> None:
        """A step where nothing is left to do: it must change nothing, and counts as no action."""
        self._at = (index, STEP_CODE)
        self._space.enter(state, index, self._path)
        after, event, kept = self._space.step()
        if after == state and event is None and kept:
            return
        entry = self._memo.step(situation.view, state, after, event, kept)
        entry.hits += 1
        if entry.broken:
            self._note((*self._path(index), STEP), entry.ids)

    def _take_enqueue(
        self, code: int, state: State, index: int, situation: Situation, following: list[State]
    ) -> None:
        action = self._enqueue(code, state[CLOCK])
        self._at = (index, code)
        self._space.enter(state, index, self._path)
        after, accepted, kept, newcomer = self._space.enqueue(action)
        view = situation.view
        entry = self._memo.enqueue(view, code, action, state, after, accepted, kept, newcomer)
        entry.hits += 1
        self.outcome.transitions += 1
        if entry.broken:
            self._note((*self._path(index), action), entry.ids)
        if self._watch is not None:
            self._watch(state, self._kinds[(code - 1) % len(self._kinds)], after, entry.ids)
        self._add(after, index, code, following)

    def _add(self, state: State, parent: int, code: int, following: list[State]) -> None:
        """Keep a state if it is new."""
        seen = self._seen
        index = len(seen)
        seen.add(state if self._key_of is None else self._key_of(state))
        if len(seen) == index:
            return
        following.append(state)
        self._parents.append(parent)
        self._codes.append(code)
        self._clocks.append(state[CLOCK])
        every = CHECK_EVERY if index > CHECK_EVERY else CHECK_FIRST
        if self._spot_check is not None and index % every == 0:
            self._spot_check(state, self._path(index))

    def _note(self, actions: tuple[Action, ...], ids: tuple[str, ...]) -> None:
        fresh = tuple(i for i in ids if i not in self._broken_before)
        self._broken_before.update(ids)
        hits, options = self.outcome.hits, self._options
        if options.keep_going:
            hits += [Hit(actions, (claim, *(i for i in ids if i != claim))) for claim in fresh]
        elif not hits or (options.all_shortest and len(hits) < HITS_MAX):
            hits.append(Hit(actions, ids))

    def _probe(self, state: State, index: int, situation: Situation) -> None:
        probes = self._probes.of(state, not situation.probed, index < PROBED_WIDELY)
        situation.probed = True
        self._space.enter(state, index, self._path)
        if self._space.refused_and_unchanged(probes):
            self._judge.count("INPUT-1", len(probes))
            self._judge.count("INPUT-2", len(probes))
            return
        for probe in probes:
            self._space.enter(state, index, self._path)
            actions = (*self._path(index), probe)
            if not self._space.refused_and_unchanged([probe]) and (
                self._confirm is None or self._confirm(actions)
            ):
                self._note(actions, ())
                return

    def _must_stop(self) -> bool:
        pace, outcome = self._pace, self.outcome
        states = len(self._parents)
        policy = self._config.policy
        pace.progress({"policy": policy, "done": states, "of": None, "depth": outcome.depth})
        if pace.interrupted:
            outcome.stopped_by = "interrupt"
        elif self._options.memory_mib is not None and peak_mib() > self._options.memory_mib:
            outcome.stopped_by = "memory"
        elif time.monotonic() > pace.deadline:
            outcome.stopped_by = "time"
        return outcome.stopped_by is not None

    def _settle(self) -> None:
        self.outcome.distinct_states = len(self._seen)
        self._memo.settle()
        states = range(len(self._parents))
        chosen = (*states[-SAMPLE_MAX:], *states[: -SAMPLE_MAX : len(states) // SAMPLE_MAX + 1])
        self.outcome.sampled = [self._path(index) for index in chosen]


def peak_mib() -> float:
    """The most memory that this process has had, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
