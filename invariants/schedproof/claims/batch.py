"""Batches over numbered blocks: whose each block is, who gives way, what a step may hold.

Rules. These claims need what only schedulers of batches have, and say nothing of others. Who
comes before whom is what the policy declares: the higher effective priority, then who arrived
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from schedmodel.lifecycle import HOLDING, State
from schedproof.claims.claim import GENERAL, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Edge, Judged
from schedproof.subjects.actions import Abort, Enqueue
from schedproof.subjects.contract import Feature
from schedproof.subjects.observation import Paged, Row

OUTSIDE = (State.WAITING, State.PREEMPTED)
"""The states of those who wait to be admitted, for the first time or again."""


def place_of(edge: Edge, row: Row) -> tuple[int, int]:
    """Where a request stands in the declared order; the smallest comes first."""
    return -edge.rules.effective_priority(row), row.arrival_index


def blocks_of(tokens: int, paged: Paged) -> int:
    """Blocks that so many tokens take."""
    return -(-tokens // paged.block_size)


# -- blocks ------------------------------------------------------------------


def counts_equal_owners(edge: Edge) -> Judged:
    paged = edge.paged_after
    if paged is None:
        return None
    held = [block for row in edge.after for block in row.block_ids or ()]
    wrong = None if _go_together(paged, held) else _wrong_block(paged, edge.after)
    wrong = _without_room(edge, paged) if wrong is None else wrong  # a breach is false
    if wrong is not None:
        return wrong
    return True if held or edge.paged_before != paged else None


def _go_together(paged: Paged, held: list[int]) -> bool:
    """Whether all is right with the blocks, found out at once."""
    free = set(paged.free_ids)
    if len(free) < len(paged.free_ids) or not free.isdisjoint(held):
        return False
    counts = [0] * len(paged.references)
    for block in held:
        if not 0 <= block < len(counts):
            return False
        counts[block] += 1
    return counts == [*paged.references]


def _wrong_block(paged: Paged, rows: tuple[Row, ...]) -> Breach | None:
    """The first block whose count, owners and place on the free list do not go together."""
    owners: dict[int, list[int]] = {}
    for row in rows:
        for block in row.block_ids or ():
            owners.setdefault(block, []).append(row.request_id)
    free = Counter(paged.free_ids)
    for block, count in enumerate(paged.references):
        holders = owners.get(block, [])
        guilty = tuple((holder, "block_ids") for holder in dict.fromkeys(holders))
        values = {"block": block, "owners": _names(holders), "count": count, "times": free[block]}
        if free[block] > 1:
            return Breach("LEDGER-4.twice", values, (*guilty, (None, "free_ids")))
        if free[block] and holders:
            return Breach("LEDGER-4.free_and_held", values, (*guilty, (None, "free_ids")))
        if len(holders) != count:
            values["number"] = len(holders)
            return Breach("LEDGER-4.count", values, (*guilty, (None, "references")))
    return None


def _without_room(edge: Edge, paged: Paged) -> Breach | None:
    """Who has more tokens computed than fit into its blocks."""
    for row in edge.after:
        room = row.held_blocks * paged.block_size
        if not row.finished and (row.computed_len or 0) > room:
            values = {"request": row.request_id, "computed": row.computed_len, "room": room}
            guilty = ((row.request_id, "computed_len"), (row.request_id, "held_blocks"))
            return Breach("LEDGER-4.no_room", {**values, "held": row.held_blocks}, guilty)
    return None


def _names(ids: list[int]) -> str:
    return ", ".join(f"r{i}" for i in ids)


# -- who gives way -------------------------------------------------------------


def victim_leaves_whole(edge: Edge) -> Judged:
    for victim in edge.victims:
        before, after = edge.before_by_id.get(victim), edge.after_by_id.get(victim)
        values = {"victim": victim, "status": before.status if before else "unknown"}
        if before is None or before.state not in HOLDING:
            return Breach("VICTIM-7.not_running", values, ((victim, "status"),))
        if victim in edge.served:
            return Breach("VICTIM-7.still_scheduled", values, ((victim, "status"),))
        if after is not None and after.held_blocks:
            values["held"] = after.held_blocks
            return Breach("VICTIM-7.keeps_blocks", values, ((victim, "held_blocks"),))
    return True if edge.victims else None


# -- what a step may hold ------------------------------------------------------


def batch_keeps_its_limits(edge: Edge) -> Judged:
    paged, spans = edge.paged_after, edge.answer.batch
    if paged is None or not spans:
        return None
    for span in spans:
        values = {"request": span.request_id, "tokens": span.tokens}
        guilty = ((span.request_id, "computed_len"),)
        if edge.served.count(span.request_id) > 1:
            return Breach("BATCH-1.twice", values, guilty)
        if span.tokens < 1:
            return Breach("BATCH-1.no_token", values, guilty)
        if span.request_id in edge.victims:
            return Breach("BATCH-1.preempted", values, ((span.request_id, "status"),))
        row = edge.after_by_id.get(span.request_id)
        if row is not None and paged.in_parts and (span.end or 0) >= _last(row):
            return Breach("BATCH-1.past_end", values | {"last": _last(row)}, guilty)
    tokens = sum(span.tokens for span in spans)
    if tokens > paged.max_num_batched_tokens:
        much = {"tokens": tokens, "limit": paged.max_num_batched_tokens}
        return Breach("BATCH-1.tokens", much, tuple((i, "computed_len") for i in edge.served))
    seats = len(spans) if paged.seats_per_step else max(len(spans), len(paged.running))
    if seats > paged.max_num_seqs:
        many = {"number": seats, "limit": paged.max_num_seqs}
        return Breach("BATCH-1.seats", many, tuple((i, "status") for i in edge.served))
    return True


def _last(row: Row) -> int:
    """The place of the token that is emitted last; nothing is computed of it."""
    return row.prompt_len + row.max_new_tokens


def nobody_misses_a_turn(edge: Edge) -> Judged:
    paged = edge.paged_before
    if paged is None:
        return None
    room = paged.max_num_batched_tokens - sum(span.tokens for span in edge.answer.batch)
    judged: Judged = None
    ended = any(row.finished for row in edge.after if row.request_id in edge.served)
    for row in edge.before:
        if row.state is not State.DECODE or row.done or row.request_id in edge.victims:
            continue
        judged = True
        if row.request_id in edge.served or room < 1:
            continue
        left = row.held_blocks * paged.block_size - (row.computed_len or 0)
        if left > 0 or (edge.free_after > 0 and not ended):
            values = {"request": row.request_id, "left": max(left, 0), "free": edge.free_after}
            guilty = ((row.request_id, "generated_len"),)
            return Breach("WORK-2" if left > 0 else "WORK-2.free_blocks", values, guilty)
    return judged


# -- who is let in -------------------------------------------------------------


def only_the_hopeless_are_rejected(edge: Edge) -> Judged:
    late = _rejected_late(edge)
    if late is not None:
        return late
    action, paged = edge.action, edge.paged_before
    if not isinstance(action, Enqueue) or paged is None or not edge.answer.accepted:
        return None
    if edge.must_refuse is not None:
        return None
    longest = action.prompt_len + action.max_new_tokens - paged.in_parts
    tokens = 1 if paged.in_parts else longest - 1
    needed = blocks_of(longest, paged)
    rejected, guilty = edge.answer.rejected, ((action.request_id, "status"),)
    values = {
        "request": action.request_id,
        "blocks": needed,
        "capacity": edge.capacity,
        "tokens": tokens,
        "limit": paged.max_num_batched_tokens,
    }
    if needed > edge.capacity and rejected is None:
        return Breach("REJECT-1.too_many_blocks", values, guilty)
    if tokens > paged.max_num_batched_tokens and rejected is None:
        return Breach("REJECT-1.too_many_tokens", values, guilty)
    hopeless = needed > edge.capacity or tokens > paged.max_num_batched_tokens
    return Breach("REJECT-1.fits", values, guilty) if rejected and not hopeless else True


def _rejected_late(edge: Edge) -> Breach | None:
    for row in edge.after:
        if row.finish_reason != "rejected":
            continue
        old = edge.before_by_id.get(row.request_id)
        if old is not None and not old.finished:
            values = {"request": row.request_id, "status": old.status}
            return Breach("REJECT-1.late", values, ((row.request_id, "status"),))
    return None


# -- in what order -------------------------------------------------------------


_BY_RANK = {
    "FAIR-1.passed": "FAIR-1.passed_stronger",
    "FAIR-1.gave_way": "FAIR-1.stronger_gave_way",
}
"""How it is told where the priorities differ."""


def nobody_is_overtaken(edge: Edge) -> Judged:
    if edge.paged_after is None:
        return None
    judged: Judged = None
    for kind, ahead, behind in _overtaken(edge):
        judged = True
        if kind:
            values = {
                "ahead": ahead.request_id,
                "behind": behind.request_id,
                "ahead_rank": edge.rules.effective_priority(ahead),
                "behind_rank": edge.rules.effective_priority(behind),
            }
            stronger = values["ahead_rank"] != values["behind_rank"]
            text = _BY_RANK[kind] if stronger else kind
            return Breach(text, values, ((ahead.request_id, "status"),))
    return judged


def _overtaken(edge: Edge) -> Iterator[tuple[str, Row, Row]]:
    """Pairs of which one goes on and one does not; with a text where that is against the order."""
    served, victims = edge.served, edge.victims
    outside = [row for row in edge.before if row.state in OUTSIDE]
    let_in = [row for row in outside if row.request_id in served]
    left_out = [row for row in outside if row.request_id not in served]
    for ahead in left_out:
        for behind in let_in:
            fits = ahead.total_len <= behind.total_len
            wrong = fits and place_of(edge, ahead) < place_of(edge, behind)
            yield "FAIR-1.passed" if wrong else "", ahead, behind
    for ahead in edge.before:
        for behind in edge.before if ahead.request_id in victims else ():
            stays = behind.state in HOLDING and behind.request_id not in victims
            if stays and ahead is not behind:
                wrong = place_of(edge, ahead) < place_of(edge, behind)
                yield "FAIR-1.gave_way" if wrong else "", ahead, behind


# -- aborting ------------------------------------------------------------------


def abort_frees_once_and_touches_nothing_else(edge: Edge) -> Judged:
    if not isinstance(edge.action, Abort):
        return None
    target = edge.action.request_id
    before, after = edge.before_by_id.get(target), edge.after_by_id.get(target)
    for row in edge.before:
        if row.request_id != target and edge.after_by_id.get(row.request_id) is not row:
            others = {"request": target, "other": row.request_id}
            return Breach("ABORT-1.others", others, ((row.request_id, "status"),))
    if before is None or before.finished:
        kept = edge.free_before == edge.free_after and edge.before == edge.after
        values = {"request": target, "before": edge.free_before, "after": edge.free_after}
        return kept or Breach("ABORT-1.again", values, ((None, "free_kv_blocks"),))
    return None if after is None else _aborted(edge, before, after)


def _held_alone(edge: Edge, row: Row) -> int:
    """Blocks that come back when this request gives its own: those that it does not share."""
    if row.block_ids is None:
        return row.held_blocks
    others = {b for o in edge.before if o is not row for b in o.block_ids or ()}
    return len(set(row.block_ids) - others)


def _aborted(edge: Edge, before: Row, after: Row) -> Judged:
    values = {"request": before.request_id, "status": after.status, "held": before.held_blocks}
    if not after.finished or after.finish_reason != "aborted":
        return Breach("ABORT-1.goes_on", values, ((before.request_id, "status"),))
    if after.held_blocks:
        return Breach("ABORT-1.still_holds", values, ((before.request_id, "held_blocks"),))
    gained = edge.free_after - edge.free_before
    if gained != _held_alone(edge, before):
        values["gained"] = gained
        return Breach("ABORT-1.freed", values, ((None, "free_kv_blocks"),))
    return True


BLOCKS = (
    Claim(
        "LEDGER-4",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        counts_equal_owners,
        "vllm-project/vllm#42571, sgl-project/sglang#12224",
        needs(Feature.BLOCK_IDS),
    ),
)
VICTIMS = (
    Claim(
        "VICTIM-7",
        Kind.ALWAYS,
        GENERAL,
        Over.PREEMPTION,
        victim_leaves_whole,
        "vllm-project/vllm#23347, NVIDIA/TensorRT-LLM#14723",
        needs(Feature.LIFECYCLE, Feature.LEDGER, Feature.GROWTH_PREEMPTION),
    ),
)
ORDER = (
    Claim(
        "WORK-2",
        Kind.ALWAYS,
        GENERAL,
        Over.STEP,
        nobody_misses_a_turn,
        "vllm-project/vllm#49097",
        needs(Feature.LIFECYCLE, Feature.BATCH_LIMITS, Feature.EVERY_TURN),
    ),
    Claim(
        "BATCH-1",
        Kind.ALWAYS,
        GENERAL,
        Over.STEP,
        batch_keeps_its_limits,
        "GeeeekExplorer/nano-vllm#211, vllm-project/vllm#23347",
        needs(Feature.BATCH_LIMITS),
    ),
    Claim(
        "FAIR-1",
        Kind.ALWAYS_WITH_HISTORY,
        GENERAL,
        Over.STEP,
        nobody_is_overtaken,
        "vllm-project/vllm#5578",
        needs(Feature.LIFECYCLE, Feature.DECLARED_ORDER),
    ),
)
INPUTS = (
    Claim(
        "REJECT-1",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        only_the_hopeless_are_rejected,
        "vllm-project/vllm#35541, sgl-project/sglang#37260",
        needs(Feature.REJECTION, Feature.BATCH_LIMITS),
    ),
    Claim(
        "ABORT-1",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        abort_frees_once_and_touches_nothing_else,
        "ggml-org/llama.cpp#11414, openvinotoolkit/model_server#4428",
        needs(Feature.LIFECYCLE, Feature.LEDGER, Feature.ABORT),
    ),
)
