"""The faults of batches: one change each, told plainly, and killed by the claim they name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.zoo import manifest
from tests.zoo.test_faults import SCREEN_LINES

import schedproof
from schedmodel.batch import BATCH_POLICIES
from schedproof.claims.catalogue import BY_ID, select
from schedproof.hunt import plan_of, prey_of
from schedproof.search.exhaustive.batch_exhaustive import search_batches
from schedproof.search.results import RunResult
from schedproof.settings import UsageError
from schedproof.subjects.batch import BatchSubject
from schedproof.subjects.contract import Config
from schedproof.telling.language import LANGUAGES
from schedproof.telling.layout import width_of
from schedproof.telling.messages import catalogue
from schedproof.telling.story import story_of
from schedproof.telling.text import story_text
from schedproof.zoo.batch_faults import BATCH_FAULTS
from schedproof.zoo.chapter_faults import BY_NAME as OF_THE_CHAPTER
from schedproof.zoo.faults import BATCH, BATCH_FAMILIES, Fault, apply, batch_text, change
from schedproof.zoo.hunted import Fate, Hunted
from schedproof.zoo.loading import source_of_fault

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

SEVEN = "LEDGER-4 VICTIM-7 BATCH-1 STALL-1 REJECT-1 FAIR-1 ABORT-1".split()
each_fault = pytest.mark.parametrize("fault", BATCH_FAULTS, ids=lambda fault: fault.name)


class Patient:
    """A pace without end."""

    interrupted, deadline = False, float("inf")
    action = 0

    def progress(self, _data: dict[str, Any]) -> None:
        """Nobody listens."""

    def begin(self, _part: str) -> None:
        """Nobody listens."""


def searched(fault: Fault, policy: str) -> RunResult:
    """What `check fault:NAME` does, in this process."""
    plan = plan_of(fault, policy)
    loaded = plan.source.load(lambda _part: None)

    def start(config: Config) -> BatchSubject:
        return BatchSubject(loaded.make, config, loaded.strict_types)

    config = plan.config(plan.searches[0], policy)
    return search_batches(start, config, select(()), plan.asked, Patient())


@pytest.fixture(scope="session")
def results() -> dict[str, RunResult]:
    """The search for every fault under its first policy."""
    return {fault.name: searched(fault, fault.policies[0]) for fault in BATCH_FAULTS}


@each_fault
def test_a_fault_is_one_change_that_fits_a_screen(fault: Fault) -> None:
    assert batch_text().count(fault.old) == 1
    assert apply(fault) != batch_text()
    lines = change(fault)
    assert len(lines) <= SCREEN_LINES
    assert sum(line.startswith("@@") for line in lines) == 1
    assert max(map(len, lines)) <= 101


@each_fault
def test_a_fault_names_what_exists(fault: Fault) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", fault.name)
    assert fault.name not in OF_THE_CHAPTER
    assert fault.family in BATCH_FAMILIES
    assert fault.level == BATCH
    assert set(fault.policies) <= set(BATCH_POLICIES)
    assert fault.claim in BY_ID or fault.claim == "raised"
    assert not fault.report or re.fullmatch(r"[\w-]+/[\w.-]+#\d+", fault.report)


@pytest.mark.parametrize("language", LANGUAGES)
@each_fault
def test_a_fault_is_told_in_a_few_sentences(fault: Fault, language: str) -> None:
    texts = catalogue(language)
    assert not texts[f"fault.{fault.name}.title"].endswith((".", "。"))
    sentences = re.findall(r"[.。?!？！](?:\s|$|(?=[^\s]))", texts[f"fault.{fault.name}.story"])
    assert 1 <= len(sentences) <= 3
    assert bool(fault.report) == (f"fault.{fault.name}.report" in texts)


def test_most_faults_were_reported_and_the_seven_claims_are_all_told() -> None:
    assert sum(bool(fault.report) for fault in BATCH_FAULTS) >= 15
    assert set(SEVEN) <= {fault.claim for fault in BATCH_FAULTS}
    assert len({fault.name for fault in BATCH_FAULTS}) == len(BATCH_FAULTS) >= 25


@each_fault
def test_a_fault_is_killed_by_the_claim_and_the_length_that_it_names(
    fault: Fault, results: dict[str, RunResult]
) -> None:
    result = results[fault.name]
    if fault.claim == "raised":
        assert result.trouble is not None
        assert (result.trouble.kind, len(result.trouble.actions)) == ("raised", fault.length)
        return
    (found,) = result.counterexamples
    assert (found.claim, found.length, found.shortest) == (fault.claim, fault.length, True)


def test_the_manifest_says_what_is_found_today(results: dict[str, RunResult]) -> None:
    records = manifest.read(manifest.BATCH_PATH)
    pairs = [(fault.name, policy) for fault, policy in prey_of(BATCH_FAULTS, BATCH_POLICIES)]
    assert [(record["fault"], record["policy"]) for record in records] == pairs
    for fault in BATCH_FAULTS:
        (record,) = (
            r for r in records if (r["fault"], r["policy"]) == (fault.name, fault.policies[0])
        )
        found = next(iter(results[fault.name].counterexamples), None)
        assert record["claim"] == fault.claim
        assert record["length"] == fault.length
        assert record["also_broken"] == list(found.also_broken if found else ())


@pytest.mark.parametrize("language", LANGUAGES)
@each_fault
def test_its_story_fits_a_terminal(
    fault: Fault, language: str, results: dict[str, RunResult]
) -> None:
    for found in results[fault.name].counterexamples:
        text = story_text(story_of(found, language, results[fault.name]))
        assert [line for line in text.splitlines() if width_of(line) > 80] == []
        assert RunResult.from_json(results[fault.name].to_json()) == results[fault.name]


def test_a_hunt_finds_what_check_finds() -> None:
    (fault,) = (fault for fault in BATCH_FAULTS if fault.name == "abort-frees-twice")
    checked = schedproof.check("fault:ABORT-frees-twice", policy="fcfs", time="5m", no_save=True)
    assert checked.first is not None
    assert (checked.first.claim, checked.first.length) == (fault.claim, fault.length)
    assert checked.first.limits is not None


def test_what_crashes_is_told_with_the_line_of_the_scheduler() -> None:
    trouble = (
        schedproof.check("fault:stale-copy-of-the-running-list", policy="fcfs").runs[0].trouble
    )
    assert trouble is not None
    assert trouble.place is not None
    assert any("fire(request, Trigger.GROW" in text for _, text in trouble.place["lines"])


def test_the_loaded_text_is_the_shown_one() -> None:
    for fault in BATCH_FAULTS[:3]:
        source = source_of_fault(fault)
        assert source.batches
        assert source.load(lambda _part: None).fingerprint


def test_a_fault_of_batches_is_not_exported(tmp_path: Path) -> None:
    from schedproof.cli.faults import _export

    with pytest.raises(UsageError, match="is a fault of model:batch"):
        _export("en", name="abort-frees-twice", to=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_what_is_killed_otherwise_is_noticed() -> None:
    fault = BATCH_FAULTS[0]
    told = Hunted(
        fault.name, "fcfs", fault.kill("fcfs"), "violated", "LEDGER-1", 4, (), True, 9, 0.1
    )
    assert told.fate is Fate.KILLED_OTHERWISE
