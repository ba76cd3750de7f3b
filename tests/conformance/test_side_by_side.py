"""Every edge of the small scope is taken by the model and by the indexed scheduler alike."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.side_by_side import Differ, SideBySide, read
from tests.exhaustive.manifest import GROUND_TRUTH

from schedmodel import KNOWN_POLICIES
from schedmodel.indexed import IndexedSchedulerSim
from schedproof.search.exhaustive.scopes import load_scope

SMALL = load_scope("small")


def nobody(free: int) -> None:
    """Chooses nobody."""


class Late(IndexedSchedulerSim):
    """Its index is out of order once somebody was preempted."""

    def step(self) -> Any:
        event = super().step()
        if event is not None and event["preempted_request_id"] is not None:
            self._index.choose = nobody
        return event


@pytest.mark.unmeasured
def test_every_edge_of_the_small_scope_is_the_same() -> None:
    assert list(SideBySide("aging", SMALL).run()) == read()["small aging"]


def test_a_fault_that_shows_only_on_the_way_is_found() -> None:
    with pytest.raises(Differ, match="kept"):
        SideBySide("aging", SMALL, Late).run()


def test_the_counts_are_those_that_all_tools_agreed_on() -> None:
    kept = read()
    assert {f"small {policy}" for policy in KNOWN_POLICIES} <= set(kept)
    for (scope, policy), counts in GROUND_TRUTH.items():
        if scope == "small" or f"{scope} {policy}" in kept:
            assert kept[f"{scope} {policy}"][:3] == list(counts)
