"""Every fault is killed, by the claim and the number of actions that the zoo says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.zoo import manifest, random_search
from tests.zoo.conftest import nobody_listens

import schedproof
from schedproof import hunt as hunting
from schedproof.claims.catalogue import CLAIMS
from schedproof.claims.claim import Kind
from schedproof.hunt import hunt, plan_of, prey_of
from schedproof.search.policy_runs import run_plan
from schedproof.zoo.all_faults import ALL_FAULTS
from schedproof.zoo.chapter_faults import BY_NAME, CHAPTER_FAULTS
from schedproof.zoo.faults import CHAPTER, Fault, Kill
from schedproof.zoo.hunted import Fate, Hunted, all_killed
from schedproof.zoo.plain import POLICIES

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

ROOT = Path(__file__).resolve().parents[2]
REAL = [claim.id for claim in CLAIMS if claim.kind is not Kind.SOMETIMES]


def made_up(**fields: object) -> Hunted:
    usual = {
        "fault": "f",
        "policy": "aging",
        "expected": Kill("ORDER-1", 3),
        "verdict": "violated",
        "claim": "ORDER-1",
        "length": 3,
        "also_broken": (),
        "shortest": True,
        "transitions": 9,
        "seconds": 0.1,
    }
    return Hunted(**{**usual, **fields})  # type: ignore[arg-type]


def test_every_fault_is_killed_as_the_zoo_says(hunted: list[Hunted]) -> None:
    assert [one.to_json() for one in hunted if one.fate is not Fate.KILLED] == []
    assert len(hunted) == len(CHAPTER_FAULTS)
    assert all_killed(hunted)


def test_a_length_is_proved_to_be_the_least_or_not_claimed(hunted: list[Hunted]) -> None:
    for one in hunted:
        assert one.shortest == (one.expected.length is not None and one.claim != "raised")


def test_the_manifest_says_what_a_hunt_finds_today(hunted: list[Hunted]) -> None:
    first = {(fault.name, fault.policies[0]) for fault in CHAPTER_FAULTS}
    recorded = [r for r in manifest.read() if (r["fault"], r["policy"]) in first]
    assert [manifest.record_of(one) for one in hunted] == recorded


def test_the_manifest_has_every_fault_under_every_policy_that_it_shows_under() -> None:
    pairs = [(fault.name, policy) for fault, policy in prey_of(CHAPTER_FAULTS, POLICIES)]
    assert [(record["fault"], record["policy"]) for record in manifest.read()] == pairs
    for record in manifest.read():
        kill = BY_NAME[record["fault"]].kill(record["policy"])
        assert kill == (record["claim"], record["length"])


@pytest.mark.parametrize("document", ["faults.md", "faults.zh.md"])
def test_every_claim_is_told_first_for_a_fault_or_the_documents_say_why_not(document: str) -> None:
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    explained = re.findall(r"^\| ([A-Z]+-\d+) \|", text, re.MULTILINE)
    manifests = (manifest.PATH, manifest.BATCH_PATH, manifest.PAGED_PATH)
    told = {record["claim"] for path in manifests for record in manifest.read(path)}
    assert {claim for claim in REAL if claim not in told} == set(explained)


@pytest.mark.parametrize(
    ("claim", "fault"),
    [
        ("STALL-1", "head-of-line-blocks"),
        ("LIVE-1", "head-of-line-blocks"),
        ("ORDER-2", "arrival-breaks-ties"),
    ],
)
def test_what_is_never_told_first_is_told_when_it_is_asked_for_alone(
    claim: str, fault: str
) -> None:
    found = schedproof.check(f"fault:{fault}", claims=claim, policy="fixed_priority", time="5m")
    assert found.first is not None
    assert found.first.claim == claim


@pytest.mark.parametrize("name", ["finish-keeps-blocks", "empty-step-raises"])
def test_a_hunt_finds_what_check_finds(name: str, hunted: list[Hunted], tmp_path: Path) -> None:
    fault = BY_NAME[name]
    (run,) = run_plan(plan_of(fault, "fixed_priority"), lambda _data: None)
    (one,) = [one for one in hunted if one.fault == name]
    checked = schedproof.check(f"fault:{name.upper()}", policy="fixed_priority", time="5m")
    assert checked.summary.subject == f"fault:{name}"
    assert checked.verdict == run.verdict == one.verdict
    assert [c.claim for c in checked.counterexamples] == [c.claim for c in run.counterexamples]


def test_a_crash_is_a_kill_only_where_the_fault_is_one(hunted: list[Hunted]) -> None:
    (crash,) = [one for one in hunted if one.verdict == "error"]
    assert (crash.fault, crash.claim) == ("empty-step-raises", "raised")
    assert made_up(verdict="error", claim="raised").fate is Fate.KILLED_OTHERWISE


def test_what_crashes_is_told_with_the_line_of_the_scheduler() -> None:
    trouble = schedproof.check("fault:empty-step-raises", policy="aging").runs[0].trouble
    assert trouble is not None
    assert trouble.place is not None
    assert any("assert chosen is not None" in text for _, text in trouble.place["lines"])


@pytest.mark.parametrize(
    ("fields", "fate"),
    [
        ({}, Fate.KILLED),
        ({"length": 4}, Fate.KILLED_OTHERWISE),
        ({"claim": "WORK-1"}, Fate.KILLED_OTHERWISE),
        ({"claim": None, "length": None, "verdict": "holds_within_bounds"}, Fate.SURVIVED),
        ({"claim": None, "length": None, "verdict": "incomplete"}, Fate.STOPPED),
        ({"expected": Kill("ORDER-1", None), "length": 12}, Fate.KILLED),
    ],
)
def test_fates(fields: dict[str, object], fate: Fate) -> None:
    assert made_up(**fields).fate is fate
    assert all_killed([made_up(**fields)]) == (fate is Fate.KILLED)


def test_a_change_that_breaks_nothing_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(hunting.USUAL, CHAPTER, "small")
    harmless = Fault(
        "harmless", "order", "ORDER-1", 3, "NO_DEADLINE = 1_000_000_000", "NO_DEADLINE = 10**9"
    )
    (one,) = hunt(prey_of([harmless]), nobody_listens)
    assert (one.fate, one.claim) == (Fate.SURVIVED, None)


def test_prey_is_every_fault_under_the_policies_that_are_asked_for() -> None:
    faults = [BY_NAME["finish-keeps-blocks"], BY_NAME["slack-ignores-progress"]]
    assert [policy for _, policy in prey_of(faults)] == ["fixed_priority", "deadline"]
    assert [policy for _, policy in prey_of(faults, ("aging", "fcfs"))] == ["aging", "fcfs"]


def test_the_random_search_was_measured_on_every_fault() -> None:
    figures = random_search.read()
    faults = {fault.name: fault for fault in ALL_FAULTS}
    assert [record["fault"] for record in figures["faults"]] == list(faults)
    for record in figures["faults"]:
        fault = faults[record["fault"]]
        assert record["policy"] == fault.policies[0]
        assert 0 <= record["found"] <= figures["seeds"] == 20
        assert (record["least"] is None) == (record["found"] == 0)
