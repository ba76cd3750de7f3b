"""Input: what must be refused is, what is valid is not, and a refusal changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

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
    changed = list(_changed_fields(edge))
    values = {
        "requests": ", ".join(f"r{i}" for i in dict.fromkeys(i for i, _ in changed)),
        "ticks": edge.ticks,
    }
    pool = [(None, "free_kv_blocks")] if edge.free_before != edge.free_after else []
    clock = [(None, "clock")] if edge.ticks else []
    return Breach("INPUT-1", values, (*changed, *pool, *clock))


def _changed_fields(edge: Edge) -> Iterator[tuple[int, str]]:
    """Every field that changed, and the status of everybody who came or went."""
    for request_id in dict.fromkeys([*edge.before_by_id, *edge.after_by_id]):
        old, new = edge.before_by_id.get(request_id), edge.after_by_id.get(request_id)
        names = ("status",) if old is None or new is None else stored_differences(old, new)
        for name in names:
            yield request_id, name


def bad_input_is_refused(edge: Edge) -> Judged:
    if not isinstance(edge.action, Enqueue) or edge.answer.accepted is None:
        return None
    values = {"request": edge.action.request_id, "refusal": edge.answer.refusal}
    if edge.must_refuse is not None and not edge.refused:
        name = edge.must_refuse
        told = {**values, "field": name, "value": getattr(edge.action, name), "clock": edge.clock}
        return Breach(_accepted_text(edge.action, name), told, ((edge.action.request_id, name),))
    if edge.must_refuse is None and edge.refused:
        return Breach("INPUT-2.valid_refused", values, ((edge.action.request_id, "status"),))
    return True


def _accepted_text(action: Enqueue, name: str) -> str:
    """Why it must be refused: used before, too late, too small, or no whole number at all."""
    if type(getattr(action, name)) is not int:
        return "INPUT-2.accepted"
    texts = {"request_id": "INPUT-2.duplicate", "deadline_step": "INPUT-2.late"}
    return texts.get(name, "INPUT-2.too_small")


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
