"""The gate, on state spaces made by hand: what passes it and what does not."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from tests.exhaustive.conftest import slots
from tests.exhaustive.test_identity import row

from schedproof.search.exhaustive.gate import passes
from schedproof.search.exhaustive.names import ARRIVALS, FINISHED, NO_CLOCK

SCOPE = slots("small", 3)
Edge = tuple[Any, Any, Any, tuple[str, ...]]


def state(clock: int, *rows: Any, free: int = 3) -> Any:
    return (free, clock, (), *rows)


def gate(
    edges: Sequence[Edge],
    *names: str,
    in_order: Sequence[Edge] | None = None,
    complete: bool = True,
) -> bool:
    """Whether reductions pass where a search goes over these edges, in order over those."""
    asked: list[bool] = []

    def make_search(scope: Any, watch: Any, ordered: bool) -> Any:
        assert scope is SCOPE
        asked.append(ordered)

        def run() -> Any:
            for edge in in_order if ordered and in_order is not None else edges:
                watch(*edge)
            return SimpleNamespace(complete=complete)

        return SimpleNamespace(run=run)

    passed = passes(frozenset(names), SCOPE, make_search)
    assert asked.count(True) <= (ARRIVALS in names)
    return passed


EARLY, LATE = state(1, row(0)), state(4, row(0))
THEN = state(2, row(0), free=2)
LATER = state(5, row(0), free=2)
ELSEWHERE = state(5, row(0), free=1)


def test_equal_states_with_equal_futures_pass() -> None:
    assert gate([(EARLY, 0, THEN, ()), (LATE, 0, LATER, ())], NO_CLOCK)


@pytest.mark.parametrize(
    "other",
    [
        (LATE, 1, LATER, ()),
        (LATE, 0, ELSEWHERE, ()),
        (LATE, 0, LATER, ("LEDGER-1",)),
    ],
)
def test_another_action_another_end_or_another_breach_does_not_pass(other: Edge) -> None:
    assert not gate([(EARLY, 0, THEN, ()), other], NO_CLOCK)
    assert gate([(EARLY, 0, THEN, ()), other], FINISHED)


def test_one_edge_more_does_not_pass() -> None:
    edges = [(EARLY, 0, THEN, ()), (EARLY, 1, EARLY, ()), (LATE, 0, LATER, ())]
    assert not gate(edges, NO_CLOCK)
    assert gate([*edges, (LATE, 1, LATE, ())], NO_CLOCK)


@pytest.mark.parametrize("names", [(NO_CLOCK,), (ARRIVALS,), (NO_CLOCK, ARRIVALS)])
def test_a_search_that_is_not_complete_does_not_pass(names: tuple[str, ...]) -> None:
    edges = [(EARLY, 0, THEN, ())]
    assert gate(edges, *names)
    assert not gate(edges, *names, complete=False)


def test_in_the_order_of_ids_there_must_be_the_same_states_without_ids() -> None:
    by_id = [(state(0), 0, state(0, row(0)), ()), (state(0), 1, state(0, row(1)), ())]
    assert gate(by_id, ARRIVALS, in_order=by_id[:1])
    odd = (state(0), 1, state(0, row(1, wait_steps=3)), ())
    assert not gate([*by_id, odd], ARRIVALS, in_order=by_id[:1])
    assert not gate(by_id[:1], ARRIVALS, in_order=[*by_id, odd])


def test_in_the_order_of_ids_there_must_be_the_same_breaches() -> None:
    fine = (state(0), 0, state(0, row(0)), ())
    broken = (state(0), 0, state(0, row(1)), ("ORDER-1",))
    assert not gate([fine, broken], ARRIVALS, in_order=[fine])
    assert gate([fine, broken], ARRIVALS, in_order=[fine, broken])


def test_both_are_asked_where_both_are_wanted() -> None:
    fine = (state(0), 0, state(0, row(0)), ())
    broken = (state(0), 0, state(0, row(1)), ("ORDER-1",))
    assert not gate([fine, broken], NO_CLOCK, ARRIVALS, in_order=[fine])
    assert gate([fine, broken], NO_CLOCK, in_order=[fine])
