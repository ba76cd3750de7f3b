"""SARIF 2.1.0: what the standard requires, where the class is, and one mistake as one result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.formats.conftest import SUBJECT, clean, troubled

from schedproof.formats.sarif import FINGERPRINT, to_sarif
from schedproof.search.evidence import Evidence, Write
from schedproof.subjects.places import Place
from schedproof.telling.report import Summary

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def run_of(*summaries: Summary) -> Any:
    """The first run of the document, once it has what the standard requires."""
    document = json.loads(to_sarif(list(summaries), "en"))
    assert document["version"] == "2.1.0"
    assert len(document["runs"]) == len(summaries)
    for run in document["runs"]:
        driver = run["tool"]["driver"]
        rules = [rule["id"] for rule in driver["rules"]]
        assert driver["name"]
        assert len(rules) == len(set(rules))
        for rule in driver["rules"]:
            texts = [rule[part]["text"] for part in ("shortDescription", "fullDescription", "help")]
            assert all(texts), rule["id"]
        for result in run["results"]:
            assert rules[result["ruleIndex"]] == result["ruleId"]
            assert result["message"]["text"]
            assert result["level"] == "error"
            assert len(result["locations"]) == 1
            assert result["partialFingerprints"][FINGERPRINT]
        assert all("executionSuccessful" in made for made in run["invocations"])
    return document["runs"][0]


def test_one_mistake_is_one_result_under_all_its_policies(broken: Summary) -> None:
    run = run_of(broken)
    assert [result["ruleId"] for result in run["results"]] == ["PROGRESS-2", "LEDGER-1"]
    first = run["results"][0]
    assert first["properties"]["policies"] == ["fixed_priority", "deadline"]
    assert "Found under: fixed_priority, deadline." in first["message"]["text"]
    assert "But r1 also lost" in first["message"]["text"]


def test_every_claim_that_was_judged_is_a_rule(broken: Summary) -> None:
    rules = [rule["id"] for rule in run_of(broken)["tool"]["driver"]["rules"]]
    assert "VICTIM-6" in rules
    assert not any(rule.startswith("REACH-") for rule in rules)


def unexplained(summary: Summary) -> Summary:
    """The same where nobody looked for the lines that wrote what is guilty."""
    runs = [
        replace(run, counterexamples=tuple(replace(e, evidence=None) for e in run.counterexamples))
        for run in summary.runs
    ]
    return replace(summary, runs=tuple(runs))


def test_a_result_points_to_the_class(broken: Summary) -> None:
    physical = run_of(unexplained(broken))["results"][0]["locations"][0]["physicalLocation"]
    file = physical["artifactLocation"]
    assert file == {"uri": "examples/lost_progress.py", "uriBaseId": "%SRCROOT%"}
    line = (
        (ROOT / file["uri"])
        .read_text(encoding="utf-8")
        .splitlines()[physical["region"]["startLine"] - 1]
    )
    assert line.startswith("class LostProgress")


def test_a_result_points_to_the_line_that_wrote_the_guilty_value(broken: Summary) -> None:
    lines = [12, 30, 12]
    places = [Place(str(ROOT / "examples/lost_progress.py"), line, "f").to_json() for line in lines]
    nowhere = Place("<string>", 3).to_json()
    writes = tuple(Write(1, "generated_len", 1, 0, p) for p in (nowhere, *places))
    (found,) = broken.runs[0].counterexamples
    known = replace(found, evidence=Evidence(writes=writes))
    run = run_of(replace(broken, runs=(replace(broken.runs[0], counterexamples=(known,)),)))
    (result,) = run["results"]
    located = [*result["locations"], *result["relatedLocations"]]
    assert [p["physicalLocation"]["region"]["startLine"] for p in located] == [12, 30]


def test_a_module_is_found_without_importing_it(broken: Summary) -> None:
    named = replace(unexplained(broken), subject="examples.lost_progress:LostProgress")
    physical = run_of(named)["results"][0]["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "examples/lost_progress.py"


def test_what_lies_in_no_file_has_a_name_only(broken: Summary) -> None:
    named = replace(unexplained(broken), subject="LostProgress")
    (location,) = run_of(named)["results"][0]["locations"]
    assert "physicalLocation" not in location
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "LostProgress"


def test_a_fingerprint_is_the_same_under_another_policy_and_differs_by_claim(
    broken: Summary,
) -> None:
    def marks(summary: Summary) -> list[str]:
        return [r["partialFingerprints"][FINGERPRINT] for r in run_of(summary)["results"]]

    both = marks(broken)
    assert len(set(both)) == 2
    only_deadline = replace(broken, runs=broken.runs[1:2])
    assert marks(only_deadline) == both[:1]
    assert marks(replace(broken, subject="examples/lost_progress.py:Other"))[0] != both[0]


def test_trouble_points_to_its_line() -> None:
    summary = Summary(SUBJECT, (troubled(), troubled(policy="aging")), 1.0)
    run = run_of(summary)
    (result,) = run["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "mine.py"
    assert physical["region"] == {"startLine": 2}
    assert result["ruleId"] == "SCHEDULER-RAISED"
    assert run["invocations"] == [{"executionSuccessful": False, "exitCode": 3}]


def test_a_clean_result_has_rules_and_no_results() -> None:
    run = run_of(Summary(SUBJECT, (clean(),), 1.0), Summary("other", (clean(),), 1.0))
    assert run["results"] == []
    assert "LEDGER-1" in [rule["id"] for rule in run["tool"]["driver"]["rules"]]
