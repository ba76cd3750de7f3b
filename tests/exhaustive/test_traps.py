"""A reduction hides faults from a search; what we say must not be fooled by it.

A key that is exact for the right scheduler may be unsound for a broken one. The gate finds
many of these, not all, so a reduced search never says that a claim holds.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.exhaustive.conftest import (
    BOTH,
    LEAKS,
    MODEL,
    SECOND,
    ZEROES,
    config_of,
    lengths,
    planted,
    search,
    slots,
    starter,
)

from schedproof.claims.catalogue import applicable, select
from schedproof.claims.judge import Judge
from schedproof.search.exhaustive import gate
from schedproof.search.exhaustive.bfs import Outcome, Search
from schedproof.search.exhaustive.identity import reduced_key
from schedproof.search.exhaustive.in_place import InPlace
from schedproof.search.exhaustive.names import ARRIVALS, REDUCTIONS
from schedproof.search.exhaustive.scopes import Kind, Scope, load_scope
from schedproof.search.pace import Unhurried
from schedproof.subjects.chapter import ChapterSubject
from schedproof.zoo.plain import PlainScheduler

FORGETFUL = ("clock", "preemptions")
HIT = Kind("hit", prompt_len=2, max_new_tokens=1, required_blocks=1, cache_hit=True)
MISS = replace(HIT, name="miss", cache_hit=False)
FOUR = Scope("four", 3, 2, (MISS, HIT), ((MISS, HIT), (HIT,), (HIT,), (MISS,)))


def ungated(subject: ChapterSubject, scope: Scope, reduce: tuple[str, ...]) -> Outcome:
    """A search under a reduced key as anybody would write it: no gate, no second try."""
    judge = Judge(applicable(select(()), subject))
    key = reduced_key(scope, frozenset(reduce))
    space = InPlace(subject, by_id=True)
    return Search(space, scope, subject.config, judge, Unhurried(), key_of=key).run()


@pytest.mark.unmeasured
@pytest.mark.parametrize("policy", BOTH)
def test_a_search_without_a_gate_calls_the_second_leak_fine(policy: str) -> None:
    scope = load_scope("small")
    broken = planted(SECOND)
    fooled = ungated(starter(broken)(config_of(scope, policy)), scope, FORGETFUL)
    assert fooled.complete
    assert fooled.hits == []
    found = search(broken, scope, policy, identity="peer", reduce=FORGETFUL)
    assert (found.verdict, lengths(found)) == ("violated", [8])
    assert found.counterexamples[0].shortest


def after_hits(count: int) -> type:
    """Returns no blocks once so many cache hits have finished, none of which ever waited."""
    old = "        self.free_kv_blocks += request.required_blocks\n"
    hits = (
        "sum(r.cache_hit and r.done and not r.wait_steps for r in self.queue if r is not request)"
    )
    return planted((old, f"        if {hits} < {count}:\n    {old}"))


@pytest.mark.unmeasured
def test_a_fault_that_passes_the_gate_is_not_said_to_be_absent() -> None:
    found = search(after_hits(3), FOUR, reduce=("finished",))
    assert found.notes == (("note.gate_passed", {"reduction": "finished", "slots": 3}),)
    assert found.counterexamples == ()
    assert found.verdict == "no_violation_reduced"
    assert "holds_within_bounds" not in {claim.verdict for claim in found.claims}


@pytest.mark.unmeasured
def test_the_full_key_finds_what_passed_the_gate() -> None:
    found = search(after_hits(3), FOUR)
    assert (found.verdict, lengths(found)) == ("violated", [12])


@pytest.mark.unmeasured
@pytest.mark.parametrize("reduction", ["finished", "ids"])
def test_where_the_gate_fails_all_states_are_told_apart(reduction: str) -> None:
    found = search(after_hits(1), FOUR, reduce=(reduction,))
    assert found.notes[0] == ("note.gate_failed", {"reduction": reduction, "slots": 3})
    assert (found.identity, found.verdict, lengths(found)) == ("full", "violated", [6])
    blind = search(after_hits(1), FOUR, claims=("LIFE-2",), reduce=(reduction,))
    assert (blind.identity, blind.verdict) == ("full", "holds_within_bounds")


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_violation_under_a_reduction_ends_as_the_exact_shortest(reduction: str) -> None:
    found = search(planted(ZEROES), slots("small", 2), "aging", reduce=(reduction,))
    assert (found.verdict, lengths(found), found.identity) == ("violated", [5], "full")
    assert found.counterexamples[0].shortest
    assert [message for message, _ in found.notes][-1] == "note.certificate"


@pytest.mark.parametrize("reduction", [name for name in REDUCTIONS if name != ARRIVALS])
def test_reductions_of_the_key_pass_the_gate_on_the_model(reduction: str) -> None:
    found = search(MODEL, slots("small", 2), reduce=(reduction,))
    assert [message for message, _ in found.notes] == ["note.gate_passed"]
    assert found.verdict == "no_violation_reduced"
    assert found.identity == f"peer-{reduction}"


@pytest.mark.unmeasured
def test_arrival_in_the_order_of_ids_leaves_out_states_of_three_requests() -> None:
    """Ids decide between equals, so who comes later may go first only with a smaller id."""
    found = search(MODEL, slots("small", 3), reduce=(ARRIVALS,))
    assert found.notes == (("note.gate_failed", {"reduction": ARRIVALS, "slots": 3}),)
    assert (found.identity, found.verdict) == ("peer", "holds_within_bounds")
    first_come = search(MODEL, slots("small", 3), "fcfs", reduce=(ARRIVALS,))
    assert (first_come.notes[0][0], first_come.verdict) == (
        "note.gate_passed",
        "no_violation_reduced",
    )
    two = search(MODEL, slots("small", 2), reduce=(ARRIVALS,))
    assert (two.notes[0][0], two.verdict) == ("note.gate_passed", "no_violation_reduced")


@pytest.mark.parametrize(("scope", "count"), [("large", 4), ("medium", 3), ("small", 3)])
def test_the_gate_looks_at_one_slot_fewer_but_three_at_least(scope: str, count: int) -> None:
    whole = load_scope(scope)
    assert gate.smaller(whole).slots == whole.slots[:count]


@pytest.mark.unmeasured
def test_arrival_in_the_order_of_ids_fails_where_ids_matter() -> None:
    by_id = planted(
        (
            "        if prompt_len < 1:\n",
            "        if request_id == 0 and self.queue:\n"
            "            required_blocks = 1\n"
            "        if prompt_len < 1:\n",
        )
    )
    scope = slots("small", 3)
    found = search(by_id, scope, claims=("LEDGER",), reduce=("arrivals",))
    assert [message for message, _ in found.notes] == ["note.gate_failed"]


def test_requests_in_a_list_attribute_do_not_stop_the_gate() -> None:
    listing = planted(
        (
            "        self.clock = 0\n",
            "        self.clock = 0\n        self.served: list[int] = []\n",
        ),
        (
            "        self.clock += 1\n",
            "        self.clock += 1\n        self.served.append(chosen.request_id)\n",
        ),
        LEAKS,
    )
    found = search(listing, slots("small", 2), reduce=("finished",))
    assert (found.verdict, lengths(found), found.restore) == ("violated", [3], "copy")


def test_the_plain_scheduler_is_never_said_to_hold_under_the_peer_key() -> None:
    found = search(PlainScheduler, slots("small", 2), identity="peer")
    assert found.verdict == "no_violation_reduced"
    assert search(MODEL, slots("small", 2), identity="peer").verdict == "holds_within_bounds"
