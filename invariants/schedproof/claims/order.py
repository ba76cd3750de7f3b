"""Order and work: the first admissible request is served, and somebody is if anybody can be."""

from __future__ import annotations

from typing import Any

from schedmodel import choice
from schedproof.claims.claim import GENERAL, REFERENCE, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Edge, Judged
from schedproof.subjects.contract import Feature
from schedproof.subjects.observation import Row

_NEEDS = needs(Feature.LEDGER, Feature.LIFECYCLE, Feature.ADMISSION_PREEMPTION)


def first_admissible(edge: Edge) -> Row | None:
    """Whom the chapter's rules serve from the state before the edge."""
    candidates, rules = [row for _, row in edge.order], edge.rules
    holders = [row for row in candidates if row.admitted]
    rank, free = rules.effective_priority, edge.free_before
    found = choice.first_admissible(candidates, holders, free, rank, rules.reserves)
    return None if found is None else found[0]


def chosen_is_first(edge: Edge) -> Judged:
    if edge.chosen is None:
        return None
    right = first_admissible(edge)
    if right is edge.chosen:
        return True if sum(not row.done for row in edge.before) > 1 else None
    values = {
        "chosen": edge.chosen.request_id,
        "right": "nobody" if right is None else f"r{right.request_id}",
        **_decided(edge, right, edge.chosen),
    }
    return Breach("ORDER-1", values, ((edge.chosen.request_id, "generated_len"),))


def _decided(edge: Edge, first: Row | None, later: Row) -> dict[str, Any]:
    """The part of the key by which one stands before the other, if the key puts it there."""
    keys = {id(row): key for key, row in edge.order}
    one, other = keys.get(id(first)), keys.get(id(later))
    if one is None or other is None or one >= other:
        return {}
    parts = zip(edge.rules.columns, one, other, strict=True)
    column, ahead, behind = next(part for part in parts if part[1] != part[2])
    return {"column": column, "first": ahead, "later": behind}


def idle_only_when_nobody_can(edge: Edge) -> Judged:
    if not edge.stepped or edge.served:
        return None
    right = first_admissible(edge)
    if right is not None:
        values = {
            "request": right.request_id,
            "needs": 0 if right.admitted else right.required_blocks,
            "free": edge.free_before,
        }
        return Breach("WORK-1", values, ((right.request_id, "status"),))
    return True if any(not row.done for row in edge.before) else None


def fitting_work_is_served(edge: Edge) -> Judged:
    if not edge.stepped or edge.served:
        return True if edge.paged_after is not None and edge.served else None
    ran = edge.answer.ran
    if ran is not None and (ran.raised is not None or ran.idle <= ran.idle_max):
        return None  # declared, or told by another claim
    for row in edge.before:
        if not row.done and not row.finished and row.required_blocks <= edge.capacity:
            values = {
                "request": row.request_id,
                "needs": row.required_blocks,
                "capacity": edge.capacity,
            }
            return Breach("STALL-1", values, ((row.request_id, "status"),))
    return True if any(not row.done for row in edge.before) else None


CLAIMS = (
    Claim(
        "ORDER-1",
        Kind.ALWAYS,
        REFERENCE,
        Over.STEP,
        chosen_is_first,
        "chapter, step 3 and reference answer",
        _NEEDS | {Feature.REFERENCE_ORDER},
    ),
    Claim(
        "WORK-1",
        Kind.ALWAYS,
        GENERAL,
        Over.STEP,
        idle_only_when_nobody_can,
        "chapter, step 4; vllm-project/vllm#49097",
        _NEEDS,
    ),
    Claim(
        "STALL-1",
        Kind.ALWAYS,
        GENERAL,
        Over.STEP,
        fitting_work_is_served,
        "deepspeedai/DeepSpeed-MII#274, vllm-project/vllm#35541",
        needs(Feature.LEDGER, Feature.LIFECYCLE),
    ),
)
