"""All claims, in the order of the catalogue, and the order in which they are told.

Rules. When one edge breaks several claims, the first in `TELLS_FIRST` is told and the
others stand below it as also broken. The order goes from the most specific to the most
general: what a preemption did to its victim before what became of the ledger, the ledger
before the order of requests, and the reports last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schedproof.claims import (
    batch,
    batch_reach,
    flight,
    inputs,
    kv,
    ledger,
    lifecycle,
    liveness,
    order,
    progress,
    reach,
    relations,
    reports,
    victim,
)
from schedproof.claims.claim import Claim, Kind, Over
from schedproof.subjects.contract import Subject

CLAIMS: tuple[Claim, ...] = (
    *ledger.CLAIMS,
    *batch.BLOCKS,
    *lifecycle.CLAIMS,
    *progress.CLAIMS,
    *flight.THRASH,
    *victim.CLAIMS,
    *batch.VICTIMS,
    *order.CLAIMS,
    *batch.ORDER,
    *flight.FLIGHT,
    *flight.ADMISSION,
    *kv.CLAIMS,
    *relations.CLAIMS,
    *reports.CLAIMS,
    *inputs.CLAIMS,
    *batch.INPUTS,
    *liveness.CLAIMS,
    *reach.CLAIMS,
    *batch_reach.CLAIMS,
)
BY_ID = {claim.id: claim for claim in CLAIMS}

TELLS_FIRST = (
    "INPUT-1",
    "INPUT-2",
    "REJECT-1",
    "ABORT-1",
    "STALL-2",
    "LIFE-4",
    "LIFE-2",
    "PROGRESS-2",
    "VICTIM-2",
    "VICTIM-1",
    "VICTIM-3",
    "VICTIM-4",
    "VICTIM-5",
    "VICTIM-6",
    "VICTIM-7",
    "PREEMPT-1",
    "PREEMPT-2",
    "LEDGER-4",
    "LEDGER-2",
    "LEDGER-3",
    "LEDGER-1",
    "PROGRESS-4",
    "PROGRESS-1",
    "PROGRESS-3",
    "LIFE-3",
    "LIFE-1",
    "BATCH-1",
    "FLIGHT-1",
    "COUNT-1",
    "KV-1",
    "OUTPUT-1",
    "ORDER-1",
    "FAIR-1",
    "ADMIT-1",
    "WORK-1",
    "WORK-2",
    "STALL-1",
    "STALL-3",
    "WAIT-1",
    "CLOCK-1",
    "EVENT-2",
    "EVENT-1",
    "REPLAY-1",
    "ORDER-3",
    "ORDER-4",
    "ORDER-5",
    "ORDER-2",
    "LIVE-1",
    "LIVE-2",
)
_RANK = {claim_id: rank for rank, claim_id in enumerate(TELLS_FIRST)}


def in_telling_order(claims: Iterable[Claim]) -> list[Claim]:
    """Most specific first; claims from elsewhere before ours: somebody asked for just them."""
    last = len(_RANK)
    return sorted(claims, key=lambda c: _RANK.get(c.id, last) if c.id in BY_ID else -1)


def applicable(claims: Sequence[Claim], subject: Subject) -> list[Claim]:
    """The claims that this subject can be judged by."""
    return [claim for claim in claims if claim.applies_to(subject)]


class UnknownClaim(LookupError):
    """A name that selects no claim; `name` is what was given."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def select(names: Sequence[str], own: Sequence[Claim] = ()) -> list[Claim]:
    """Claims by id or family ("LEDGER", "ledger-1"), in catalogue order; all if none given.

    `own` are claims from elsewhere, which can be named as well and stand first.

    Claims of the kind sometimes are always kept: they say whether a run meant anything. Those
    about endless arrivals must be named: most searches have none. Raises `UnknownClaim`.
    """
    wanted = [name.strip().upper() for name in names if name.strip()]
    known = (*own, *CLAIMS)
    for name in wanted:
        if not any(name in (claim.id, claim.family) for claim in known):
            raise UnknownClaim(name)
    if not wanted:
        return [claim for claim in known if claim.over is not Over.ROUNDS]
    return [
        claim
        for claim in known
        if claim.kind is Kind.SOMETIMES or claim.id in wanted or claim.family in wanted
    ]


def known_names(own: Sequence[Claim] = ()) -> list[str]:
    """All names that `select` takes: families first, then ids."""
    known = (*own, *CLAIMS)
    return [*dict.fromkeys(claim.family for claim in known), *(claim.id for claim in known)]
