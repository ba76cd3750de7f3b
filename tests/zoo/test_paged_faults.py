"""The faults of the paged scheduler: one change each, told plainly, killed as they say."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.zoo import manifest
from tests.zoo.test_faults import SCREEN_LINES

import schedproof
from schedmodel.batch import BATCH_POLICIES
from schedproof.claims.catalogue import BY_ID, select
from schedproof.hunt import plan_of, prey_of
from schedproof.search.exhaustive.batch_exhaustive import search_batches
from schedproof.search.exhaustive.paged_search import PagedSearch
from schedproof.search.pace import Unhurried
from schedproof.search.results import RunResult
from schedproof.telling.language import LANGUAGES
from schedproof.telling.layout import width_of
from schedproof.telling.messages import catalogue
from schedproof.telling.story import story_of
from schedproof.telling.text import story_text
from schedproof.zoo.faults import OF_PAGED, PAGED_FAMILIES, Fault, apply, change, text_without
from schedproof.zoo.paged_faults import PAGED_FAULTS

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

EIGHT = "KV-1 LEDGER-4 BATCH-1 OUTPUT-1 STALL-1 REJECT-1 FAIR-1 ABORT-1".split()
NEW = "FLIGHT-1 ADMIT-1 COUNT-1 VICTIM-7".split()
SHORT = 6
QUICK = [fault for fault in PAGED_FAULTS if (fault.length or 0) <= SHORT]
"""Those that are found soon; `slow_hunts.py` looks for all of them."""
each_fault = pytest.mark.parametrize("fault", PAGED_FAULTS, ids=lambda fault: fault.name)
each_quick_one = pytest.mark.parametrize("fault", QUICK, ids=lambda fault: fault.name)


def searched(fault: Fault) -> RunResult:
    """What `check fault:NAME` does under its first policy, in this process."""
    plan = plan_of(fault, fault.policies[0])
    loaded = plan.source.load(lambda _part: None)
    first = loaded.subject(loaded.make, plan.config(plan.searches[0], fault.policies[0]))
    return search_batches(
        lambda _config: first.fresh(),
        first.config,
        select(()),
        plan.asked,
        Unhurried(),
        PagedSearch,
    )


@pytest.fixture(scope="session")
def results() -> dict[str, RunResult]:
    """The search for every quick one."""
    return {fault.name: searched(fault) for fault in QUICK}


@each_fault
def test_a_fault_is_one_change_that_fits_a_screen(fault: Fault) -> None:
    assert text_without(fault).count(fault.old) == 1
    assert apply(fault) != text_without(fault)
    lines = change(fault)
    assert len(lines) <= SCREEN_LINES
    assert sum(line.startswith("@@") for line in lines) == 1
    assert max(map(len, lines)) <= 101


@each_fault
def test_a_fault_names_what_exists(fault: Fault) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", fault.name)
    assert fault.family in PAGED_FAMILIES
    assert fault.level in OF_PAGED
    assert set(fault.policies) <= set(BATCH_POLICIES)
    assert fault.claim in BY_ID
    assert not fault.report or re.fullmatch(r"[\w-]+/[\w.-]+#\d+", fault.report)


@pytest.mark.parametrize("language", LANGUAGES)
@each_fault
def test_a_fault_is_told_in_a_few_sentences(fault: Fault, language: str) -> None:
    texts = catalogue(language)
    assert not texts[f"fault.{fault.name}.title"].endswith((".", "。"))
    sentences = re.findall(r"[.。?!？！](?:\s|$|(?=[^\s]))", texts[f"fault.{fault.name}.story"])
    assert 1 <= len(sentences) <= 3
    assert bool(fault.report) == (f"fault.{fault.name}.report" in texts)


def test_enough_faults_were_reported_and_all_claims_of_the_paged_one_are_told() -> None:
    assert sum(bool(fault.report) for fault in PAGED_FAULTS) >= 15
    assert {*EIGHT, *NEW} <= {fault.claim for fault in PAGED_FAULTS}
    assert len({fault.name for fault in PAGED_FAULTS}) == len(PAGED_FAULTS) >= 30


@each_quick_one
def test_a_fault_is_killed_by_the_claim_and_the_length_that_it_names(
    fault: Fault, results: dict[str, RunResult]
) -> None:
    (found,) = results[fault.name].counterexamples
    assert (found.claim, found.length, found.shortest) == (fault.claim, fault.length, True)


def test_the_manifest_says_what_is_found_today(results: dict[str, RunResult]) -> None:
    records = manifest.read(manifest.PAGED_PATH)
    pairs = [(fault.name, policy) for fault, policy in prey_of(PAGED_FAULTS, BATCH_POLICIES)]
    assert [(record["fault"], record["policy"]) for record in records] == pairs
    of_first = {(r["fault"], r["policy"]): r for r in records}
    for fault in PAGED_FAULTS:
        record = of_first[fault.name, fault.policies[0]]
        assert (record["claim"], record["length"]) == (fault.claim, fault.length)
        if fault in QUICK:
            (found,) = results[fault.name].counterexamples
            assert record["also_broken"] == list(found.also_broken)


@pytest.mark.parametrize("language", LANGUAGES)
@each_quick_one
def test_its_story_fits_a_terminal(
    fault: Fault, language: str, results: dict[str, RunResult]
) -> None:
    (found,) = results[fault.name].counterexamples
    text = story_text(story_of(found, language, results[fault.name]))
    assert [line for line in text.splitlines() if width_of(line) > 80] == []
    assert RunResult.from_json(results[fault.name].to_json()) == results[fault.name]


def story(name: str, results: dict[str, RunResult], language: str) -> str:
    (found,) = results[name].counterexamples
    return story_text(story_of(found, language, results[name]))


def test_a_story_tells_steps_in_flight_and_ids_that_are_used_again(
    results: dict[str, RunResult],
) -> None:
    told = story("result-booked-by-id", results, "en")
    assert "under the id of r0" in told
    assert re.search(r"in flight +\(r0 0–[01]\) +\(r1 0–[01]\)", told)
    assert "用 r0 的 id" in story("result-booked-by-id", results, "zh")
    told = story("token-taken-by-its-place-in-the-step", results, "en")
    assert re.search(r"deliver +r0 gets token 1; r1 gets token 1", told)


def test_a_hunt_finds_what_check_finds() -> None:
    checked: Any = schedproof.check(
        "fault:ABORT-in-flight-is-forgotten", policy="fcfs", time="5m", no_save=True
    )
    assert (checked.first.claim, checked.first.length) == ("ABORT-1", 3)
    assert checked.runs[0].bounds["in_flight"] == 2
    assert "scope paged-default" in checked.explain("en")
