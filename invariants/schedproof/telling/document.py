"""The result of a check as a JSON document, for programs.

Rules.
1. The document names its schema and version. A field is never absent; what is not known is
   null. Verdicts are written in lower snake case.
2. A claim's verdict over several runs is the worst of them, in the order of
   `CLAIM_WORST_FIRST`; its counts are added up.
3. The explanation of a counterexample is in English whatever language the command tells:
   programs compare it. Message id and values are there for other languages.
4. The JSON Schema in the package describes every field; a test holds the two together.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from schedproof.search.results import ClaimResult, ClaimVerdict, Counterexample, RunResult, Trouble
from schedproof.telling.evidence import evidence_to_json
from schedproof.telling.messages import tell
from schedproof.telling.report import Summary
from schedproof.telling.story import breach_id, breach_text
from schedproof.telling.trouble import trouble_text

SCHEMA, SCHEMA_VERSION = "schedproof/check", 1
CLAIM_WORST_FIRST = (
    ClaimVerdict.VIOLATED,
    ClaimVerdict.NOT_REACHED,
    ClaimVerdict.NOT_EXERCISED,
    ClaimVerdict.NO_VIOLATION_FOUND,
    ClaimVerdict.NO_VIOLATION_REDUCED,
    ClaimVerdict.HOLDS_WITHIN_BOUNDS,
    ClaimVerdict.REACHED,
    ClaimVerdict.NOT_APPLICABLE,
)
_RANK = {verdict.value: rank for rank, verdict in enumerate(CLAIM_WORST_FIRST)}


def to_document(summary: Summary, tool_version: str) -> dict[str, Any]:
    """The whole result; `json.dumps` of it is what `check --json` prints."""
    examples = [example for run in summary.runs for example in run.counterexamples]
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "tool_version": tool_version,
        "subject": summary.subject,
        "verdict": summary.verdict.value,
        "exit_code": summary.exit_code,
        "seconds": summary.seconds,
        "runs": [_run(run) for run in summary.runs],
        "claims": summed_claims(summary.runs),
        "counterexamples": [_counterexample(example) for example in examples],
    }


def check_schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    resource = files("schedproof.telling") / "schema" / "check.schema.json"
    schema: dict[str, Any] = json.loads(resource.read_text(encoding="utf-8"))
    return schema


def _run(run: RunResult) -> dict[str, Any]:
    return {
        "policy": run.policy,
        "search": run.search,
        "verdict": run.verdict,
        "identity": run.identity,
        "bounds": {name: _plain(value) for name, value in run.bounds.items()},
        "distinct_states": run.distinct_states,
        "transitions": run.transitions,
        "depth": run.depth,
        "seconds": run.seconds,
        "seed": run.seed,
        "examples": run.examples,
        "interrupted": run.interrupted,
        "stopped_by": run.stopped_by,
        "restore": run.restore,
        "claims": [asdict(claim) for claim in run.claims],
        "trouble": None if run.trouble is None else _trouble(run.trouble),
        "notes": [
            {"id": message, "values": values, "explanation": tell("en")(message, **values)}
            for message, values in run.notes
        ],
    }


def _trouble(trouble: Trouble) -> dict[str, Any]:
    place = trouble.place
    return {
        "kind": trouble.kind,
        "message": {"id": trouble.message_id, "values": trouble.values},
        "explanation": trouble_text(tell("en"), trouble),
        "place": place and {name: _plain(place[name]) for name in sorted(place)},
        "actions": list(trouble.actions),
    }


def summed_claims(runs: tuple[RunResult, ...]) -> list[dict[str, Any]]:
    """Every claim once, in the order of its first appearance."""
    results: dict[str, list[ClaimResult]] = {}
    for run in runs:
        for claim in run.claims:
            results.setdefault(claim.id, []).append(claim)
    return [
        {
            "id": claim_id,
            "verdict": min((claim.verdict for claim in claims), key=_RANK.__getitem__),
            "exercised": sum(claim.exercised for claim in claims),
        }
        for claim_id, claims in results.items()
    ]


def _counterexample(example: Counterexample) -> dict[str, Any]:
    return {
        "claim": example.claim,
        "also_broken": list(example.also_broken),
        "policy": example.policy,
        "blocks": example.blocks,
        "aging_interval": example.aging_interval,
        "actions": list(example.actions),
        "length": example.length,
        "shortest": example.shortest,
        "found_by": example.found_by,
        "guilty": [{"request_id": i, "field": name} for i, name in example.guilty],
        "message": {"id": breach_id(example), "values": example.values},
        "explanation": breach_text(tell("en"), example),
        "trail": [_plain_fields(asdict(step)) for step in example.trail],
        "before": None if example.before is None else asdict(example.before),
        "after": None if example.after is None else asdict(example.after),
        "limits": None if example.limits is None else example.limits._asdict(),
        "trace": example.kept_as,
        "evidence": None if example.evidence is None else evidence_to_json(example.evidence),
    }


def _plain_fields(record: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in record.items()}


def _plain(value: Any) -> Any:
    """Pairs as JSON has them."""
    return [_plain(part) for part in value] if type(value) in (list, tuple) else value
