"""What a run of a scheduler of batches must reach for its silence to mean anything.

As in `reach`: each predicate answers True on an edge that reaches it, else None.
"""

from __future__ import annotations

from collections.abc import Callable

from schedmodel.lifecycle import HOLDING, State
from schedproof.claims.batch import OUTSIDE
from schedproof.claims.claim import GENERAL, Claim, Kind, Over, needs
from schedproof.claims.edge import Edge, Judged
from schedproof.subjects.actions import Abort
from schedproof.subjects.contract import Feature


def _when(reached: bool) -> Judged:
    return True if reached else None


def growth(edge: Edge) -> Judged:
    """A running request took another block."""
    pairs = [(row, edge.after_by_id.get(row.request_id)) for row in edge.before]
    return _when(
        any(old.admitted and new and new.held_blocks > old.held_blocks for old, new in pairs)
    )


def eviction(edge: Edge) -> Judged:
    return _when(bool(edge.victims))


def recompute(edge: Edge) -> Judged:
    """A preempted request that has generated tokens was admitted again."""
    rows = [edge.before_by_id.get(i) for i in edge.served]
    return _when(any(r and r.state is State.PREEMPTED and r.generated_len for r in rows))


def full_house(edge: Edge) -> Judged:
    """Somebody waits outside because there is no seat."""
    paged = edge.paged_after
    waits = any(row.state in OUTSIDE for row in edge.after)
    return _when(paged is not None and waits and len(paged.running) == paged.max_num_seqs)


def spent_budget(edge: Edge) -> Judged:
    """Somebody waits outside whose prefill does not fit what is left of the step's tokens."""
    paged = edge.paged_after
    if paged is None or not edge.answer.batch or len(paged.running) == paged.max_num_seqs:
        return None
    left = paged.max_num_batched_tokens - sum(span.tokens for span in edge.answer.batch)
    return _when(any(row.state in OUTSIDE and row.total_len > left for row in edge.after))


def abort_of_a_holder(edge: Edge) -> Judged:
    if not isinstance(edge.action, Abort):
        return None
    row = edge.before_by_id.get(edge.action.request_id)
    return _when(row is not None and row.state in HOLDING)


def _reach(name: str, predicate: Callable[[Edge], Judged], *features: Feature) -> Claim:
    over = Over.EDGE if predicate is abort_of_a_holder else Over.STEP
    source = "what the other claims about batches need to mean anything"
    return Claim(
        f"REACH-{name}", Kind.SOMETIMES, GENERAL, over, predicate, source, needs(*features)
    )


CLAIMS = (
    _reach("GROWTH", growth, Feature.BLOCK_IDS),
    _reach("EVICTION", eviction, Feature.GROWTH_PREEMPTION),
    _reach("RECOMPUTE", recompute, Feature.GROWTH_PREEMPTION),
    _reach("SEATS", full_house, Feature.BATCH_LIMITS),
    _reach("BUDGET", spent_budget, Feature.BATCH_LIMITS),
    _reach("ABORT", abort_of_a_holder, Feature.ABORT),
)
