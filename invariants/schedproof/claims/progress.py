"""Progress: only the chosen advance, by one unit, and preemption takes nothing back."""

from __future__ import annotations

from schedmodel.lifecycle import State
from schedproof.claims.claim import GENERAL, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Change, Judged, stored_differences
from schedproof.subjects.contract import Feature
from schedproof.subjects.observation import Row

PREEMPTION_MAY_CHANGE = frozenset({"status", "preemptions", "held_blocks", "wait_steps"})


def progress_is_never_lost(change: Change) -> Judged:
    before, after = change.before, change.after
    if before is None or after is None:
        return None
    values = {
        "request": after.request_id,
        "before": before.generated_len,
        "after": after.generated_len,
        "phase_before": before.phase,
        "phase_after": after.phase,
    }
    if after.generated_len < before.generated_len:
        return Breach("PROGRESS-1.tokens", values, ((after.request_id, "generated_len"),))
    recomputes = before.computed_len is not None and change.victim
    if before.phase == "decode" and after.phase != "decode" and not recomputes:
        return Breach("PROGRESS-1.phase", values, ((after.request_id, "phase"),))
    if (after.computed_len or 0) < (before.computed_len or 0) and not change.victim:
        computed = {"request": after.request_id, "before": before.computed_len}
        computed["after"] = after.computed_len
        return Breach("PROGRESS-1.computed", computed, ((after.request_id, "computed_len"),))
    return True if before.phase == "decode" else None


def preemption_keeps_the_rest(change: Change) -> Judged:
    before, after = change.before, change.after
    if not change.victim or before is None or after is None:
        return None
    may_change = PREEMPTION_MAY_CHANGE
    if before.computed_len is not None:
        may_change |= {"phase"}  # its prefill is repeated
    lost = tuple(n for n in stored_differences(before, after) if n not in may_change)
    values = {"request": before.request_id, "fields": ", ".join(lost)}
    if lost:
        values["changes"] = "; ".join(_change_of(name, before, after) for name in lost)
        return Breach("PROGRESS-2", values, tuple((before.request_id, name) for name in lost))
    if after.preemptions != before.preemptions + 1:
        counted = {"request": before.request_id, "count": after.preemptions - before.preemptions}
        return Breach("PROGRESS-2.count", counted, ((before.request_id, "preemptions"),))
    return True


def _change_of(name: str, before: Row, after: Row) -> str:
    old = getattr(before, name, dict(before.extra).get(name))
    new = getattr(after, name, dict(after.extra).get(name))
    return f"{name} {old} → {new}"


def only_the_chosen_advance(change: Change) -> Judged:
    before, after = change.before, change.after
    if before is None or after is None:
        return None
    tokens = after.generated_len - before.generated_len
    prefilled = before.phase == "prefill" and after.phase == "decode"
    values = {"request": after.request_id, "tokens": tokens, "ran": change.ran or ""}
    guilty = ((after.request_id, "generated_len"), (after.request_id, "phase"))
    if change.ran is None:
        repeats = before.computed_len is not None and change.victim
        if tokens or (before.phase != after.phase and not repeats):
            return Breach("PROGRESS-3.not_chosen", values, guilty)
        return True if change.served else None
    units_right = (tokens, prefilled) == ((0, True) if before.phase == "prefill" else (1, False))
    return units_right or Breach("PROGRESS-3.not_one_unit", values, guilty)


def resume_goes_on(change: Change) -> Judged:
    before, after = change.before, change.after
    if before is None or after is None or before.state is not State.PREEMPTED:
        return None
    if change.ran is None:
        return None
    expected = (0 if before.phase == "prefill" else 1) + before.generated_len
    if after.computed_len not in (None, after.total_len):
        short = {"request": after.request_id, "computed": after.computed_len}
        short["total"] = after.total_len
        return Breach("PROGRESS-4.hole", short, ((after.request_id, "computed_len"),))
    if (change.ran, after.phase, after.generated_len) == (before.phase, "decode", expected):
        return True
    values = {
        "request": after.request_id,
        "saved": before.phase,
        "ran": change.ran,
        "expected": expected,
        "got": after.generated_len,
    }
    guilty = ((after.request_id, "phase"), (after.request_id, "generated_len"))
    return Breach("PROGRESS-4", values, guilty)


def preempted_only_after_progress(change: Change) -> Judged:
    before = change.before
    if not change.victim or before is None or not before.preemptions:
        return None
    if before.advanced:
        return True
    values = {"request": before.request_id, "times": before.preemptions + 1}
    return Breach(
        "PREEMPT-1" if before.computed_len is None else "PREEMPT-1.no_token",
        values,
        ((before.request_id, "preemptions"),),
    )


CLAIMS = (
    Claim(
        "PROGRESS-1",
        Kind.ALWAYS,
        GENERAL,
        Over.CHANGE,
        progress_is_never_lost,
        "chapter, step 3",
        needs(Feature.LIFECYCLE),
    ),
    Claim(
        "PROGRESS-2",
        Kind.ALWAYS,
        GENERAL,
        Over.CHANGE,
        preemption_keeps_the_rest,
        "chapter, step 4, TODO 3; vllm-project/vllm#48245",
        needs(Feature.LIFECYCLE),
    ),
    Claim(
        "PROGRESS-3",
        Kind.ALWAYS,
        GENERAL,
        Over.CHANGE,
        only_the_chosen_advance,
        "chapter, step 2",
        needs(Feature.LIFECYCLE, Feature.ONE_UNIT),
    ),
    Claim(
        "PROGRESS-4",
        Kind.ALWAYS,
        GENERAL,
        Over.CHANGE,
        resume_goes_on,
        "chapter, step 2; vllm-project/vllm#42043",
        needs(Feature.LIFECYCLE, Feature.ONE_UNIT),
    ),
    Claim(
        "PREEMPT-1",
        Kind.ALWAYS_WITH_HISTORY,
        GENERAL,
        Over.CHANGE,
        preempted_only_after_progress,
        "huggingface/transformers#43150 (evict and admit again without end)",
        needs(Feature.LIFECYCLE),
    ),
)
