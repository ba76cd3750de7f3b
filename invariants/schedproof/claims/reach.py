"""What a run must reach for its silence to mean anything.

Each predicate answers True on an edge that reaches it, else None: these claims are never
broken, only reached or not reached.
"""

from __future__ import annotations

from collections.abc import Callable

from schedmodel.choice import admission
from schedmodel.lifecycle import State
from schedmodel.policy import KNOWN_POLICIES
from schedproof.claims.claim import GENERAL, Claim, Kind, Over, needs
from schedproof.claims.edge import Edge, Judged
from schedproof.subjects.contract import Feature
from schedproof.subjects.observation import Row


def _when(reached: bool) -> Judged:
    return True if reached else None


def preemption(edge: Edge) -> Judged:
    return _when(bool(edge.victims))


def resume(edge: Edge) -> Judged:
    row = edge.chosen
    return _when(row is not None and row.state is State.PREEMPTED and row.generated_len > 0)


def skip(edge: Edge) -> Judged:
    """A request that was ahead in the order was passed over, because it did not fit."""
    row = edge.chosen
    if row is None or _is_first(row, edge):
        return None
    unfinished, rank = [other for _, other in edge.order], edge.rules.effective_priority
    ahead = unfinished[: unfinished.index(row)] if row in unfinished else ()
    return _when(any(not admission(o, unfinished, edge.free_before, rank)[0] for o in ahead))


def _is_first(row: Row, edge: Edge) -> bool:
    return bool(edge.order) and edge.order[0][1] is row


def miss(edge: Edge) -> Judged:
    return _when(edge.event.get("deadline_missed") is True)


def tie(edge: Edge) -> Judged:
    """The chosen request was ahead of another by its id alone."""
    row = edge.chosen
    if row is None or len(edge.order) < 2:
        return None
    keys = [key[:-1] for key, _ in edge.order]
    mine = [key[:-1] for key, other in edge.order if other is row]
    return _when(any(keys.count(key) > 1 for key in mine))


def aging_lifts(edge: Edge) -> Judged:
    """Waiting put the chosen request ahead of one that was submitted with more priority."""
    row = edge.chosen
    if row is None or len(edge.order) < 2:
        return None
    behind = edge.order
    while behind and behind[0][1] is not row:
        behind = behind[1:]
    stronger = (key for key, other in behind if other.priority > row.priority)
    before = edge.rules.columns.index("-effective_priority")  # what counts more than it
    return _when(any(key[:before] == behind[0][0][:before] for key in stronger))


def handover(edge: Edge) -> Judged:
    """Somebody finishes, and a request that did not fit before fits now."""
    if edge.free_after <= edge.free_before:
        return None
    if not any(c.after and c.after.finished and c.ran for c in edge.changes):
        return None
    waiting = (row for row in edge.after if not row.admitted and not row.done)
    return _when(any(edge.free_before < r.required_blocks <= edge.free_after for r in waiting))


def stuck(edge: Edge) -> Judged:
    if not edge.stepped or edge.served:
        return None
    return _when(any(not row.done for row in edge.before))


def _reach(name: str, predicate: Callable[[Edge], Judged], *policies: str) -> Claim:
    return Claim(
        f"REACH-{name}",
        Kind.SOMETIMES,
        GENERAL,
        Over.STEP,
        predicate,
        "guard against vacuous runs",
        needs(Feature.LIFECYCLE, Feature.SINGLE_STEP, Feature.ADMISSION_PREEMPTION),
        frozenset(policies) or None,
    )


_KEYED = tuple(name for name in KNOWN_POLICIES if name != "fcfs")
_AGING = tuple(name for name, policy in KNOWN_POLICIES.items() if policy.ages)

CLAIMS = (
    _reach("PREEMPTION", preemption, *_KEYED),
    _reach("RESUME", resume, *_KEYED),
    _reach("SKIP", skip),
    _reach("MISS", miss),
    _reach("TIE", tie, *_KEYED),
    _reach("AGING", aging_lifts, *_AGING),
    _reach("HANDOVER", handover),
    _reach("STUCK", stuck),
)
