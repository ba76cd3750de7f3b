"""What was found out about a counterexample, as the JSON document has it."""

from __future__ import annotations

from typing import Any

from schedproof.search.evidence import (
    Evidence,
    Forward,
    Later,
    Left,
    Varied,
    Worse,
    Write,
)


def evidence_to_json(evidence: Evidence) -> dict[str, Any]:
    """All of it; the schema of the document describes every field."""
    return {
        "forward": None if evidence.forward is None else _forward(evidence.forward),
        "varied": [_varied(each) for each in evidence.varied],
        "policies": [{"policy": name, "breaks": breaks} for name, breaks in evidence.policies],
        "writes": [_write(each) for each in evidence.writes],
        "worse": None if evidence.worse is None else _worse(evidence.worse),
        "unwritten": [{"request_id": i, "field": name} for i, name in evidence.unwritten],
    }


def _forward(forward: Forward) -> dict[str, Any]:
    return {
        "outcome": forward.outcome,
        "steps": forward.steps,
        "due_steps": forward.due_steps,
        "repeated": [{"request_id": i, "token": token} for i, token in forward.repeated],
        "left": [_left(each) for each in forward.left],
        "short": [_left(each) for each in forward.short],
        "later": [_later(each) for each in forward.later],
        "earlier": [_later(each) for each in forward.earlier],
        "lost": list(forward.lost),
        "free": forward.free,
        "capacity": forward.capacity,
        "error": forward.error,
    }


def _left(left: Left) -> dict[str, Any]:
    return {
        "request_id": left.request,
        "generated": left.generated,
        "limit": left.limit,
        "needs": left.needs,
    }


def _later(later: Later) -> dict[str, Any]:
    return {"request_id": later.request, "due": later.due, "got": later.got}


def _worse(worse: Worse) -> dict[str, Any]:
    return {
        "actions": list(worse.actions),
        "request_id": worse.request,
        "token": worse.token,
        "trace": worse.kept_as,
    }


def _varied(varied: Varied) -> dict[str, Any]:
    return {
        "request_id": varied.request,
        "field": varied.name,
        "value": varied.value,
        "matters": varied.matters,
        "low": varied.low,
        "high": varied.high,
        "far_low": varied.far_low,
        "far_high": varied.far_high,
        "steady": varied.steady,
    }


def _write(write: Write) -> dict[str, Any]:
    place = write.place
    lines: dict[int, str] = dict(place["lines"])
    return {
        "request_id": write.request,
        "field": write.name,
        "old": write.old,
        "new": write.new,
        "path": place["path"],
        "line": place["line"],
        "function": place["function"],
        "cell": place["cell"],
        "source": lines.get(place["line"], "").strip(),
    }
