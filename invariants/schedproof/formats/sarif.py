"""The result as SARIF 2.1.0, the form in which code scanning reads findings.

Rules.
1. One rule for each claim that was judged, with its help; one result for each broken claim.
   The same breach under several policies is one result that names them all: it is one
   mistake at one place.
2. A result points to the line in the user's file that wrote the guilty value or where the
   scheduler failed, else to the class. Where no file is known it names the class only.
3. A fingerprint stands for scheduler, claim and kind of breach, and for no line or policy:
   it stays the same while the file is edited.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from schedmodel import __version__
from schedproof.formats.reading import (
    CodePlace,
    claim_title,
    counterexamples,
    in_short,
    place_of,
    shown_path,
)
from schedproof.search.results import Counterexample, RunResult, Verdict
from schedproof.telling.messages import Say, has_text, join, tell
from schedproof.telling.report import Summary
from schedproof.telling.story import story_of
from schedproof.telling.text import story_text
from schedproof.telling.trouble import trouble_lines, trouble_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "schedproofBreach/v1"
_TROUBLE = "SCHEDULER"

Json = dict[str, Any]


def to_sarif(summaries: list[Summary], language: str) -> str:
    """The whole document; one run of the tool for each summary."""
    runs = [_run(tell(language), language, summary) for summary in summaries]
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": runs}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _run(say: Say, language: str, summary: Summary) -> Json:
    results = [*_breaches(say, language, summary), *_troubles(say, summary)]
    rules = _rules(say, summary)
    order = [rule["id"] for rule in rules]
    for result in results:
        result["ruleIndex"] = order.index(result["ruleId"])
    driver = {"name": "schedproof", "semanticVersion": __version__, "rules": rules}
    judged = summary.verdict is not Verdict.ERROR
    invocation = {"executionSuccessful": judged, "exitCode": summary.exit_code}
    return {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"subject": summary.subject, "verdict": summary.verdict.value},
    }


def _rules(say: Say, summary: Summary) -> list[Json]:
    """A rule for each claim, in the order in which they were judged, and one for trouble."""
    found = {
        claim.id: run for run in summary.runs for claim in run.claims if "REACH-" not in claim.id
    }
    found.update({e.claim: run for run, e in counterexamples(summary) if e.claim not in found})
    rules = [_rule(say, run, claim) for claim, run in found.items()]
    kinds = dict.fromkeys(run.trouble.kind for run in summary.runs if run.trouble)
    return [*rules, *(_trouble_rule(say, kind) for kind in kinds)]


def _rule(say: Say, run: RunResult, claim: str) -> Json:
    own = run.own_claims.get(claim, {})
    parts = [own.get(p) or _of_claim(say, claim, p) for p in ("sentence", "why", "rule")]
    title = claim_title(say, run, claim) or claim
    text = " ".join(part for part in parts if part) or title
    return _described(claim, title, parts[0] or title, text)


def _of_claim(say: Say, claim: str, part: str) -> str:
    text = f"claim.{claim}.{part}"
    return say(text) if has_text(text) else ""


def _trouble_rule(say: Say, kind: str) -> Json:
    title = say("trouble.title.all")
    text = say(f"next.{kind}") if has_text(f"next.{kind}") else title
    return _described(_trouble_id(kind), title, title, text)


def _described(rule: str, title: str, sentence: str, text: str) -> Json:
    return {
        "id": rule,
        "shortDescription": {"text": title},
        "fullDescription": {"text": sentence},
        "help": {"text": text},
        "defaultConfiguration": {"level": "error"},
    }


def _breaches(say: Say, language: str, summary: Summary) -> list[Json]:
    groups: dict[tuple[str, str], list[tuple[RunResult, Counterexample]]] = {}
    for run, example in counterexamples(summary):
        groups.setdefault((example.claim, example.text), []).append((run, example))
    return [_breach(say, language, summary, group) for group in groups.values()]


def _breach(
    say: Say, language: str, summary: Summary, group: list[tuple[RunResult, Counterexample]]
) -> Json:
    run, example = min(group, key=lambda pair: pair[1].length)
    policies = list(dict.fromkeys(other.policy for _, other in group))
    story = story_of(example, language, run)
    title = claim_title(say, run, example.claim) or example.claim
    where = say("sarif.policies", policies=join(say, "names", policies))
    text = "\n\n".join((title, in_short(story), where, story_text(story)))
    marks = [summary.subject, example.claim, example.text]
    return {
        **_result(example.claim, text, marks),
        **_locations(summary.subject, example),
        "properties": {"policies": policies, "actions": list(example.actions)},
    }


def _troubles(say: Say, summary: Summary) -> list[Json]:
    """One result for each kind of trouble at each place."""
    made: dict[tuple[Any, ...], Json] = {}
    for run in summary.runs:
        trouble = run.trouble
        if trouble is None:
            continue
        place = _code_place(trouble.place) or place_of(summary.subject)
        story = "\n".join(line.text for line in trouble_lines(say, run.policy, trouble))
        text = f"{trouble_text(say, trouble)}\n\n{story}"
        values = trouble.values.get("type", ""), (trouble.place or {}).get("function", "")
        marks = [summary.subject, trouble.kind, trouble.message_id, *map(str, values)]
        result = _result(_trouble_id(trouble.kind), text, marks)
        result["locations"] = [_location(summary.subject, place)]
        made.setdefault((trouble.kind, place), result)
    return list(made.values())


def _result(rule: str, text: str, marks: list[str]) -> Json:
    stands_for = sha256("\0".join(marks).encode("utf-8", "backslashreplace")).hexdigest()
    return {
        "ruleId": rule,
        "level": "error",
        "message": {"text": text},
        "partialFingerprints": {FINGERPRINT: stands_for},
    }


def _trouble_id(kind: str) -> str:
    return f"{_TROUBLE}-{kind.upper().replace('_', '-')}"


def _locations(subject: str, example: Counterexample) -> Json:
    """The lines that wrote what is guilty: the first one, and the others as related to it."""
    writes = () if example.evidence is None else example.evidence.writes
    known = dict.fromkeys(place for write in writes if (place := _code_place(write.place)))
    first = next(iter(known), place_of(subject))
    others = [*known][1:]
    located: Json = {"locations": [_location(subject, first)]}
    if others:
        located["relatedLocations"] = [_location(subject, other) for other in others]
    return located


def _code_place(place: Json | None) -> CodePlace | None:
    """The line of a `Place` in its JSON form; None for code that lies in no file."""
    if place is None or place["path"].startswith("<"):
        return None
    line = 1 if place["cell"] is not None else max(1, int(place["line"]))
    return CodePlace(shown_path(Path(place["path"])), line)


def _location(subject: str, place: CodePlace | None) -> Json:
    location: Json = {"logicalLocations": [{"fullyQualifiedName": subject, "kind": "type"}]}
    if place is None:
        return location
    file: Json = {"uri": _uri(place.path)}
    if not Path(place.path).is_absolute():
        file["uriBaseId"] = "%SRCROOT%"
    physical = {"artifactLocation": file, "region": {"startLine": place.line}}
    return {"physicalLocation": physical, **location}


def _uri(path: str) -> str:
    from urllib.parse import quote  # the only place that needs it

    return Path(path).as_uri() if Path(path).is_absolute() else quote(path)
