"""The lifecycle: requests move along the table's edges, end once, and are never lost."""

from __future__ import annotations

from schedmodel.lifecycle import HOLDING, State
from schedproof.claims.claim import GENERAL, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Change, Edge, Judged, stored_differences
from schedproof.subjects.actions import Enqueue
from schedproof.subjects.contract import Feature
from schedproof.subjects.observation import Paged, holds_by_state

_NEEDS = needs(Feature.LIFECYCLE)
_ENDED_EARLY = ("aborted", "rejected")

ONE_UNIT_MOVES = frozenset(
    {
        (State.WAITING, State.DECODE),
        (State.DECODE, State.FINISHED),
        (State.DECODE, State.PREEMPTED),
        (State.PREEMPTED, State.DECODE),
        (State.PREEMPTED, State.FINISHED),
    }
)
"""What one step can change a request's state from and to when it does one unit of work.

Each is a run of edges of the lifecycle with at most one preempt, prefill or token.
"""


def states_follow_the_table(change: Change) -> Judged:
    before, after = change.before, change.after
    if after is None or after.state is None:
        return None
    values = {"request": after.request_id, "to": after.state.value}
    guilty = ((after.request_id, "status"), (after.request_id, "phase"))
    if before is None:
        newborn = after.state is State.WAITING or after.finish_reason == "rejected"
        return newborn or Breach("LIFE-1.newcomer", values, guilty)
    if before.state is None:
        return None
    if before.state is after.state:
        return True if change.stepped else None
    values["from"] = before.state.value
    if not change.stepped:
        aborted = after.finished and after.finish_reason == "aborted"
        return aborted or Breach("LIFE-1.no_step", values, guilty)
    legal = (before.state, after.state) in ONE_UNIT_MOVES
    return legal or Breach("LIFE-1.no_edge", values, guilty)


def finished_is_final(edge: Edge) -> Judged:
    if not edge.some_finished:
        return None
    for before in edge.before:
        after = edge.after_by_id.get(before.request_id)
        if before.finished and after is not before:
            fields = () if after is None else stored_differences(before, after)
            values = {"request": before.request_id, "fields": ", ".join(fields)}
            return Breach("LIFE-2", values, tuple((before.request_id, f) for f in fields))
    return True


def finished_means_done(change: Change) -> Judged:
    row = change.after
    if row is None or row.state is None or row.finish_reason in _ENDED_EARLY:
        return None
    values = {
        "request": row.request_id,
        "status": row.status,
        "generated": row.generated_len,
        "limit": row.max_new_tokens,
    }
    guilty = ((row.request_id, "status"), (row.request_id, "generated_len"))
    if row.finished and not row.done:
        return Breach("LIFE-3.too_early", values, guilty)
    if row.done and not row.finished:
        return Breach("LIFE-3.not_finished", values, guilty)
    return True if row.finished else None


def nobody_is_lost(edge: Edge) -> Judged:
    found, known = edge.after_by_id.keys(), edge.before_by_id.keys()
    comes = edge.action if isinstance(edge.action, Enqueue) and edge.answer.accepted else None
    expected = known if comes is None else {*known, comes.request_id}
    for request_id in sorted(expected - found) if expected != found else ():
        return Breach("LIFE-4.lost", {"request": request_id}, ((request_id, "status"),))
    for request_id in sorted(found - expected) if expected != found else ():
        return Breach("LIFE-4.invented", {"request": request_id}, ((request_id, "status"),))
    if len(edge.after) != len(edge.after_by_id):
        ids = [row.request_id for row in edge.after]
        twice = next(i for i in ids if ids.count(i) > 1)
        return Breach("LIFE-4.twice", {"request": twice}, ((twice, "status"),))
    for row in edge.after:
        if row.state is None:
            values = {"request": row.request_id, "status": row.status, "phase": row.phase}
            return Breach("LIFE-4.no_state", values, ((row.request_id, "status"),))
    misplaced = _misplaced(edge)
    if misplaced is not None:
        return misplaced
    return True if edge.after or expected else None


def _all_in_place(edge: Edge, paged: Paged) -> bool:
    """Whether all is right with the queues, found out at once."""
    running, waiting, queued = paged.running, paged.waiting, 0
    for row in edge.after:
        if row.finished:
            continue
        if row.request_id not in (running if row.state in HOLDING else waiting):
            return False
        queued += 1
    return queued == len(running) + len(waiting)


def _misplaced(edge: Edge) -> Breach | None:
    """Who is not in the one queue in which its state says that it is, where queues are seen."""
    paged = edge.paged_after
    if paged is None or _all_in_place(edge, paged):
        return None
    queues = {"running": paged.running, "waiting": paged.waiting}
    shown = {row.request_id for row in edge.after}
    for row in edge.after:
        for name, queue in queues.items():
            right = 0 if row.finished else int(holds_by_state(row) == (name == "running"))
            times = queue.count(row.request_id)
            if times != right:
                values = {"request": row.request_id, "status": row.status, "queue": name}
                text = "LIFE-4.not_queued" if times < right else "LIFE-4.queued"
                return Breach(text, {**values, "times": times}, ((row.request_id, "status"),))
    for name, queue in queues.items():
        for request_id in queue:
            if request_id not in shown:
                values = {"request": request_id, "queue": name}
                return Breach("LIFE-4.stray", values, ((request_id, "status"),))
    return None


CLAIMS = (
    Claim(
        "LIFE-1",
        Kind.ALWAYS,
        GENERAL,
        Over.CHANGE,
        states_follow_the_table,
        "chapter, step 2; vllm-project/vllm#23347",
        needs(Feature.LIFECYCLE, Feature.ONE_UNIT),
    ),
    Claim(
        "LIFE-2",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        finished_is_final,
        "chapter, step 2; PaddlePaddle/FastDeploy#3292",
        _NEEDS,
    ),
    Claim(
        "LIFE-3",
        Kind.ALWAYS,
        GENERAL,
        Over.CHANGE,
        finished_means_done,
        "chapter, step 2, completion",
        _NEEDS,
    ),
    Claim(
        "LIFE-4",
        Kind.ALWAYS,
        GENERAL,
        Over.EDGE,
        nobody_is_lost,
        "chapter, step 2; vllm-project/vllm#42157",
        _NEEDS,
    ),
)
