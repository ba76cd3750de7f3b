"""The capacity ledger: every block is either free or held, and held by whom it should be."""

from __future__ import annotations

from schedproof.claims.claim import GENERAL, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Change, Edge, Judged
from schedproof.subjects.contract import Feature
from schedproof.subjects.observation import Row, holds_by_state

_NEEDS = needs(Feature.LEDGER)


def blocks_are_conserved(edge: Edge) -> Judged:
    held = _held(edge.after)
    if held + edge.free_after == edge.capacity:
        return True if held or edge.free_before != edge.free_after else None
    values = {
        "free_before": edge.free_before,
        "held_before": _held(edge.before),
        "free": edge.free_after,
        "held": held,
        "sum": held + edge.free_after,
        "capacity": edge.capacity,
    }
    return Breach("LEDGER-1", values, ((None, "free_kv_blocks"),))


def _held(rows: tuple[Row, ...]) -> int:
    """Blocks in use: those with numbers count once, whoever shares them."""
    numbered = {block for row in rows for block in row.block_ids or ()}
    return len(numbered) + sum(row.held_blocks for row in rows if row.block_ids is None)


def free_stays_within_the_pool(edge: Edge) -> Judged:
    if not 0 <= edge.free_after <= edge.capacity:
        values = {"free": edge.free_after, "capacity": edge.capacity}
        return Breach("LEDGER-2", values, ((None, "free_kv_blocks"),))
    return True if edge.free_after != edge.free_before else None


def only_the_admitted_hold(change: Change) -> Judged:
    row = change.after
    if row is None or row.state is None:
        return None
    values = {"request": row.request_id, "status": row.status, "held": row.held_blocks}
    guilty = ((row.request_id, "status"), (row.request_id, "held_blocks"))
    if holds_by_state(row) and not row.held_blocks:
        return Breach("LEDGER-3.holds_nothing", values, guilty)
    if row.held_blocks and not holds_by_state(row):
        return Breach("LEDGER-3.still_holds", values, guilty)
    granted = change.before.held_blocks if change.before else 0
    if row.block_ids is None and granted and row.held_blocks and granted != row.held_blocks:
        return Breach("LEDGER-3.other_number", {**values, "granted": granted}, guilty)
    return True if row.held_blocks or granted else None


CLAIMS = (
    Claim(
        "LEDGER-1",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        blocks_are_conserved,
        "chapter, step 4, TODO 3 and 4; vllm-project/vllm#10013, sgl-project/sglang#4977",
        _NEEDS,
    ),
    Claim(
        "LEDGER-2",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        free_stays_within_the_pool,
        "chapter, step 3; NVIDIA/TensorRT-LLM#11879",
        _NEEDS,
    ),
    Claim(
        "LEDGER-3",
        Kind.ALWAYS,
        GENERAL,
        Over.CHANGE,
        only_the_admitted_hold,
        "chapter, step 2; NVIDIA/TensorRT-LLM#14723",
        needs(Feature.LEDGER, Feature.LIFECYCLE),
    ),
)
