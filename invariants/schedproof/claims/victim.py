"""Who may be preempted, for whom, and what must come of it."""

from __future__ import annotations

from schedmodel.choice import pick_victim
from schedproof.claims.claim import GENERAL, REFERENCE, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Edge, Judged
from schedproof.subjects.contract import Feature

_NEEDS = needs(Feature.LIFECYCLE, Feature.ADMISSION_PREEMPTION)


def victim_was_running(edge: Edge) -> Judged:
    for victim in edge.victims:
        row = edge.before_by_id.get(victim)
        values = {"victim": victim, "status": row.status if row else "unknown"}
        guilty = ((victim, "status"),)
        if victim in edge.served:
            return Breach("VICTIM-1.challenger", values, guilty)
        if row is None or not row.admitted or row.done:
            return Breach("VICTIM-1.not_running", values, guilty)
    return True if edge.victims else None


def victim_is_preemptible(edge: Edge) -> Judged:
    for victim in edge.victims:
        row = edge.before_by_id.get(victim)
        if row is not None and not row.preemptible:
            values = {"victim": victim, "challenger": edge.served[0] if edge.served else "?"}
            return Breach("VICTIM-2", values, ((victim, "preemptible"), (victim, "status")))
    return True if edge.victims else None


def victim_is_less_urgent(edge: Edge) -> Judged:
    challenger = edge.chosen
    if challenger is None or not edge.victims:
        return None
    urgency = edge.rules.effective_priority(challenger)
    for victim in edge.victims:
        row = edge.before_by_id.get(victim)
        if row is not None and edge.rules.effective_priority(row) >= urgency:
            values = {
                "victim": victim,
                "victim_priority": edge.rules.effective_priority(row),
                "challenger": challenger.request_id,
                "challenger_priority": urgency,
            }
            return Breach("VICTIM-3", values, ((victim, "status"),))
    return True


def preemption_was_needed(edge: Edge) -> Judged:
    challenger = edge.chosen
    if challenger is None or not edge.victims:
        return None
    if not challenger.admitted and challenger.required_blocks > edge.free_before:
        return True
    values = {
        "victim": edge.victims[0],
        "challenger": challenger.request_id,
        "needs": 0 if challenger.admitted else challenger.required_blocks,
        "free": edge.free_before,
    }
    return Breach("VICTIM-4", values, ((edge.victims[0], "status"),))


def challenger_gets_its_step(edge: Edge) -> Judged:
    if not edge.victims:
        return None
    victim = edge.victims[0]
    if edge.chosen is None:
        return Breach("VICTIM-5.nobody", {"victim": victim}, ((victim, "status"),))
    before, after = edge.chosen, edge.after_by_id.get(edge.chosen.request_id)
    values = {"victim": victim, "challenger": before.request_id}
    advanced = after is not None and (
        after.generated_len > before.generated_len or after.phase != before.phase
    )
    if after is None or not advanced or not (after.admitted or after.finished):
        return Breach("VICTIM-5.challenger", values, ((before.request_id, "status"),))
    return True


def victim_is_the_least(edge: Edge) -> Judged:
    challenger = edge.chosen
    if challenger is None or not edge.victims:
        return None
    victim, *others = edge.victims
    if others:
        names = ", ".join(f"r{request_id}" for request_id in edge.victims)
        return Breach("VICTIM-6.many", {"victims": names}, ((others[0], "status"),))
    holders = [row for row in edge.before if row.admitted]
    rank = edge.rules.effective_priority
    right = pick_victim(challenger, holders, edge.free_before, rank)
    if right is not None and right.request_id == victim:
        return True
    values = {
        "victim": victim,
        "challenger": challenger.request_id,
        "right": "nobody" if right is None else f"r{right.request_id}",
    }
    return Breach("VICTIM-6", values, ((victim, "status"),))


CLAIMS = (
    Claim(
        "VICTIM-1",
        Kind.ALWAYS,
        GENERAL,
        Over.PREEMPTION,
        victim_was_running,
        "chapter, step 4, TODO 3",
        _NEEDS,
    ),
    Claim(
        "VICTIM-2",
        Kind.ALWAYS,
        GENERAL,
        Over.PREEMPTION,
        victim_is_preemptible,
        "chapter, step 4, TODO 3",
        _NEEDS,
    ),
    Claim(
        "VICTIM-3",
        Kind.ALWAYS,
        GENERAL,
        Over.PREEMPTION,
        victim_is_less_urgent,
        "chapter, step 4, TODO 3",
        _NEEDS,
    ),
    Claim(
        "VICTIM-4",
        Kind.ALWAYS,
        GENERAL,
        Over.PREEMPTION,
        preemption_was_needed,
        "chapter, step 3",
        _NEEDS,
    ),
    Claim(
        "VICTIM-5",
        Kind.ALWAYS,
        GENERAL,
        Over.PREEMPTION,
        challenger_gets_its_step,
        "chapter, step 4, TODO 3; vllm-project/vllm#23347",
        _NEEDS,
    ),
    Claim(
        "VICTIM-6",
        Kind.ALWAYS,
        REFERENCE,
        Over.PREEMPTION,
        victim_is_the_least,
        "chapter, reference answer, the order of victims",
        _NEEDS | {Feature.REFERENCE_ORDER},
    ),
)
