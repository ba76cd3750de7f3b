"""Cycles and longest paths in a directed graph, for any graph with numbered nodes.

Rules.
1. A graph is a function from a node to its arrows. An arrow has a label, a target and a
   cost of 0 or more; the arrows of a node come in a fixed order, and every answer is
   determined by it.
2. Nodes are on a common cycle exactly if they are in one strongly connected component; one
   node alone is on a cycle if it has an arrow to itself.
3. Where there is no cycle at all, every node has a longest path, and the components come
   out in an order in which targets stand before the nodes that lead to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple


class Arrow(NamedTuple):
    """A way from one node to another."""

    label: int
    target: int
    cost: int


Arrows = Callable[[int], Sequence[Arrow]]


def components(nodes: Iterable[int], arrows: Arrows) -> Iterator[list[int]]:
    """The strongly connected components, each after all those that it leads to."""
    search = _Tarjan(arrows)
    for node in nodes:
        if node not in search.low:
            yield from search.from_root(node)


class _Tarjan:
    """Tarjan's algorithm, with a stack of its own instead of recursion."""

    def __init__(self, arrows: Arrows) -> None:
        self._arrows = arrows
        self.low: dict[int, int] = {}
        self._open: list[int] = []
        self._is_open: set[int] = set()

    def _enter(self, node: int) -> tuple[int, int, Iterator[Arrow]]:
        number = self.low[node] = len(self.low)
        self._open.append(node)
        self._is_open.add(node)
        return node, number, iter(self._arrows(node))

    def from_root(self, root: int) -> Iterator[list[int]]:
        low, is_open = self.low, self._is_open
        path = [self._enter(root)]
        while path:
            node, number, rest = path[-1]
            for _, target, _ in rest:
                if target not in low:
                    path.append(self._enter(target))
                    break
                if target in is_open and low[target] < low[node]:
                    low[node] = low[target]
            else:
                path.pop()
                if path and low[node] < low[path[-1][0]]:
                    low[path[-1][0]] = low[node]
                if low[node] == number:
                    yield self._close(node)

    def _close(self, node: int) -> list[int]:
        place = len(self._open) - 1
        while self._open[place] != node:
            place -= 1
        component = self._open[place:]
        del self._open[place:]
        self._is_open.difference_update(component)
        return component


def is_cyclic(component: Sequence[int], arrows: Arrows) -> bool:
    """Whether a component's nodes are on a cycle."""
    node = component[0]
    return len(component) > 1 or any(arrow.target == node for arrow in arrows(node))


def shortest_cycle(node: int, arrows: Arrows, longest: int) -> list[int] | None:
    """Labels of the shortest way from a node back to it, at most `longest` arrows; or None."""
    came_from: dict[int, tuple[int, int]] = {}
    level = [node]
    for _ in range(longest):
        following: list[int] = []
        for source in level:
            for label, target, _ in arrows(source):
                if target == node:
                    return [*_way_to(source, node, came_from), label]
                if target not in came_from:
                    came_from[target] = (source, label)
                    following.append(target)
        level = following
    return None


def _way_to(node: int, start: int, came_from: dict[int, tuple[int, int]]) -> list[int]:
    labels: list[int] = []
    while node != start:
        node, label = came_from[node]
        labels.append(label)
    return labels[::-1]


class Longest:
    """The longest paths of a graph without cycles, by node: their `cost` and `length` in arrows.

    Among paths of equal cost the one with the fewest arrows is taken, then the first.
    """

    def __init__(self, arrows: Arrows) -> None:
        self._arrows = arrows
        self.cost: dict[int, int] = {}
        self.length: dict[int, int] = {}
        self._first: dict[int, Arrow] = {}

    def add(self, node: int) -> None:
        """Work out a node, all of whose targets were added before."""
        best = (0, 0)
        for arrow in self._arrows(node):
            cost = arrow.cost + self.cost[arrow.target]
            length = 1 + self.length[arrow.target]
            if cost and (cost, -length) > best:
                best = (cost, -length)
                self._first[node] = arrow
        self.cost[node], self.length[node] = best[0], -best[1]

    def path(self, node: int) -> list[int]:
        """Labels along the longest path from a node."""
        labels: list[int] = []
        while node in self._first:
            arrow = self._first[node]
            labels.append(arrow.label)
            node = arrow.target
        return labels
