"""Who starves under which policy: what was claimed of the chapter's policies, and our answer.

Every configuration is compared with the manifest; what it must show is said here in words.
"""

from __future__ import annotations

import random
from itertools import pairwise, product
from typing import Any

import pytest
from tests.liveness import manifest
from tests.liveness.conftest import ALL, MODEL, OPEN, search, starter, worst

from schedmodel import KNOWN_POLICIES, POLICIES
from schedproof.search.exhaustive.scopes import load_scope
from schedproof.search.exhaustive.starvation import Walk
from schedproof.search.results import RunResult
from schedproof.subjects.actions import Enqueue, Step, from_json
from schedproof.subjects.contract import Config
from schedproof.zoo.plain import PlainScheduler

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

RECORDS = {(r["scope"], r["policy"], r["active"]): r for r in manifest.read()}
CHAPTER = ("fixed_priority", "aging", "deadline")


def name_of(wanted: manifest.Configuration) -> str:
    return "-".join(map(str, wanted))


@pytest.mark.parametrize("wanted", [*manifest.configurations()], ids=name_of)
def test_a_search_comes_to_what_the_manifest_says(wanted: manifest.Configuration) -> None:
    assert manifest.record_of(*wanted) == RECORDS[wanted]


def test_the_manifest_has_each_configuration_once_and_can_be_written_anew(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [*RECORDS] == [*manifest.configurations()]
    before = manifest.PATH.read_text("utf-8")
    records = manifest.read()
    monkeypatch.setattr(manifest, "PATH", tmp_path / "manifest.json")
    manifest.write(records)
    assert manifest.PATH.read_text("utf-8") == before


def starves(scope: str, policy: str, active: int) -> bool:
    return bool(RECORDS[scope, policy, active]["verdict"] == "violated")


def shape(scope: str, policy: str, active: int) -> tuple[Any, ...]:
    record = RECORDS[scope, policy, active]
    return tuple(record[name] for name in ("kind", "stem", "loop", "each"))


def test_aging_does_not_help_against_a_stream_of_cache_hits() -> None:
    """Two active requests are enough: enqueue, step, step, repeat."""
    for policy in CHAPTER:
        assert shape("endless-hits", policy, 2) == ("miss", 2, 3, 2)


def test_a_large_request_starves_behind_small_ones_from_three_active_requests_on() -> None:
    for policy in CHAPTER:
        assert not starves("endless-small", policy, 2)
        assert shape("endless-small", policy, 3) == ("large", 6, 3, 2)


def test_higher_priority_starves_a_lower_one_unless_waiting_counts() -> None:
    for policy in ("fixed_priority", "deadline"):
        assert shape("endless-urgent", policy, 2) == ("patient", 1, 3, 2)
    assert not any(starves("endless-urgent", "aging", active) for active in manifest.SIZES)


def test_first_come_first_served_starves_nobody() -> None:
    """It never starts a second request before the oldest that fits has ended."""
    assert not any(starves(scope, "fcfs", active) for scope, active in product(OPEN, (2, 3)))


def test_reserved_aging_starves_nobody() -> None:
    """Requests that may not be preempted included: it waits until they have ended."""
    for scope, active in product(OPEN, manifest.SIZES):
        assert not starves(scope, "reserved_aging", active)
        assert RECORDS[scope, "reserved_aging", active]["steps"] <= 8


def test_equal_requests_starve_under_no_policy() -> None:
    for policy, active in product(KNOWN_POLICIES, manifest.SIZES):
        assert not starves("endless-equal", policy, active)


def test_alone_nobody_waits() -> None:
    for scope, policy in product(OPEN, KNOWN_POLICIES):
        assert worst(search(scope, policy, active=1))["steps"] == 0


# -- the same with every claim, and from independent code ----------------------


@pytest.mark.parametrize("policy", KNOWN_POLICIES)
@pytest.mark.parametrize("scope", OPEN)
def test_no_other_claim_breaks_on_the_way(scope: str, policy: str) -> None:
    result = search(scope, policy, 2, claims=ALL)
    broken = {claim.id for claim in result.claims if claim.verdict == "violated"}
    assert broken <= {"LIVE-2"}
    assert len([claim for claim in result.claims if claim.exercised]) > 12


def outcome(result: RunResult) -> tuple[Any, ...]:
    examples = [(e.claim, e.actions, e.values) for e in result.counterexamples]
    return result.verdict, result.distinct_states, result.transitions, result.notes, examples


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("scope", OPEN)
def test_a_scheduler_of_another_make_comes_to_the_same(scope: str, policy: str) -> None:
    theirs = search(scope, policy, 2, scheduler=PlainScheduler)
    assert outcome(theirs) == outcome(search(scope, policy, 2))


@pytest.mark.parametrize("policy", ["fcfs", "reserved_aging"])
def test_the_worst_wait_is_that_of_all_runs_of_some_length(policy: str) -> None:
    """Every run of up to eight actions, on schedulers that are never put into a state."""
    scope = load_scope("endless-hits")
    config = Config(policy, scope.blocks, scope.aging_interval)
    codes = range(1 + len(scope.kinds))
    start = starter(MODEL)
    most = 0
    ways: list[tuple[int, ...]] = [()]
    for _ in range(8):
        following = []
        for way, code in product(ways, codes):
            walk = Walk(start(config), scope)
            walk.take((*way, code))
            active = len(walk.unfinished())
            if active <= 2 and (active or code == 0) and (way or code):
                most = max(most, *(walk.waits[row.request_id] for row in walk.unfinished()), 0)
                following.append((*way, code))
        ways = following[:400]
    assert most == worst(search(scope, policy, 2))["steps"]


@pytest.mark.parametrize("scope_name", OPEN)
def test_nobody_waits_longer_in_a_long_run(scope_name: str) -> None:
    scope = load_scope(scope_name).resized(3, None)
    limit = RECORDS[scope_name, "reserved_aging", 3]["steps"]
    config = Config("reserved_aging", scope.blocks, scope.aging_interval)
    chance = random.Random(scope_name)
    for _ in range(3):
        walk = Walk(starter(MODEL)(config), scope)
        for _ in range(200):
            code = chance.randrange(1 + len(scope.kinds)) if len(walk.unfinished()) < 3 else 0
            walk.take((code,))
            assert (
                max((walk.waits[row.request_id] for row in walk.unfinished()), default=0) <= limit
            )


# -- what is handed on ----------------------------------------------------------


def test_a_lasso_is_real_actions_and_its_wait_grows_by_the_same_each_round() -> None:
    result = search("endless-small", "aging", 3, claims=ALL)
    (example,) = result.counterexamples
    assert (example.claim, example.text, example.before) == ("LIVE-2", "LIVE-2", None)
    stem, loop, waits = (example.values[name] for name in ("stem", "loop", "waits"))
    assert example.length == stem + 20 * loop
    assert len(waits) == example.values["rounds"] == 20
    assert {late - early for early, late in pairwise(waits)} == {2}
    sim = MODEL("aging", 2, 2)
    for action in map(from_json, example.actions):
        if isinstance(action, Enqueue):
            sim.enqueue(**action.arguments())
        else:
            assert isinstance(action, Step)
            assert sim.step()
    large = next(r for r in sim.queue if r.request_id == example.values["request"])
    assert (large.status, large.wait_steps) == ("waiting", waits[-1])


def test_the_worst_wait_comes_with_its_actions() -> None:
    values = worst(search("endless-urgent", "aging", 2, claims=ALL))
    assert values["way"].split()[0] == "+patient"
    sim = MODEL("aging", 1, 2)
    waited = 0
    for action in values["actions"]:
        if action["op"] == "enqueue":
            sim.enqueue(**action["args"])
        else:
            event = sim.step()
            assert event is not None
            waited = 0 if event["request_id"] == values["request"] else waited + 1
    assert waited == values["steps"] == 7


def test_a_clean_verdict_says_what_was_searched() -> None:
    result = search("endless-equal", "aging", 2, claims=ALL)
    assert (result.search, result.identity, result.restore) == ("exhaustive", "endless", "in_place")
    assert result.bounds["arrivals"] == "open"
    assert result.bounds["active"] == 2
    told = {claim.id: claim for claim in result.claims}
    assert told["LIVE-2"].verdict == "no_violation_reduced"
    assert told["LIVE-2"].exercised > 100
    assert "LIVE-1" not in told
