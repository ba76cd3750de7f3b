"""How a search ends: at the first violation, at all shortest, at each claim's, or stopped.

What was found or counted up to then is told in any case, and nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.exhaustive.conftest import (
    LEAKS,
    MODEL,
    PINNED,
    ZEROES,
    Edit,
    counts,
    lengths,
    planted,
    search,
    slots,
)

import schedproof
from schedproof.search.exhaustive import bfs
from schedproof.search.exhaustive.scopes import load_scope
from schedproof.search.pace import Unhurried
from schedproof.zoo.plain import PlainScheduler

TWO = slots("small", 2)
POLICY = "        self.policy = policy\n"


def told(found: Any) -> list[tuple[str, int]]:
    return [(each.claim, each.length) for each in found.counterexamples]


def test_all_of_the_shortest_are_found() -> None:
    first = search(planted(LEAKS), TWO)
    found = search(planted(LEAKS), TWO, all_shortest=True)
    assert lengths(first) == [3]
    assert set(lengths(found)) == {3}
    assert found.counterexamples[0] == first.counterexamples[0]
    actions = [each.actions for each in found.counterexamples]
    kinds_with_one_token, requests = 2, len(TWO.slots)
    assert len(actions) == kinds_with_one_token * requests
    assert all(actions.count(each) == 1 for each in actions)
    assert all(each.shortest for each in found.counterexamples)
    assert found.notes == first.notes


def test_no_more_than_some_are_kept_of_the_shortest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bfs, "HITS_MAX", 2)
    assert lengths(search(planted(LEAKS), TWO, all_shortest=True)) == [3, 3]


def test_a_search_that_keeps_going_finds_a_shortest_one_for_each_claim() -> None:
    found = search(planted(LEAKS, PINNED, ZEROES), TWO, keep_going=True)
    lengths_of = dict(told(found))
    assert len(lengths_of) == len(found.counterexamples)
    assert lengths_of["LEDGER-1"] == 3
    assert lengths_of["VICTIM-2"] == 4
    assert lengths_of["PROGRESS-2"] == 5
    assert lengths(found) == sorted(lengths(found))
    for edit, claim in ((LEAKS, "LEDGER-1"), (PINNED, "VICTIM-2"), (ZEROES, "PROGRESS-2")):
        alone = search(planted(edit), TWO, claims=(claim,))
        assert told(alone) == [(claim, lengths_of[claim])]


def test_a_search_that_keeps_going_certifies_the_first_length_only() -> None:
    first = search(planted(LEAKS), TWO)
    found = search(planted(LEAKS), TWO, keep_going=True)
    assert (found.distinct_states or 0) > (first.distinct_states or 0)
    assert found.notes == first.notes


def test_a_search_that_keeps_going_goes_through_all_states() -> None:
    found = search(planted(PINNED), TWO, keep_going=True)
    assert found.depth > max(lengths(found))
    assert found.stopped_by is None


# Stopped.


@dataclass
class Impatient(Unhurried):
    """Stops a search when it has been told of its progress so often."""

    looks: int = 1
    by: str = "interrupt"

    def progress(self, data: dict[str, Any]) -> None:
        assert data["policy"] == "fixed_priority"
        assert data["done"] >= data["depth"]
        self.looks -= 1
        if self.looks == 0:
            self.interrupted = self.by == "interrupt"
            self.deadline = 0.0 if self.by == "time" else self.deadline


@pytest.fixture
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bfs, "LOOK_EVERY", 64)


@pytest.mark.usefixtures("looks_often")
@pytest.mark.parametrize("by", ["time", "interrupt"])
@pytest.mark.parametrize("looks", [1, 3])
def test_a_search_that_is_stopped_is_incomplete_and_tells_what_it_knows(
    by: str, looks: int
) -> None:
    found = search(MODEL, "small", pace=Impatient(looks=looks, by=by))
    assert (found.verdict, found.stopped_by) == ("incomplete", by)
    assert found.interrupted is (by == "interrupt")
    if looks == 1:
        assert counts(found) == (1, 0, 0)
    else:
        assert 64 < (found.distinct_states or 0) < 7_321
        assert found.depth == 3
    verdicts = {claim.id: claim.verdict for claim in found.claims}
    assert "holds_within_bounds" not in verdicts.values()
    assert verdicts["LEDGER-1"] == ("not_exercised" if looks == 1 else "no_violation_found")


def test_a_search_that_needs_too_much_memory_is_incomplete() -> None:
    found = search(MODEL, "small", memory_mib=1.0)
    assert (found.verdict, found.stopped_by, found.interrupted) == ("incomplete", "memory", False)
    assert search(MODEL, TWO, memory_mib=1e9).verdict == "holds_within_bounds"


@pytest.mark.usefixtures("looks_often")
def test_a_gate_that_is_stopped_says_nothing_of_the_reduction() -> None:
    found = search(MODEL, "small", reduce=("ids",), pace=Impatient(looks=2))
    assert (found.verdict, found.stopped_by, found.notes) == ("incomplete", "interrupt", ())


@dataclass
class LateOnce(Unhurried):
    """In time until the exact search after a reduced one begins."""

    starts: int = 0

    def progress(self, data: dict[str, Any]) -> None:
        self.starts += data["done"] == 1
        if self.starts == 3:  # the gate's, the reduced one's, the exact one's
            self.deadline = 0.0


def test_a_violation_under_a_reduction_is_told_though_no_time_is_left_to_shorten_it() -> None:
    found = search(
        planted(LEAKS), TWO, claims=("LEDGER",), reduce=("preemptions",), pace=LateOnce()
    )
    assert (found.verdict, told(found)) == ("violated", [("LEDGER-1", 3)])
    assert not found.counterexamples[0].shortest
    assert [message for message, _ in found.notes] == ["note.gate_passed"]
    assert found.identity == "full-preemptions"


# Calls that must be refused.

ID_CHECK = "        if any(request.request_id == request_id for request in self.queue):\n"
TOO_SHORT = "        if max_new_tokens < 1:\n"
REFUSES = '            raise ValueError(f"prompt_len must be at least 1, got {prompt_len!r}")\n'


def only(which: str) -> Edit:
    """Ids count as used only while this holds for their request."""
    end = " for request in self.queue):\n"
    return ID_CHECK, ID_CHECK.replace(end, f" and {which}{end}")


PROBED: dict[str, tuple[Edit, str, int, str]] = {
    "a finished id is taken again": (only("not request.done"), "INPUT-2", 4, "request_id"),
    "a live id is taken again": (only("request.done"), "INPUT-2", 2, "request_id"),
    "a size of zero is accepted": (
        (TOO_SHORT, TOO_SHORT.replace("1", "0")),
        "INPUT-2",
        1,
        "max_new_tokens",
    ),
    "a late deadline is accepted": (
        ("deadline_step <= self.clock:", "deadline_step < self.clock:"),
        "INPUT-2",
        1,
        "deadline_step",
    ),
    "a refusal counts": (
        (REFUSES, "            self.clock += 1\n" + REFUSES),
        "INPUT-1",
        1,
        "prompt_len",
    ),
}


@pytest.mark.parametrize("fault", PROBED)
def test_calls_that_must_be_refused_are_tried_in_every_state(fault: str) -> None:
    edit, claim, length, name = PROBED[fault]
    found = search(planted(edit), TWO)
    assert told(found) == [(claim, length)]
    (counterexample,) = found.counterexamples
    assert counterexample.shortest
    last = counterexample.actions[-1]
    assert last["op"] == "enqueue"
    right = {"prompt_len": 1, "max_new_tokens": 2, "deadline_step": None}
    assert last["args"][name] != right.get(name, len(TWO.slots))


@pytest.mark.parametrize("fault", PROBED)
def test_refusals_are_nobodys_business_where_no_claim_asks_for_them(fault: str) -> None:
    edit, claim, _, _ = PROBED[fault]
    broken = planted(edit)
    quiet = search(broken, slots("small", 1), claims=("LIFE", "LEDGER"))
    assert quiet.verdict == "holds_within_bounds"
    other = "INPUT-1" if claim == "INPUT-2" else "INPUT-2"
    assert search(broken, TWO, claims=(claim,)).verdict == "violated"
    assert search(broken, slots("small", 1), claims=(other,)).trouble is None


def test_refused_calls_add_no_state_and_no_transition() -> None:
    with_probes, without = (search(PlainScheduler, TWO, claims=c) for c in ((), ("LEDGER",)))
    assert counts(with_probes) == counts(without)
    exercised = {claim.id: claim.exercised for claim in with_probes.claims}
    assert exercised["INPUT-1"] > with_probes.transitions


def test_refused_calls_are_tried_once_for_each_situation_of_a_large_space(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    everywhere = search(PlainScheduler, TWO)
    monkeypatch.setattr(bfs, "PROBED_ALL", 100)
    found = search(PlainScheduler, TWO)
    verdicts = {claim.id: claim.verdict for claim in found.claims}
    assert verdicts["INPUT-1"] == verdicts["INPUT-2"] == "no_violation_reduced"
    assert verdicts["LEDGER-1"] == found.verdict == "holds_within_bounds"
    tried = [
        {claim.id: claim.exercised for claim in each.claims}["INPUT-1"]
        for each in (everywhere, found)
    ]
    assert tried[1] < tried[0]
    edit, claim, length, _ = PROBED["a finished id is taken again"]
    monkeypatch.setattr(bfs, "PROBED_ALL", 0)
    late = search(planted(edit), TWO)
    assert told(late) == [(claim, length)]
    assert not late.counterexamples[0].shortest


# Keys.


def test_the_order_of_arrival_is_state_under_fcfs_only() -> None:
    for target in (MODEL, PlainScheduler):
        fcfs = search(target, TWO, "fcfs", identity="peer")
        assert fcfs.identity == "full"
        assert fcfs.verdict == "holds_within_bounds"
        full = search(target, TWO, "fcfs", identity="full")
        assert counts(fcfs) == counts(full)
        aging = search(target, TWO, "aging", identity="peer")
        assert aging.identity == "peer"
        assert (aging.distinct_states or 0) < (full.distinct_states or 0)


def test_who_came_first_is_seen_in_both_orders_under_fcfs() -> None:
    last_first = planted(
        (
            "            return (self.queue.index(request),)\n",
            "            return (-self.queue.index(request),)\n",
        )
    )
    found = search(last_first, TWO, "fcfs", identity="peer")
    assert told(found) == [("ORDER-1", 3)]


def test_a_policy_that_is_refused_is_not_applicable() -> None:
    found = search(
        planted(("        self.policy = policy\n", "        raise ValueError('no')\n")), TWO
    )
    assert (found.verdict, found.notes[0][0]) == ("not_applicable", "note.policy_refused")


def test_a_scheduler_that_cannot_be_made_is_an_error() -> None:
    found = search(
        planted(("        self.policy = policy\n", "        raise KeyError('no')\n")), TWO
    )
    assert found.verdict == "error"
    assert found.trouble is not None
    assert found.trouble.kind == "raised"


def test_where_it_raises_is_told_with_the_actions() -> None:
    broken = planted(("        if victim is not None:\n            self._preempt(victim)\n",
                      "        if victim is not None:\n            {}['x']\n"))  # fmt: skip
    found = search(broken, load_scope("small"))
    assert found.trouble is not None
    assert found.trouble.kind == "raised"
    assert [action["op"] for action in found.trouble.actions].count("enqueue") == 2
    assert found.trouble.actions[-1] == {"op": "step"}


def test_a_slow_scheduler_is_stopped_in_time_and_not_called_hung(tmp_path: Path) -> None:
    path = tmp_path / "slow.py"
    path.write_text(
        "import time\n"
        "from schedproof.zoo.plain import PlainScheduler\n\n"
        "class Slow(PlainScheduler):\n"
        "    def step(self):\n"
        "        time.sleep(0.2)\n"
        "        return super().step()\n"
    )
    result = schedproof.check(f"{path}:Slow", policy="aging", time="2s")
    assert (result.verdict, result.runs[0].stopped_by) == ("incomplete", "time")
