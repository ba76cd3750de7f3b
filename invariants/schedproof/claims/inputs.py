"""Input: what must be refused is, what is valid is not, and a refusal changes nothing."""

from __future__ import annotations

from schedproof.claims.claim import GENERAL, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Edge, Judged, stored_differences
from schedproof.subjects.actions import Enqueue
from schedproof.subjects.contract import Feature


def refusal_changes_nothing(edge: Edge) -> Judged:
    if not edge.refused:
        return None
    kept = edge.before == edge.after and edge.free_before == edge.free_after
    if kept and edge.ticks == 0 and edge.logged == 0 and edge.extras_kept:
        return True
    changed = [
        (request_id, name)
        for request_id, row in edge.after_by_id.items()
        if (old := edge.before_by_id.get(request_id)) is not None and old is not row
        for name in stored_differences(old, row)
    ]
    added = [(i, "status") for i in edge.after_by_id if i not in edge.before_by_id]
    values = {
        "requests": ", ".join(f"r{i}" for i in dict.fromkeys(i for i, _ in changed + added)),
        "ticks": edge.ticks,
    }
    return Breach("INPUT-1", values, tuple(changed + added))


def bad_input_is_refused(edge: Edge) -> Judged:
    if not isinstance(edge.action, Enqueue) or edge.answer.accepted is None:
        return None
    values = {"request": edge.action.request_id, "refusal": edge.answer.refusal}
    if edge.must_refuse is not None and not edge.refused:
        name = edge.must_refuse
        told = {**values, "field": name, "value": getattr(edge.action, name)}
        return Breach(f"INPUT-2.{_reason(edge, name)}", told, ((edge.action.request_id, name),))
    if edge.must_refuse is None and edge.refused:
        return Breach("INPUT-2.valid_refused", values, ((edge.action.request_id, "status"),))
    return True


def _reason(edge: Edge, name: str) -> str:
    return "duplicate" if name == "request_id" else "accepted"


CLAIMS = (
    Claim(
        "INPUT-1",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        refusal_changes_nothing,
        "chapter, input guards; vllm-project/vllm#15041",
        needs(Feature.REFUSAL),
    ),
    Claim(
        "INPUT-2",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        bad_input_is_refused,
        "chapter, enqueue; vllm-project/vllm#15041",
        needs(Feature.REFUSAL),
    ),
)
