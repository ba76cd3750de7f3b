"""Who waits for ever under endless arrivals, and how long the others wait at most.

Rules.
1. One request is marked, and only edges on which it does not advance are kept. A cycle of such
   edges contains a step, since arrivals alone fill the pool of active requests: it is a lasso,
   stem and loop, on which the marked request starves.
2. In a graph that was cut at a cap a cycle is only a candidate: the loop is tried first from
   the earliest state that differs in the marked one's patience alone, and a candidate counts
   once its rehearsal, on a new scheduler and with real waits, shows nothing else.
3. Shortest first: by actions of stem and loop together, then in the order in which states were
   found.
4. Where no cycle is left, the longest way on which the marked one does not advance is the worst
   wait, in steps that served others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from schedproof.claims.liveness import Rounds
from schedproof.search.exhaustive.bfs import STEP_CODE
from schedproof.search.exhaustive.endless import GONE, Graph, Looking, has_advanced
from schedproof.search.exhaustive.lasso import (
    Arrow,
    Longest,
    components,
    is_cyclic,
    shortest_cycle,
)
from schedproof.search.exhaustive.scopes import Scope
from schedproof.search.exhaustive.space import ROWS, State, flat_state
from schedproof.subjects.actions import STEP, Action
from schedproof.subjects.chapter import ChapterSubject
from schedproof.subjects.observation import Row

ROUNDS = 20
CANDIDATES_MAX = 40


@dataclass(frozen=True)
class Lasso:
    """A stem and a loop, as codes of `Way`; the marked request's place where the loop begins."""

    stem: tuple[int, ...]
    loop: tuple[int, ...]
    marked: int


@dataclass(frozen=True)
class Wait:
    """The longest wait: `steps` that served others, at the end of the way with these codes."""

    steps: int
    codes: tuple[int, ...]
    stem: int
    marked: int


