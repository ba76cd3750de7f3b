"""Components, cycles and longest paths on graphs made by hand, and against plain definitions."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedproof.search.exhaustive.lasso import (
    Arrow,
    Longest,
    components,
    is_cyclic,
    shortest_cycle,
)

Edges = dict[int, list[Arrow]]
NODES = 6


def graph(*edges: tuple[int, int, int]) -> Edges:
    """Edges (from, to, cost); each edge's label is its number from 0."""
    made: Edges = {node: [] for node in range(NODES)}
    for label, (source, target, cost) in enumerate(edges):
        made[source].append(Arrow(label, target, cost))
    return made


def found(edges: Edges) -> list[list[int]]:
    return [sorted(c) for c in components(edges, edges.__getitem__)]


def test_components_come_after_those_that_they_lead_to() -> None:
    edges = graph((0, 1, 0), (1, 2, 0), (2, 1, 0), (2, 3, 0), (4, 0, 0), (4, 5, 0))
    assert found(edges) == [[3], [1, 2], [0], [5], [4]]


def test_one_node_is_on_a_cycle_only_with_an_arrow_to_itself() -> None:
    edges = graph((0, 0, 1), (1, 2, 1), (3, 4, 1), (4, 3, 1))
    cyclic = [c for c in found(edges) if is_cyclic(c, edges.__getitem__)]
    assert cyclic == [[0], [3, 4]]


def test_the_shortest_cycle_is_told_by_its_labels() -> None:
    edges = graph((0, 1, 1), (1, 2, 1), (2, 0, 1), (1, 3, 1), (3, 4, 1), (4, 0, 1), (2, 2, 1))
    assert shortest_cycle(0, edges.__getitem__, 9) == [0, 1, 2]
    assert shortest_cycle(2, edges.__getitem__, 9) == [6]
    assert shortest_cycle(3, edges.__getitem__, 9) == [4, 5, 0, 3]


@pytest.mark.parametrize(("longest", "answer"), [(2, None), (3, [0, 1, 2])])
def test_a_cycle_longer_than_asked_for_is_not_looked_for(
    longest: int, answer: list[int] | None
) -> None:
    edges = graph((0, 1, 1), (1, 2, 1), (2, 0, 1))
    assert shortest_cycle(0, edges.__getitem__, longest) == answer


def longest_of(edges: Edges) -> Longest:
    made = Longest(edges.__getitem__)
    for (node,) in components(edges, edges.__getitem__):
        made.add(node)
    return made


def test_the_longest_path_counts_costs_and_not_arrows() -> None:
    edges = graph((0, 1, 0), (1, 2, 0), (2, 3, 1), (0, 3, 2), (3, 4, 0))
    paths = longest_of(edges)
    assert paths.cost == {4: 0, 3: 0, 2: 1, 1: 1, 0: 2, 5: 0}
    assert paths.length == {4: 0, 3: 0, 2: 1, 1: 2, 0: 1, 5: 0}
    assert paths.path(0) == [3]  # what costs nothing at the end is left out
    assert paths.path(1) == [1, 2]


def test_of_equal_paths_the_shorter_one_is_told_then_the_first() -> None:
    edges = graph((0, 1, 0), (1, 2, 1), (0, 3, 1), (0, 4, 1))
    assert longest_of(edges).path(0) == [2]


EDGES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2)), max_size=14
).map(lambda edges: graph(*edges))


def reaches(edges: Edges, start: int, end: int) -> bool:
    """Whether there is a way of at least one arrow."""
    seen: set[int] = set()
    ahead = [arrow.target for arrow in edges[start]]
    while ahead:
        node = ahead.pop()
        if node not in seen:
            seen.add(node)
            ahead += [arrow.target for arrow in edges[node]]
    return end in seen


@settings(derandomize=True, database=None, deadline=None, max_examples=150)
@given(EDGES)
def test_components_are_what_their_definition_says(edges: Edges) -> None:
    where = {node: number for number, c in enumerate(found(edges)) for node in c}
    assert sorted(where) == list(range(NODES))
    for one, other in permutations(range(NODES), 2):
        mutual = reaches(edges, one, other) and reaches(edges, other, one)
        assert (where[one] == where[other]) == mutual
        if reaches(edges, one, other) and not mutual:
            assert where[other] < where[one]


@settings(derandomize=True, database=None, deadline=None, max_examples=150)
@given(EDGES)
def test_a_cycle_is_found_exactly_where_there_is_one(edges: Edges) -> None:
    for node in range(NODES):
        labels = shortest_cycle(node, edges.__getitem__, 20)
        assert (labels is not None) == reaches(edges, node, node)
        at = node
        for label in labels or []:
            (arrow,) = (arrow for arrow in edges[at] if arrow.label == label)
            at = arrow.target
        assert at == node
