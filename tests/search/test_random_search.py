"""A random search from a seed to a result: repeatable, stoppable, and never saying too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.exhaustive.conftest import LEAKS, MODEL, Edit, planted, starter

from schedproof.claims.catalogue import select
from schedproof.search import random_search
from schedproof.search.pace import Unhurried
from schedproof.search.profiles import PROFILES, Bounds, Profile
from schedproof.search.random_search import search_randomly
from schedproof.search.results import RunResult
from schedproof.subjects.actions import from_json
from schedproof.subjects.contract import Config

SHORT = Profile("short", examples=20, actions=15)
TICK = "        self.clock += 1\n"
CHOOSE = "        chosen, victim = self._choose(candidates)\n"


def search(
    target: type[Any],
    claims: Sequence[str] = (),
    *,
    policy: str = "aging",
    profile: Profile = SHORT,
    seed: int = 0,
    pace: Unhurried | None = None,
    blocks: int = 3,
) -> RunResult:
    start, config = starter(target), Config(policy, blocks)
    bounds = Bounds(blocks=blocks)
    wanted = select(claims)
    return search_randomly(start, config, wanted, bounds, profile, seed, pace or Unhurried())


def timeless(result: RunResult) -> RunResult:
    return replace(result, seconds=0.0)


def test_a_clean_search_found_nothing_and_says_no_more() -> None:
    found = search(MODEL)
    assert (found.verdict, found.identity, found.distinct_states) == (
        "no_violation_found",
        None,
        None,
    )
    assert (found.examples or 0) >= SHORT.examples
    assert found.seed == 0
    assert "holds_within_bounds" not in {claim.verdict for claim in found.claims}
    assert found.transitions >= found.depth > 0


def test_the_profile_for_ci_takes_the_same_runs_every_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ci = PROFILES["ci"]
    assert ci.seed is not None
    short = replace(ci, examples=15)
    one, other = (search(MODEL, profile=short, seed=ci.seed) for _ in range(2))
    assert timeless(one) == timeless(other)
    assert timeless(search(MODEL, profile=short, seed=ci.seed + 1)) != timeless(one)


def test_a_violation_is_shortened_and_told_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_search, "SHRINK_SECONDS", 300.0)  # on a machine however busy
    found = search(planted(LEAKS), seed=5)
    (told,) = found.counterexamples
    assert (found.verdict, found.seed, told.claim) == ("violated", 5, "LEDGER-1")
    assert (told.found_by, told.shortest) == ("random", False)
    assert told.length <= 4
    assert timeless(search(planted(LEAKS), seed=5)) == timeless(found)


def test_every_action_of_a_counterexample_can_be_read_again() -> None:
    (told,) = search(planted(LEAKS)).counterexamples
    assert len([from_json(action) for action in told.actions]) == len(told.trail) == told.length


NEVER_SERVES = (CHOOSE, "        chosen, victim = None, None\n")


def test_a_scheduler_that_serves_nobody_is_not_found_clean() -> None:
    assert search(planted(NEVER_SERVES), ["LEDGER"]).verdict == "vacuous"
    assert search(planted(NEVER_SERVES)).verdict == "violated"


def test_a_search_whose_claims_are_never_exercised_is_vacuous() -> None:
    found = search(MODEL, ["PREEMPT-1"], policy="fcfs")
    assert found.verdict == "vacuous"
    (verdict,) = (claim.verdict for claim in found.claims if claim.id == "PREEMPT-1")
    assert verdict == "not_exercised"


@dataclass
class Impatient(Unhurried):
    """Stops a search after some runs."""

    runs: int = 3
    by: str = "interrupt"

    def progress(self, data: dict[str, Any]) -> None:
        assert data["of"] == SHORT.examples
        self.interrupted = self.by == "interrupt" and data["done"] >= self.runs
        if self.by == "time" and data["done"] >= self.runs:
            self.deadline = 0.0


@pytest.mark.parametrize("by", ["time", "interrupt"])
def test_a_search_that_is_stopped_is_incomplete(by: str) -> None:
    found = search(MODEL, pace=Impatient(by=by))
    assert (found.verdict, found.stopped_by) == ("incomplete", by)
    assert found.interrupted is (by == "interrupt")
    assert 3 <= (found.examples or 0) < SHORT.examples
    assert {"holds_within_bounds"}.isdisjoint(claim.verdict for claim in found.claims)


def test_a_violation_in_hand_is_told_though_the_time_to_shorten_it_is_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(random_search, "SHRINK_SECONDS", -1.0)
    found = search(planted(LEAKS))
    assert (found.verdict, found.counterexamples[0].claim) == ("violated", "LEDGER-1")


FAILS: dict[str, tuple[Edit, str]] = {
    "raises": ((TICK, TICK + "        {}['x']\n"), "raised"),
    "raises MemoryError": ((TICK, TICK + "        raise MemoryError\n"), "memory"),
    "exits": ((TICK, TICK + "        raise SystemExit(3)\n"), "exited"),
    "loses its clock": ((TICK, TICK + "        self.clock = None\n"), "contract"),
    "is open": ((CHOOSE, "        raise NotImplementedError('TODO 3')\n" + CHOOSE), "open_todo"),
}


@pytest.mark.parametrize("how", FAILS)
def test_a_scheduler_that_fails_is_an_error_with_the_actions(how: str) -> None:
    edit, kind = FAILS[how]
    found = search(planted(edit))
    assert found.verdict == "error"
    assert found.trouble is not None
    assert found.trouble.kind == kind
    assert found.trouble.actions[-1] == {"op": "step"}


def test_a_scheduler_that_answers_by_chance_is_an_error() -> None:
    old = "        self.free_kv_blocks += request.required_blocks\n"
    by_chance = planted(
        ("NO_DEADLINE = 1_000_000_000\n", "NO_DEADLINE = 1_000_000_000\nCOUNT = [0]\n"),
        (old, "        COUNT[0] += 1\n        if COUNT[0] % 7:\n    " + old),
    )
    found = search(by_chance)
    assert found.verdict == "error"
    assert found.trouble is not None
    assert found.trouble.kind == "not_deterministic"
    claims = {claim.id: claim.verdict for claim in found.claims}
    assert claims["REPLAY-1"] == "violated"


def test_a_policy_that_is_refused_does_not_apply() -> None:
    found = search(planted(("        self.policy = policy\n", "        raise ValueError('no')\n")))
    assert (found.verdict, found.notes[0][0]) == ("not_applicable", "note.policy_refused")


def test_a_scheduler_that_cannot_be_made_is_an_error() -> None:
    found = search(planted(("        self.policy = policy\n", "        raise KeyError('no')\n")))
    assert (found.verdict, found.trouble and found.trouble.kind) == ("error", "raised")
