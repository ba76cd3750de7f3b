"""The JSON document against its schema, and the schema against the document."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from schedproof.search.results import ClaimVerdict, RunResult, Trouble, Verdict
from schedproof.telling.document import CLAIM_WORST_FIRST, check_schema, to_document
from schedproof.telling.report import Summary

Make = Callable[..., RunResult]
Get = Callable[[str], RunResult]

jsonschema: Any = pytest.importorskip("jsonschema")
SCHEMA = check_schema()
TROUBLE_KINDS = ["raised", "contract", "hung", "memory", "exited", "not_deterministic", "open_todo"]


def document(*runs: RunResult) -> dict[str, Any]:
    made = to_document(Summary("mine.py:Mine", runs, 2.5), "0.1.0")
    again: dict[str, Any] = json.loads(json.dumps(made))
    return again


def validate(made: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(made)


def objects() -> list[dict[str, Any]]:
    """All parts of the schema that describe fields."""
    found: list[dict[str, Any]] = []

    def keep(part: dict[str, Any]) -> dict[str, Any]:
        found.append(part)
        return part

    json.loads(json.dumps(SCHEMA), object_hook=keep)
    return [part for part in found if "properties" in part]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_field_is_described_and_no_other_is_allowed() -> None:
    assert len(objects()) > 10
    for part in objects():
        assert part["additionalProperties"] is False
        optional = set(part["properties"]) - set(part["required"])
        assert optional == set()
        for name, field in part["properties"].items():
            assert field.keys() & {"description", "$ref", "const"}, name


def test_a_clean_result_fits(clean_run: Make) -> None:
    made = document(clean_run(), clean_run(policy="fcfs"))
    validate(made)
    assert made["verdict"] == "no_violation_found"
    assert made["exit_code"] == 0
    assert made["claims"][0] == {
        "id": "LEDGER-1",
        "verdict": "no_violation_found",
        "exercised": 120,
    }


@pytest.mark.parametrize("name", ["progress-2", "ledger-1", "victim-2"])
def test_a_violation_fits(found: Get, name: str) -> None:
    made = document(found(name))
    validate(made)
    (example,) = made["counterexamples"]
    assert example["length"] == len(example["actions"]) == len(example["trail"])
    assert example["explanation"]
    assert made["exit_code"] == 1


def test_a_violation_of_a_whole_run_fits(found: Get) -> None:
    run = found("progress-2")
    whole = replace(run.counterexamples[0], before=None, after=None)
    validate(document(replace(run, counterexamples=(whole,))))


def test_trouble_fits(trouble_run: Make) -> None:
    made = document(trouble_run())
    validate(made)
    (run,) = made["runs"]
    assert run["trouble"]["explanation"] == "step raised KeyError: 'x'"
    assert run["trouble"]["place"]["line"] == 2
    assert made["exit_code"] == 3


@pytest.mark.parametrize("kind", [*TROUBLE_KINDS, "load", "internal"])
def test_trouble_of_every_kind_fits(clean_run: Make, kind: str) -> None:
    trouble = Trouble(kind, "error.hung", {})
    validate(document(clean_run(verdict="error", claims=(), trouble=trouble)))


def test_code_that_cannot_be_loaded_fits(clean_run: Make) -> None:
    values = {"error": "SyntaxError: invalid syntax", "suggestion": ""}
    trouble = Trouble("load", "load.syntax_error", values)
    made = document(clean_run(verdict="error", claims=(), trouble=trouble, seed=None))
    validate(made)
    assert made["claims"] == []


def test_an_interrupted_and_a_complete_result_fit(clean_run: Make) -> None:
    validate(document(clean_run(verdict="incomplete", interrupted=True, stopped_by="interrupt")))
    complete = {"search": "exhaustive", "identity": "full", "distinct_states": 5, "seed": None}
    validate(document(clean_run(verdict="holds_within_bounds", **complete)))


def test_notes_are_told_in_english_whatever_the_language(clean_run: Make) -> None:
    made = document(clean_run(notes=(("note.printed", {"lines": 2, "first": "x"}),)))
    validate(made)
    (note,) = made["runs"][0]["notes"]
    assert note["explanation"] == "The scheduler printed 2 lines; the first: x"


def test_a_refused_policy_alone_fits(clean_run: Make) -> None:
    made = document(clean_run(verdict="not_applicable", claims=()))
    validate(made)
    assert made["exit_code"] == 2


def test_a_field_too_many_or_too_few_does_not_fit(clean_run: Make) -> None:
    made = document(clean_run())
    with pytest.raises(jsonschema.ValidationError):
        validate({**made, "colour": "red"})
    del made["subject"]
    with pytest.raises(jsonschema.ValidationError):
        validate(made)


def test_verdicts_of_the_schema_are_those_of_the_code() -> None:
    kinds = SCHEMA["$defs"]
    assert kinds["verdict"]["enum"] == [verdict.value for verdict in Verdict]
    assert kinds["claim_verdict"]["enum"] == [verdict.value for verdict in ClaimVerdict]
    assert set(CLAIM_WORST_FIRST) == set(ClaimVerdict)
