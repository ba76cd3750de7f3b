"""Steps in flight and admission: whose a result is, who is let in, how often one may give way.

Rules. A delivery names the requests whose part of the step still counts: those that were neither
preempted nor ended since the step was decided. An id says nothing here: it may be another's by now.
"""

from __future__ import annotations

from schedmodel.lifecycle import HOLDING
from schedproof.claims.batch import OUTSIDE, blocks_of
from schedproof.claims.claim import GENERAL, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Edge, Judged
from schedproof.subjects.actions import Deliver
from schedproof.subjects.contract import Feature
from schedproof.subjects.observation import Paged


def results_go_to_whom_they_were_computed_for(edge: Edge) -> Judged:
    if not isinstance(edge.action, Deliver):
        return None
    ran = {span.request_id: span for span in edge.answer.batch}
    for before in edge.before:
        after = edge.after_by_id.get(before.request_id)
        if after is None or after is before:
            continue
        span = ran.get(before.request_id)
        tokens = after.generated_len - before.generated_len
        values = {"request": before.request_id, "tokens": tokens}
        guilty = ((before.request_id, "generated_len"), (before.request_id, "status"))
        if span is None:
            return Breach("FLIGHT-1", values, guilty)
        if tokens not in (0, 1) or (tokens == 0 and after.finished):
            return Breach("FLIGHT-1.tokens", values, guilty)
    lost = _dropped(edge)
    return True if lost is None else lost  # a breach is false


def _dropped(edge: Edge) -> Breach | None:
    """Whose token was due with this delivery, and did not come."""
    for span in edge.answer.batch:
        before, after = (m.get(span.request_id) for m in (edge.before_by_id, edge.after_by_id))
        if before is None or after is None or span.end is None:
            continue
        if span.end == before.total_len and after.generated_len == before.generated_len:
            values = {"request": span.request_id, "number": before.generated_len + 1}
            return Breach("FLIGHT-1.lost", values, ((span.request_id, "generated_len"),))
    return None


def who_fits_is_admitted_with_just_what_it_needs(edge: Edge) -> Judged:
    paged, ran = edge.paged_after, edge.answer.ran
    if paged is None or (ran is not None and ran.raised is not None):
        return None
    judged: Judged = None
    for before in edge.before:
        after = edge.after_by_id.get(before.request_id)
        if before.state not in OUTSIDE or after is None or after.state not in HOLDING:
            continue
        judged, right = True, blocks_of(before.total_len, paged)
        if after.held_blocks != right:
            values = {"request": after.request_id, "held": after.held_blocks, "right": right}
            values["tokens"] = before.total_len
            return Breach("ADMIT-1.number", values, ((after.request_id, "held_blocks"),))
    left = _left_out(edge, paged)
    return judged if left is None else left


def _left_out(edge: Edge, paged: Paged) -> Breach | None:
    """The first who waits, where there are a seat, a token and blocks for all of it."""
    head = edge.after_by_id.get(paged.waiting[0]) if paged.waiting else None
    if head is None or edge.victims or len(paged.running) >= paged.max_num_seqs:
        return None
    spent = sum(span.tokens for span in edge.answer.batch)
    right = blocks_of(head.total_len, paged)
    if spent >= paged.max_num_batched_tokens or right > edge.free_after:
        return None
    values = {"request": head.request_id, "right": right, "free": edge.free_after}
    return Breach("ADMIT-1.left_out", values, ((head.request_id, "status"),))


def few_give_way_between_two_tokens(edge: Edge) -> Judged:
    ran = edge.answer.ran
    if ran is None or ran.gave_way_max is None:
        return None
    if ran.gave_way <= ran.gave_way_max:
        return True if ran.gave_way else None
    guilty = tuple((victim, "preemptions") for victim in edge.victims)
    values = {"number": ran.gave_way, "limit": ran.gave_way_max}
    return Breach("PREEMPT-2", values, guilty)


FLIGHT = (
    Claim(
        "FLIGHT-1",
        Kind.ALWAYS_WITH_HISTORY,
        GENERAL,
        Over.EDGE,
        results_go_to_whom_they_were_computed_for,
        "vllm-project/vllm#42492, #48245, NVIDIA/TensorRT-LLM#6147",
        needs(Feature.LIFECYCLE, Feature.IN_FLIGHT),
    ),
)
ADMISSION = (
    Claim(
        "ADMIT-1",
        Kind.ALWAYS,
        GENERAL,
        Over.STEP,
        who_fits_is_admitted_with_just_what_it_needs,
        "vllm-project/vllm#45856, #57104",
        needs(Feature.LIFECYCLE, Feature.BATCH_LIMITS, Feature.EXACT_ADMISSION),
    ),
)
THRASH = (
    Claim(
        "PREEMPT-2",
        Kind.ALWAYS_WITH_HISTORY,
        GENERAL,
        Over.STEP,
        few_give_way_between_two_tokens,
        "vllm-project/vllm#49674, huggingface/transformers#43150",
        needs(Feature.STEP_BOUNDS, Feature.IN_FLIGHT),
    ),
)
