"""Why a step of a scheduler of batches served whom it served, by the rules of ours.

Rules.
1. What is seen of the scheduler before a step is put into the built-in scheduler of batches as it
   is, and that one schedules. Those who run stand first, in the order of admission, then those
   who wait, strongest first.
2. Of the first who is not let in it is told which limit stands in the way: seats, tokens of the
   step, or blocks. Everybody behind it waits for it.
3. A state that ours cannot be in is not explained.
4. Engines have rules of their own, and what a request needs there depends on what lies in the
   cache, which nobody sees. So it is told what each request got in the step, and of the others
   which limit was reached, and nothing is said of what the rules would do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedmodel.batch import BATCH_POLICIES, Batch, BatchRequest, BatchScheduler
from schedmodel.errors import IllegalTransition
from schedproof.subjects.contract import Config, Limits
from schedproof.subjects.observation import Answer, Observation, Paged, Row, Span

CANNOT_BE = (IllegalTransition, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class BatchPlace:
    """A request in a step: what becomes of it by the rules, with the numbers that say why.

    `outcome` is decodes, grows, is_let_in, gives_way, no_seat, no_tokens, no_blocks or
    waits_behind; of what was seen only: got, got_one, got_none, gave_way, no_seat, spent, short
    or left_out.
    """

    request_id: int
    phase: str
    priority: int
    arrival: int
    outcome: str
    values: dict[str, Any]


def places_of(seen: Observation, config: Config) -> list[BatchPlace] | None:
    """What the built-in scheduler would do from this state; None if it cannot be in it."""
    if seen.paged is None or config.policy not in BATCH_POLICIES:
        return None
    try:
        model = _model(seen.rows, seen.paged, config)
        in_turn = [*model.running, *model.waiting]
        held = {request.request_id: len(request.block_ids) for request in in_turn}
        phases = {request.request_id: request.phase for request in in_turn}
        batch = model.schedule()
    except CANNOT_BE:
        return None
    return [
        BatchPlace(
            request.request_id,
            phases[request.request_id],
            request.priority,
            request.arrival,
            *_outcome(model, batch, request, held[request.request_id]),
        )
        for request in in_turn
    ]


FACTS = frozenset({"got", "got_one", "got_none", "gave_way", "spent", "short", "left_out"})
"""The outcomes that only say what was seen."""


def facts_of(before: Observation, answer: Answer, after: Observation) -> list[BatchPlace] | None:
    """What a step of an engine gave each request; None where its blocks are not seen."""
    if before.paged is None or after.paged is None:
        return None
    rows = {row.request_id: row for row in before.rows if not row.finished}
    now = {row.request_id: row for row in after.rows}
    in_turn = [i for i in (*before.paged.running, *before.paged.waiting) if i in rows]
    in_turn += [i for i in rows if i not in in_turn]
    spans = {span.request_id: span for span in answer.batch}
    return [
        BatchPlace(i, rows[i].phase, rows[i].priority, rows[i].arrival_index, *outcome)
        for i in in_turn
        for outcome in [_seen(rows[i], now.get(i), spans, after.paged)]
    ]


def _seen(
    row: Row, now: Row | None, spans: dict[int, Span], paged: Paged
) -> tuple[str, dict[str, Any]]:
    span = spans.get(row.request_id)
    if span is not None and span.start is not None and span.end is not None:
        if span.end <= span.start:
            return "got_none", {}
        if span.end == span.start + 1:
            return "got_one", {"first": span.start}
        return "got", {"first": span.start, "last": span.end - 1}
    if row.admitted and now is not None and not now.admitted and not now.finished:
        return "gave_way", {"blocks": row.held_blocks}
    used = sum((each.end or 0) - (each.start or 0) for each in spans.values())
    if used >= paged.max_num_batched_tokens:
        return "spent", {"limit": paged.max_num_batched_tokens}
    if not row.admitted and len(paged.running) >= paged.max_num_seqs:
        return "no_seat", {"limit": paged.max_num_seqs}
    needs = -(-row.total_len // paged.block_size)
    if not row.admitted and needs > len(paged.free_ids):
        return "short", {"needs": needs, "free": len(paged.free_ids)}
    return "left_out", {}


def _model(rows: tuple[Row, ...], paged: Paged, config: Config) -> BatchScheduler:
    limits = config.limits or Limits()
    model = BatchScheduler(config.policy, config.blocks, **limits._asdict())
    model.requests = {row.request_id: _request(row) for row in rows}
    model.running = [model.requests[i] for i in paged.running]
    model.waiting = [model.requests[i] for i in paged.waiting]
    model.pool.free_ids = list(paged.free_ids)
    model.pool.references = list(paged.references)
    return model


def _request(row: Row) -> BatchRequest:
    if row.state is None or row.block_ids is None or row.computed_len is None:
        raise ValueError(row.request_id)
    return BatchRequest(
        request_id=row.request_id,
        prompt_len=row.prompt_len,
        max_new_tokens=row.max_new_tokens,
        priority=row.priority,
        arrival=row.arrival_index,
        computed_len=row.computed_len,
        generated_len=row.generated_len,
        preemptions=row.preemptions,
        _state=row.state,
        _phase=row.phase,
        block_ids=list(row.block_ids),
    )


def _outcome(
    model: BatchScheduler, batch: Batch, request: BatchRequest, held: int
) -> tuple[str, dict[str, Any]]:
    grant = batch.grants.get(request.request_id)
    if grant is not None and grant.phase == "prefill":
        return "is_let_in", {"tokens": grant.end - grant.start}
    if grant is not None:
        return ("grows" if len(request.block_ids) > held else "decodes"), {}
    if request.request_id in batch.preempted:
        return "gives_way", {"blocks": held}
    first = model.waiting[0]
    if request is not first:
        return "waits_behind", {"request": first.request_id}
    return _limit(model, batch, request)


def _limit(
    model: BatchScheduler, batch: Batch, request: BatchRequest
) -> tuple[str, dict[str, Any]]:
    """What keeps the first of those who wait from being let in."""
    if len(model.running) >= model.max_num_seqs:
        return "no_seat", {"limit": model.max_num_seqs}
    left = model.max_num_batched_tokens - batch.tokens
    if request.total_len > left:
        return "no_tokens", {"needs": request.total_len, "left": left}
    size = model.pool.block_size
    growing = sum(grant.end % size == 0 for grant in batch.grants.values())
    needs = model.pool.blocks_for(request.total_len + 1)
    return "no_blocks", {"needs": needs, "kept": growing, "free": len(model.pool.free_ids)}
