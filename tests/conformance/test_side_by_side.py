"""Every edge of the small scope is taken by the model and by the indexed scheduler alike."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.side_by_side import Differ, SideBySide, read
from tests.exhaustive import manifest

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


class NeverDue(IndexedSchedulerSim):
    """Says `deadline` and does what `fixed_priority` does."""

    def __init__(self, policy: str, *others: Any) -> None:
        super().__init__("fixed_priority", *others)

    def restore(self, snapshot: Any) -> None:
        super().restore(snapshot._replace(policy=self._policy))


@pytest.mark.unmeasured
def test_every_edge_of_the_small_scope_is_the_same() -> None:
    assert list(SideBySide("aging", SMALL).run()) == read()["small aging"]


def test_a_fault_that_shows_only_on_the_way_is_found() -> None:
    with pytest.raises(Differ, match="kept"):
        SideBySide("aging", SMALL, Late).run()


def test_deadlines_that_are_not_looked_at_are_found_where_there_are_some() -> None:
    assert not SMALL.timed
    assert not load_scope("large").timed
    with pytest.raises(Differ):
        SideBySide("deadline", load_scope("default"), NeverDue).run()


def test_the_counts_are_those_of_the_searches() -> None:
    kept = read()
    for scope in ("small", "default"):
        assert {f"{scope} {policy}" for policy in KNOWN_POLICIES} <= set(kept)
    known = {" ".join(name): list(counts) for name, counts in manifest.GROUND_TRUTH.items()}
    for entry in manifest.read():
        if entry["target"] == "model" and not entry["reduce"] and entry["identity"] is None:
            counts = [entry[name] for name in ("distinct_states", "transitions", "depth")]
            known[f"{entry['scope']} {entry['policy']}"] = counts
    common = set(kept) & set(known)
    assert {"default deadline", "default fcfs", "large aging", "small aging"} <= common
    assert {name: kept[name][:3] for name in common} == {name: known[name] for name in common}
