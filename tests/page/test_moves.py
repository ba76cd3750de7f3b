"""Which edges of the lifecycle a request took, told from its state before and after."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from schedmodel.lifecycle import MOVES
from schedproof.page.moves import Way, way_between


def request(state: str | None, phase: str = "prefill", tokens: int = 0) -> dict[str, Any]:
    return {"state": state, "phase": phase, "generated_len": tokens, "held_blocks": 1}


WAYS = {
    "a request arrives": (None, request("waiting"), " waiting"),
    "admitted and prefilled": (
        request("waiting"),
        request("decode", "decode"),
        "waiting admitted prefill decode",
    ),
    "a token": (request("decode", "decode"), request("decode", "decode", 1), "decode decode"),
    "the last token": (
        request("decode", "decode", 1),
        request("finished", "decode", 2),
        "decode decode finished",
    ),
    "preempted": (request("decode", "decode"), request("preempted"), "decode preempted"),
    "resumed in decode": (
        request("preempted", "decode", 1),
        request("decode", "decode", 2),
        "preempted admitted decode decode",
    ),
    "resumed and finished": (
        request("preempted", "decode", 1),
        request("finished", "decode", 2),
        "preempted admitted decode decode finished",
    ),
    "resumed before its prefill": (
        request("preempted", "prefill"),
        request("decode", "decode"),
        "preempted admitted prefill decode",
    ),
    "rejected on arrival": (None, request("finished"), " waiting finished"),
    "aborted": (request("waiting"), request("finished"), "waiting finished"),
}


@pytest.mark.parametrize(("before", "after", "way"), WAYS.values(), ids=WAYS.keys())
def test_ways(before: dict[str, Any] | None, after: dict[str, Any], way: str) -> None:
    assert way_between(before, after) == Way(tuple(way.split(" ")))


@pytest.mark.parametrize("way", [way for _, _, way in WAYS.values()])
def test_every_way_is_made_of_edges_that_the_lifecycle_has(way: str) -> None:
    states = [state for state in way.split(" ") if state]
    edges = {(source.value, move.dest.value) for (source, _), move in MOVES.items()}
    assert set(itertools.pairwise(states)) <= edges


def test_request_that_stays_goes_nowhere() -> None:
    assert way_between(request("waiting"), request("waiting")) is None
    assert way_between(request("decode"), request("decode")) is None


def test_more_blocks_while_running_are_an_edge() -> None:
    grown = {**request("decode"), "held_blocks": 2}
    assert way_between(request("decode"), grown) == Way(("decode", "decode"))


def test_jumps_are_told_to_be_none_of_the_table() -> None:
    assert way_between(None, request("decode")) == Way(("", "decode"), legal=False)
    back = way_between(request("finished"), request("decode"))
    assert back == Way(("finished", "decode"), legal=False)


def test_unknown_state_has_no_way() -> None:
    assert way_between(request("waiting"), request(None)) is None
    assert way_between(request(None), request("waiting")) is None
