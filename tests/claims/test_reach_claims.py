"""What should be reached: an edge that does, and others that come near it.

Rules. Each claim of the kind has its row in the table below; one that has none fails a test.
Also here: our own model breaks no claim on any edge that the tests play.
"""

from __future__ import annotations

import pytest
from tests.claims.batch_cases import BATCH_PLAYED, BATCH_REACHED
from tests.claims.conftest import (
    AGED,
    FINISH,
    HANDOVER,
    IDLE,
    LATE,
    NEW,
    ON_TIME,
    PASSED_BY,
    PLAYED,
    PREEMPTION,
    PREFILL,
    PREFILL_OF_TWO,
    RESUME,
    SKIP,
    STUCK,
    TOKEN,
    before,
    told,
)

from schedproof.claims.catalogue import BY_ID, CLAIMS
from schedproof.claims.claim import Kind, Over
from schedproof.claims.edge import Edge
from schedproof.subjects.batch import BATCH_FEATURES

REACHED: dict[str, tuple[tuple[Edge, ...], tuple[Edge, ...]]] = {
    "REACH-PREEMPTION": ((PREEMPTION,), (TOKEN, NEW)),
    "REACH-RESUME": ((RESUME,), (PASSED_BY, before(RESUME, 1, generated_len=0), STUCK)),
    "REACH-SKIP": ((SKIP,), (PREFILL_OF_TWO, before(SKIP, 1, priority=-1), NEW)),
    "REACH-MISS": ((LATE,), (ON_TIME, NEW)),
    "REACH-TIE": (
        (PREFILL_OF_TWO,),
        (
            before(PREFILL_OF_TWO, 2, priority=-1),
            before(before(PREFILL_OF_TWO, 2, generated_len=2), 1, prompt_len=6),
            PREFILL,
            NEW,
        ),
    ),
    "REACH-AGING": (
        (before(before(AGED, 1, wait_steps=4), 2, priority=1),),
        (
            AGED,
            before(AGED, 2, priority=1),  # the other is ahead all the same: by its priority,
            before(before(AGED, 1, wait_steps=2), 2, priority=1, prompt_len=1),  # by its length
            before(before(AGED, 1, wait_steps=4, cache_hit=True), 2, priority=1),
            NEW,
        ),
    ),
    "REACH-HANDOVER": ((HANDOVER,), (FINISH, TOKEN, NEW)),
    "REACH-STUCK": ((STUCK,), (IDLE, TOKEN, NEW)),
    **BATCH_REACHED,
}


REACHABLE = [claim.id for claim in CLAIMS if claim.kind is Kind.SOMETIMES]


@pytest.mark.parametrize("claim_id", REACHABLE)
def test_what_should_be_reached_is_seen_when_it_is(claim_id: str) -> None:
    reached, others = REACHED[claim_id]
    assert reached
    assert others
    assert [told(BY_ID[claim_id], edge) for edge in reached] == [(True, [])] * len(reached)
    assert [told(BY_ID[claim_id], edge) for edge in others] == [(False, [])] * len(others)


@pytest.mark.parametrize("name", BATCH_PLAYED)
def test_our_scheduler_of_batches_keeps_its_claims_on_every_edge(name: str) -> None:
    claims = [c for c in CLAIMS if c.needs <= BATCH_FEATURES and c.over is not Over.RUN]
    assert len(claims) > 25
    assert not [claim.id for claim in claims if told(claim, BATCH_PLAYED[name])[1]]


@pytest.mark.parametrize("name", PLAYED)
def test_our_model_keeps_every_claim_on_every_edge_that_it_plays(name: str) -> None:
    over_edges = [claim for claim in CLAIMS if claim.over is not Over.RUN]
    assert not [claim.id for claim in over_edges if told(claim, PLAYED[name])[1]]
