"""What is counted and reported: waits, the clock, and the event of a step."""

from __future__ import annotations

from typing import Any

from schedmodel.event import DECODE_ONE_STEP, FINISH, PREFILL_TO_DECODE, deadline_missed
from schedproof.claims.claim import GENERAL, REFERENCE, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Change, Edge, Judged
from schedproof.subjects.contract import Feature
from schedproof.subjects.observation import Row


def waits_are_counted(change: Change) -> Judged:
    before, after = change.before, change.after
    if after is None:
        return None
    had = 0 if before is None else before.wait_steps
    waits = change.served and change.ran is None and before is not None and not before.done
    expected = had + 1 if waits else had
    if after.wait_steps == expected:
        return True if change.served else None
    values = {
        "request": after.request_id,
        "before": had,
        "expected": expected,
        "got": after.wait_steps,
    }
    return Breach("WAIT-1", values, ((after.request_id, "wait_steps"),))


def clock_counts_events(edge: Edge) -> Judged:
    expected = 1 if edge.answer.event is not None else 0
    if edge.ticks != expected:
        values = {"ticks": edge.ticks, "expected": expected}
        return Breach("CLOCK-1", values, ((None, "clock"),))
    return True if expected else None


def event_tells_what_ran(edge: Edge) -> Judged:
    event, chosen = edge.event, edge.chosen
    if not edge.answer.log_kept:
        return Breach("EVENT-1.log", {"logged": edge.logged}, ((None, "timeline"),))
    if not event:
        return None
    after = edge.after_by_id.get(event["request_id"])
    if chosen is None or after is None:
        values = {"field": "request_id", "told": event["request_id"], "real": "?"}
        return Breach("EVENT-1", values, ((None, "request_id"),))
    for name, real in _true_report(edge, chosen, after).items():
        if not _same(event[name], real):
            values = {"field": name, "told": event[name], "real": real}
            kind = "EVENT-1.phase" if name == "phase" else "EVENT-1"
            return Breach(kind, values, ((chosen.request_id, name),))
    return True


def _same(told: Any, real: Any) -> bool:
    """Equal, and a number of the same kind: True is not 1 here, and 2.0 is not 2."""
    return told == real and (isinstance(real, str) or type(told) is type(real))


def _true_report(edge: Edge, chosen: Row, after: Row) -> dict[str, Any]:
    """What the event must say, read off the state before and after the step."""
    prefill = chosen.phase == "prefill"
    decoded = FINISH if after.done else DECODE_ONE_STEP
    victims = [row.request_id for row in edge.before if _gave_way(row, edge)]
    return {
        "phase": chosen.phase,
        "action": PREFILL_TO_DECODE if prefill else decoded,
        "prompt_len": after.prompt_len,
        "generated_len": after.generated_len,
        "max_new_tokens": after.max_new_tokens,
        "wait_steps": after.wait_steps,
        "free_kv_blocks": edge.free_after,
        "preempted_request_id": victims[0] if victims else None,
    }


def _gave_way(row: Row, edge: Edge) -> bool:
    after = edge.after_by_id.get(row.request_id)
    return after is not None and row.admitted and not after.admitted and not after.finished


def misses_are_told(edge: Edge) -> Judged:
    event = edge.event
    after = edge.after_by_id.get(event["request_id"]) if event else None
    if after is None:
        return None
    real = deadline_missed(after, edge.clock or 0)
    if event["deadline_missed"] is real:
        return True if after.deadline_step is not None else None
    values = {
        "request": after.request_id,
        "told": event["deadline_missed"],
        "real": real,
        "ends": (edge.clock or 0) + 1 + after.remaining,
        "deadline": after.deadline_step,
    }
    return Breach("EVENT-2", values, ((after.request_id, "deadline_missed"),))


CLAIMS = (
    Claim(
        "WAIT-1",
        Kind.ALWAYS,
        GENERAL,
        Over.CHANGE,
        waits_are_counted,
        "chapter, step 4, TODO 4",
        needs(Feature.WAITS),
    ),
    Claim(
        "CLOCK-1",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        clock_counts_events,
        "chapter, step 4",
        needs(Feature.CLOCK, Feature.EVENTS),
    ),
    Claim(
        "EVENT-1",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        event_tells_what_ran,
        "chapter, step 4, TODO 4",
        needs(Feature.EVENTS),
    ),
    Claim(
        "EVENT-2",
        Kind.ALWAYS,
        REFERENCE,
        Over.STEP,
        misses_are_told,
        "chapter, step 4, TODO 4 and reference answer",
        needs(Feature.EVENTS, Feature.REFERENCE_ORDER),
    ),
)
