"""What a reduction leaves out of the key, and all that it leaves in."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from tests.exhaustive.conftest import slots

from schedmodel.request import state_of
from schedproof.search.exhaustive.identity import reduced_key
from schedproof.search.exhaustive.names import (
    ARRIVALS,
    FINISHED,
    IDS,
    NO_CLOCK,
    PREEMPTIONS,
    REDUCTIONS,
)
from schedproof.subjects.observation import STORED_FIELDS, Row, make_row

SCOPE = slots("small", 3)
FRESH: dict[str, Any] = {
    "status": "waiting",
    "phase": "prefill",
    "prompt_len": 4,
    "generated_len": 0,
    "max_new_tokens": 2,
    "priority": 0,
    "cache_hit": False,
    "wait_steps": 0,
    "required_blocks": 2,
    "held_blocks": 0,
    "deadline_step": None,
    "preemptible": True,
    "preemptions": 0,
    "arrival_index": 0,
}
OVER = {"status": "finished", "phase": "decode", "generated_len": 2}


@functools.cache
def row(request_id: int, **values: Any) -> Row:
    """A request; equal ones are the same object, as they are in a search."""
    stored: dict[str, Any] = {"request_id": request_id, **FRESH, **values}
    state = state_of(stored["status"], stored["phase"])
    more = {"state": state, "finish_reason": None, "advanced": True, "extra": ()}
    assert set(stored) <= {*STORED_FIELDS, "preemptions", "arrival_index"}
    return make_row(tuple(stored), tuple(stored.values()), **stored, **more)


def same(one: tuple[Any, ...], other: tuple[Any, ...], *reductions: str) -> bool:
    """Whether two states count as the same under these reductions."""
    key_of = reduced_key(SCOPE, frozenset(reductions))
    assert key_of is not None
    return key_of(one) == key_of(other)


ALONE = row(0)


@pytest.mark.parametrize("names", [(), (ARRIVALS,)])
def test_the_order_of_arrival_is_no_key(names: tuple[str, ...]) -> None:
    assert reduced_key(SCOPE, frozenset(names)) is None


@pytest.mark.parametrize("reduction", [name for name in REDUCTIONS if name != ARRIVALS])
def test_blocks_and_attributes_and_unfinished_requests_always_count(reduction: str) -> None:
    state = (3, 5, (), ALONE)
    assert same(state, (3, 5, (), ALONE), reduction)
    assert not same(state, (2, 5, (), ALONE), reduction)
    assert not same(state, (3, 5, (("served", 1),), ALONE), reduction)
    assert not same(state, (3, 5, ()), reduction)
    assert not same(state, (3, 5, (), row(0, wait_steps=1)), reduction)
    assert not same(state, (3, 5, (), ALONE, row(1)), reduction)
    assert same(state, (3, 6, (), ALONE), reduction) is (reduction == NO_CLOCK)
    again = (3, 5, (), row(0, preemptions=1))
    assert same(state, again, reduction) is (reduction == PREEMPTIONS)


@pytest.mark.parametrize("reduction", [FINISHED, IDS])
def test_of_finished_requests_it_only_counts_that_their_ids_are_used(reduction: str) -> None:
    over = (3, 5, (), row(0, **OVER), row(1))
    assert same(over, (3, 5, (), row(0, **OVER, wait_steps=7), row(1)), reduction)
    assert not same(over, (3, 5, (), row(1)), reduction)
    assert not same(over, (3, 5, (), row(0), row(1)), reduction)
    assert not same(over, (3, 5, (), row(0, **OVER, wait_steps=7), row(1)), PREEMPTIONS)
    holding = (3, 5, (), row(0, **OVER, held_blocks=1), row(1))
    assert not same(holding, (3, 5, (), row(0, **OVER, held_blocks=2), row(1)), reduction)


def test_of_ids_only_their_order_counts() -> None:
    first, second = row(0, wait_steps=2), row(1)
    state = (3, 5, (), first, second)
    later = (3, 5, (), row(1, wait_steps=2), row(2))
    assert same(state, (3, 5, (), second, first), IDS)
    assert same((*state, row(2, **OVER)), (*later, row(0, **OVER)), IDS)
    assert not same(state, (3, 5, (), row(0), row(1, wait_steps=2)), IDS)
    assert not same(state, (3, 5, (), row(1, wait_steps=2), row(2)), IDS)
    assert not same((*state, row(2, **OVER)), (*later, row(0, **OVER)), FINISHED)


def test_without_the_clock_deadlines_count_from_now() -> None:
    timed = (3, 5, (), row(0, deadline_step=9))
    assert same(timed, (3, 7, (), row(0, deadline_step=11)), NO_CLOCK)
    assert not same(timed, (3, 7, (), row(0, deadline_step=9)), NO_CLOCK)
    assert not same(timed, (3, 5, (), row(0)), NO_CLOCK)
    assert not same(timed, (3, 5, (), row(1, deadline_step=9)), NO_CLOCK)
    assert not same(timed, (3, 7, (), row(0, deadline_step=11)), PREEMPTIONS)
    for reduction in (FINISHED, PREEMPTIONS):
        assert not same(timed, (3, 5, (), row(0, deadline_step=8)), reduction)


def test_ids_that_are_taken_twice_or_come_from_nowhere_are_no_trouble() -> None:
    twice = (3, 5, (), row(0), row(0, deadline_step=9))
    assert same(twice, twice, IDS)
    invented = (3, 5, (), row(9))
    assert not same(invented, (3, 5, ()), FINISHED)


def test_reductions_add_up() -> None:
    timed = (3, 5, (), row(0, deadline_step=9, preemptions=2), row(1, **OVER))
    other = (3, 6, (), row(0, deadline_step=10), row(1, **OVER, wait_steps=3))
    assert same(timed, other, NO_CLOCK, PREEMPTIONS, FINISHED)
    assert same(timed, other, NO_CLOCK, PREEMPTIONS, IDS, ARRIVALS)
    for missing in (NO_CLOCK, PREEMPTIONS, FINISHED):
        rest = {NO_CLOCK, PREEMPTIONS, FINISHED} - {missing}
        assert not same(timed, other, *rest)


def test_who_has_moved_on_counts_though_nothing_is_left_out_of_it() -> None:
    moved = make_row(ALONE.names, ALONE.raw, **{**_stored(ALONE), "advanced": False})
    assert not same((3, 5, (), ALONE), (3, 5, (), moved), PREEMPTIONS)


def _stored(known: Row) -> dict[str, Any]:
    derived = ("names", "raw", "admitted", "done", "total_len", "finished", "shown", "remaining")
    return {name: value for name, value in vars(known).items() if name not in derived}