class Marked:
    """The graph of states with one marked request each: node = state * active + place."""

    def __init__(self, graph: Graph, scope: Scope) -> None:
        self._graph, self._active, self._blocks = graph, scope.active, scope.blocks
        self._cyclic: list[int] = []
        self._longest: Longest | None = None
        self.count = 0
        self._look()

    def arrows(self, node: int) -> list[Arrow]:
        """The edges on which the marked request does not advance."""
        state, place = divmod(node, self._active)
        return [
            Arrow(way.code, way.target * self._active + way.move[place], int(way.served))
            for way in self._graph.ways[state]
            if way.move[place] != GONE
        ]

    def _nodes(self) -> Iterator[int]:
        """Every state with every request that fits the pool alone."""
        for index, state in enumerate(self._graph.states):
            for place, row in enumerate(state[ROWS:]):
                if row.required_blocks <= self._blocks:
                    self.count += 1
                    yield index * self._active + place

    def _look(self) -> None:
        longest = Longest(self.arrows)
        for component in components(self._nodes(), self.arrows):
            if is_cyclic(component, self.arrows):
                self._cyclic += component
            elif not self._cyclic:
                longest.add(component[0])
        self._longest = None if self._cyclic else longest

    @property
    def has_cycles(self) -> bool:
        """Whether some request may wait for ever."""
        return bool(self._cyclic)

    def lassos(self, looking: Looking) -> Iterator[Lasso]:
        """Candidates, the shortest first; then loops that are entered where they were found."""
        if not self._cyclic:
            return
        here = [(node // self._active, node) for node in sorted(self._cyclic)]
        for entries in (self._earliest(looking), here):
            for _, entry, node, loop in self._shortest(entries)[:CANDIDATES_MAX]:
                place = node % self._active
                yield Lasso(tuple(self._graph.codes_to(entry)), tuple(loop), place)

    def _shortest(self, entries: list[tuple[int, int]]) -> list[tuple[int, int, int, list[int]]]:
        """Total length, entry, node and loop, for entries that may be among the shortest."""
        found: list[tuple[int, int, int, list[int]]] = []
        most = len(self._cyclic) + self._graph.depths[-1]
        for entry, node in entries:
            depth = self._graph.depths[entry]
            if depth >= most:
                break
            loop = shortest_cycle(node, self.arrows, most - depth)
            if loop is not None:
                found.append((depth + len(loop), entry, node, loop))
                most = min(most, depth + len(loop) + self._active)  # some are kept in reserve
        return sorted(found)

    def _earliest(self, looking: Looking) -> list[tuple[int, int]]:
        """States, and the node on a cycle that each is but for the marked one's patience."""
        active, states = self._active, self._graph.states
        nodes: dict[tuple[State, int], int] = {}
        for node in sorted(self._cyclic):
            index, place = divmod(node, active)
            nodes.setdefault((looking.without_patience(states[index], place), place), node)
        looks = (
            (index, nodes.get((looking.without_patience(state, place), place)))
            for index, state in enumerate(states)
            for place in range(len(state) - ROWS)
        )
        return [(index, node) for index, node in looks if node is not None]

    def worst_wait(self) -> Wait | None:
        """The longest wait; None where some request starves."""
        longest = self._longest
        if longest is None or not longest.cost:
            return None
        most = max(longest.cost.values())
        depths, active = self._graph.depths, self._active
        worst = (node for node, cost in longest.cost.items() if cost == most)
        node = min(worst, key=lambda n: (depths[n // active] + longest.length[n], n))
        stem = self._graph.codes_to(node // active)
        return Wait(most, (*stem, *longest.path(node)), len(stem), node % active)


class Walk:
    """A way taken on a new scheduler, with its real clock and ids; `kinds` by request id."""

    def __init__(self, subject: ChapterSubject, scope: Scope) -> None:
        self._subject, self._scope = subject, scope
        self.seen = subject.observe()
        self.actions: list[Action] = []
        self.kinds: dict[int, str] = {}
        self.waits: dict[int, int] = {}

    def take(self, codes: tuple[int, ...]) -> None:
        """Take these actions, one after the other."""
        for code in codes:
            action: Action = STEP
            if code != STEP_CODE:
                kind, number = self._scope.kinds[code - 1], len(self.kinds)
                action = kind.enqueue(number, self.seen.clock)
                self.kinds[number] = kind.name
                self.waits[number] = 0
            self._do(action)

    def _do(self, action: Action) -> None:
        self.actions.append(action)
        answer = self._subject.do(action)
        before = {row.request_id: row for row in self.seen.rows}
        self.seen = self._subject.observe()
        for row in self.seen.rows:
            old = before.get(row.request_id)
            if old is not None and has_advanced(old, row):
                self.waits[row.request_id] = 0
            elif old is not None and not row.finished and answer.batch:
                self.waits[row.request_id] = self.waits.get(row.request_id, 0) + 1

    def unfinished(self) -> list[Row]:
        """The unfinished requests, in the order of the queue."""
        return [row for row in self.seen.rows if not row.finished]

    def looks(self, looking: Looking, marked: int) -> State | None:
        """The state now but for the marked one's patience; None if there is no such request."""
        state = looking.state(flat_state(self.seen, by_id=False))
        inside = marked < len(state) - ROWS
        return looking.without_patience(state, marked) if inside else None


def rehearse(
    subject: ChapterSubject, scope: Scope, lasso: Lasso, looking: Looking, until: int
) -> tuple[Rounds, list[Action]] | None:
    """The loop taken `ROUNDS` times and on to a wait of `until`; None if it does not repeat."""
    walk = Walk(subject, scope)
    walk.take(lasso.stem)
    before = walk.looks(looking, lasso.marked)
    if before is None:
        return None
    row = walk.unfinished()[lasso.marked]
    waits = [walk.waits[row.request_id]]
    progress = (row.phase, row.generated_len)
    actions: list[Action] = []
    while len(waits) <= ROUNDS or (waits[-1] < until and waits[-1] > waits[0]):
        walk.take(lasso.loop)
        if walk.looks(looking, lasso.marked) != before:
            return None
        now = walk.unfinished()[lasso.marked]
        if (now.phase, now.generated_len) != progress or now.request_id != row.request_id:
            return None
        waits.append(walk.waits[row.request_id])
        if len(waits) == ROUNDS + 1:
            actions = list(walk.actions)
    seen = Rounds(
        request=row.request_id,
        kind=walk.kinds[row.request_id],
        needs=row.required_blocks,
        capacity=scope.blocks,
        stem=len(lasso.stem),
        loop=len(lasso.loop),
        before=waits[0],
        waits=tuple(waits[1 : ROUNDS + 1]),
    )
    return seen, actions
