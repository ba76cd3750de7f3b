"""Every claim over edges: one that keeps it, one for each way to break it, one it leaves alone.

Rules. The table below names the edges; a claim that is not in it fails a test, and so does
a text for telling a breach that no edge of the table brings about.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import pytest
from tests.claims.batch_cases import BATCH_CASES, MORE_WAYS
from tests.claims.conftest import (
    AFTER_FINISH,
    BAD_DEADLINE,
    BAD_ID,
    BAD_SIZE,
    FINISH,
    IDLE,
    LATE,
    NEW,
    NEXT_TOKEN,
    ON_TIME,
    PASSED_BY,
    PREEMPTED_TWICE,
    PREEMPTION,
    PREFILL,
    PREFILL_OF_TWO,
    REFUSED,
    REST,
    RESUME,
    SECOND,
    SKIP,
    STUCK,
    TOKEN,
    TWO_HOLDERS,
    after,
    answered,
    before,
    gone,
    reported,
    texts_of_breaches,
    told,
)
from tests.claims.engine_cases import ENGINE_CASES
from tests.claims.flight_cases import FLIGHT_CASES, FLIGHT_WAYS

from schedproof.claims.catalogue import BY_ID, CLAIMS
from schedproof.claims.claim import Claim, Kind, Over
from schedproof.claims.edge import Edge
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell


class Phase(str, Enum):
    """Somebody's own kind of text."""

    PREFILL = "prefill"


@dataclass(frozen=True)
class Cases:
    """Edges that keep a claim, that break it (with the text that tells it), and others."""

    keep: tuple[Edge, ...]
    break_: tuple[tuple[str, Edge], ...]
    leave: tuple[Edge, ...]


FALSE_REPORTS = {
    "phase": "decode",
    "action": "finish",
    "prompt_len": 5,
    "generated_len": 1,
    "max_new_tokens": 4,
    "wait_steps": True,
    "free_kv_blocks": 2.0,
    "preempted_request_id": None,
}

CASES = {
    "LEDGER-1": Cases(
        (PREFILL, PREEMPTION, FINISH),
        (("LEDGER-1", replace(PREFILL, free_after=3)),),
        (NEW, IDLE),
    ),
    "LEDGER-2": Cases(
        (PREFILL,),
        (
            ("LEDGER-2", replace(PREFILL, free_after=-1)),
            ("LEDGER-2", replace(PREFILL, free_after=4)),
        ),
        (NEW,),
    ),
    "LEDGER-3": Cases(
        (PREFILL, PREEMPTION),
        (
            ("LEDGER-3.holds_nothing", after(PREFILL, 1, held_blocks=0)),
            ("LEDGER-3.still_holds", after(PREEMPTION, 1, held_blocks=2)),
            ("LEDGER-3.other_number", after(TOKEN, 1, held_blocks=2)),
        ),
        (NEW, gone(TOKEN, 1), after(PREFILL, 1, status="odd")),
    ),
    "LIFE-1": Cases(
        (NEW, PREFILL, TOKEN, FINISH, PREEMPTION, RESUME, STUCK),
        (
            ("LIFE-1.newcomer", after(NEW, 1, status="preempted")),
            ("LIFE-1.no_step", after(SECOND, 1, status="preempted")),
            ("LIFE-1.no_edge", after(PREFILL, 1, status="preempted")),
        ),
        (REFUSED, gone(TOKEN, 1), before(TOKEN, 1, status="odd"), after(TOKEN, 1, status="odd")),
    ),
    "LIFE-2": Cases(
        (AFTER_FINISH, REST),
        (
            ("LIFE-2", after(REST, 1, priority=7)),
            ("LIFE-2", gone(REST, 1)),
        ),
        (NEW, TOKEN),
    ),
    "LIFE-3": Cases(
        (FINISH,),
        (
            ("LIFE-3.too_early", after(TOKEN, 1, status="finished")),
            ("LIFE-3.not_finished", after(FINISH, 1, status="running")),
        ),
        (
            NEW,
            gone(TOKEN, 1),
            after(FINISH, 1, status="odd"),
            after(TOKEN, 1, status="finished", finish_reason="aborted"),
            after(TOKEN, 1, status="finished", finish_reason="rejected"),
        ),
    ),
    "LIFE-4": Cases(
        (NEW, TOKEN, REFUSED),
        (
            ("LIFE-4.lost", gone(TOKEN, 1)),
            ("LIFE-4.lost", gone(NEW, 1)),
            ("LIFE-4.invented", replace(IDLE, after=NEW.after)),
            ("LIFE-4.invented", answered(NEW, accepted=False)),
            ("LIFE-4.twice", replace(TOKEN, after=TOKEN.after * 2)),
            ("LIFE-4.no_state", after(TOKEN, 1, status="odd")),
        ),
        (IDLE,),
    ),
    "PROGRESS-1": Cases(
        (TOKEN, PREEMPTION),
        (
            ("PROGRESS-1.tokens", after(NEXT_TOKEN, 1, generated_len=0)),
            ("PROGRESS-1.phase", after(TOKEN, 1, phase="prefill")),
        ),
        (NEW, PREFILL, gone(TOKEN, 1)),
    ),
    "PROGRESS-2": Cases(
        (PREEMPTION,),
        (
            ("PROGRESS-2", after(PREEMPTION, 1, generated_len=0)),
            ("PROGRESS-2", after(PREEMPTION, 1, extra=(("score", 1),))),
            ("PROGRESS-2.count", after(PREEMPTION, 1, preemptions=0)),
            ("PROGRESS-2.count", after(PREEMPTION, 1, preemptions=2)),
        ),
        (NEW, TOKEN, gone(PREEMPTION, 1)),
    ),
    "PROGRESS-3": Cases(
        (PREFILL_OF_TWO, TOKEN),
        (
            ("PROGRESS-3.not_chosen", after(PREFILL_OF_TWO, 2, generated_len=1)),
            ("PROGRESS-3.not_chosen", after(SECOND, 1, phase="decode")),
            ("PROGRESS-3.not_one_unit", after(TOKEN, 1, generated_len=2)),
            ("PROGRESS-3.not_one_unit", after(TOKEN, 1, generated_len=0)),
            ("PROGRESS-3.not_one_unit", after(PREFILL, 1, generated_len=1)),
        ),
        (NEW, STUCK, gone(TOKEN, 1)),
    ),
    "PROGRESS-4": Cases(
        (RESUME,),
        (
            ("PROGRESS-4", after(RESUME, 1, generated_len=1)),
            ("PROGRESS-4", after(RESUME, 1, phase="prefill")),
            ("PROGRESS-4", before(RESUME, 1, phase="prefill")),
        ),
        (NEW, TOKEN, PASSED_BY, gone(RESUME, 1)),
    ),
    "PREEMPT-1": Cases(
        (PREEMPTED_TWICE,),
        (("PREEMPT-1", before(PREEMPTED_TWICE, 1, advanced=False)),),
        (TOKEN, PREEMPTION, replace(PREEMPTION, before=())),
    ),
    "VICTIM-1": Cases(
        (PREEMPTION, TWO_HOLDERS),
        (
            ("VICTIM-1.challenger", answered(PREEMPTION, preempted=(2,))),
            ("VICTIM-1.not_running", before(PREEMPTION, 1, status="waiting", held_blocks=0)),
            ("VICTIM-1.not_running", before(PREEMPTION, 1, generated_len=3)),
            ("VICTIM-1.not_running", answered(PREEMPTION, preempted=(9,))),
        ),
        (TOKEN,),
    ),
    "VICTIM-2": Cases(
        (PREEMPTION, answered(PREEMPTION, preempted=(9,))),
        (
            ("VICTIM-2", before(PREEMPTION, 1, preemptible=False)),
            ("VICTIM-2", before(answered(PREEMPTION, batch=(), event=None), 1, preemptible=False)),
        ),
        (TOKEN,),
    ),
    "VICTIM-3": Cases(
        (PREEMPTION, answered(PREEMPTION, preempted=(9,))),
        (
            ("VICTIM-3", before(PREEMPTION, 1, priority=1)),
            ("VICTIM-3", before(PREEMPTION, 2, priority=0)),
        ),
        (TOKEN, answered(PREEMPTION, batch=(), event=None)),
    ),
    "VICTIM-4": Cases(
        (PREEMPTION,),
        (
            ("VICTIM-4", replace(PREEMPTION, free_before=2)),
            ("VICTIM-4", before(PREEMPTION, 2, held_blocks=2)),
        ),
        (TOKEN, answered(PREEMPTION, batch=(), event=None)),
    ),
    "VICTIM-5": Cases(
        (PREEMPTION, after(PREEMPTION, 2, status="finished", held_blocks=0)),
        (
            ("VICTIM-5.nobody", answered(PREEMPTION, batch=(), event=None)),
            ("VICTIM-5.challenger", after(PREEMPTION, 2, phase="prefill")),
            ("VICTIM-5.challenger", after(PREEMPTION, 2, held_blocks=0)),
            ("VICTIM-5.challenger", gone(PREEMPTION, 2)),
        ),
        (TOKEN,),
    ),
    "VICTIM-6": Cases(
        (PREEMPTION, TWO_HOLDERS),
        (
            ("VICTIM-6.many", after(TWO_HOLDERS, 1, preemptions=1)),
            ("VICTIM-6", before(TWO_HOLDERS, 1, priority=-1, required_blocks=2)),
            ("VICTIM-6", before(PREEMPTION, 1, preemptible=False)),
        ),
        (TOKEN, answered(PREEMPTION, batch=(), event=None)),
    ),
    "ORDER-1": Cases(
        (PREFILL_OF_TWO, SKIP, PREEMPTION),
        (
            ("ORDER-1", before(PREFILL_OF_TWO, 2, priority=1)),
            ("ORDER-1", before(PREFILL, 1, required_blocks=9)),
            ("ORDER-1", before(PREFILL, 1, generated_len=3)),
        ),
        (PREFILL, STUCK, NEW),
    ),
    "WORK-1": Cases(
        (STUCK,),
        (
            ("WORK-1", before(STUCK, 1, required_blocks=3)),
            ("WORK-1", before(STUCK, 1, held_blocks=9)),
        ),
        (IDLE, NEW, PREFILL),
    ),
    "STALL-1": Cases(
        (STUCK,),
        (("STALL-1", before(replace(STUCK, free_before=0), 1, required_blocks=3)),),
        (IDLE, NEW, PREFILL, before(STUCK, 1, required_blocks=3, generated_len=3)),
    ),
    "WAIT-1": Cases(
        (PREFILL_OF_TWO, PREEMPTION),
        (
            ("WAIT-1", after(PREFILL_OF_TWO, 2, wait_steps=0)),
            ("WAIT-1", after(PREFILL_OF_TWO, 1, wait_steps=1)),
            ("WAIT-1", after(STUCK, 1, wait_steps=1)),
            ("WAIT-1", after(NEW, 1, wait_steps=1)),
            ("WAIT-1", before(PREFILL_OF_TWO, 2, generated_len=2)),
        ),
        (NEW, STUCK, gone(TOKEN, 1)),
    ),
    "CLOCK-1": Cases(
        (PREFILL,),
        (
            ("CLOCK-1", replace(PREFILL, ticks=0)),
            ("CLOCK-1", replace(PREFILL, ticks=2)),
            ("CLOCK-1", replace(STUCK, ticks=1)),
        ),
        (NEW, STUCK),
    ),
    "EVENT-1": Cases(
        (PREFILL, TOKEN, FINISH, PREEMPTION, before(PREFILL, 1, phase=Phase.PREFILL)),
        (
            *(
                ("EVENT-1.phase" if k == "phase" else "EVENT-1", reported(PREEMPTION, **{k: v}))
                for k, v in FALSE_REPORTS.items()
            ),
            ("EVENT-1", reported(TOKEN, preempted_request_id=1)),
            ("EVENT-1", reported(TOKEN, request_id=9)),
            ("EVENT-1", replace(TOKEN, before=())),
            ("EVENT-1.log", answered(PREFILL, log_kept=False)),
            ("EVENT-1.log", answered(NEW, log_kept=False)),
        ),
        (NEW, STUCK),
    ),
    "EVENT-2": Cases(
        (ON_TIME, LATE),
        (
            ("EVENT-2", replace(ON_TIME, clock=50)),
            ("EVENT-2", reported(ON_TIME, deadline_missed=True)),
            ("EVENT-2", reported(LATE, deadline_missed=False)),
            ("EVENT-2", reported(PREFILL, deadline_missed=0)),
        ),
        (NEW, PREFILL, reported(ON_TIME, request_id=9)),
    ),
    "INPUT-1": Cases(
        (REFUSED, BAD_SIZE),
        (
            ("INPUT-1", replace(REFUSED, ticks=1)),
            ("INPUT-1", replace(REFUSED, logged=1)),
            ("INPUT-1", replace(REFUSED, extras_kept=False)),
            ("INPUT-1", replace(REFUSED, free_after=1)),
            ("INPUT-1", after(REFUSED, 1, wait_steps=1)),
            ("INPUT-1", gone(REFUSED, 1)),
            ("INPUT-1", replace(BAD_SIZE, after=NEW.after)),
        ),
        (NEW, TOKEN),
    ),
    "INPUT-2": Cases(
        (NEW, REFUSED, BAD_SIZE, BAD_ID, BAD_DEADLINE),
        (
            ("INPUT-2.duplicate", answered(REFUSED, accepted=True)),
            ("INPUT-2.too_small", answered(BAD_SIZE, accepted=True)),
            ("INPUT-2.late", answered(BAD_DEADLINE, accepted=True)),
            ("INPUT-2.accepted", answered(BAD_ID, accepted=True)),
            ("INPUT-2.valid_refused", answered(NEW, accepted=False, refusal="no")),
        ),
        (TOKEN, answered(NEW, accepted=None)),
    ),
}  # fmt: skip
_OTHERS = BATCH_CASES | ENGINE_CASES | FLIGHT_CASES
CASES |= {name: Cases(*cases) for name, cases in _OTHERS.items()}
for _name, _ways in (*MORE_WAYS.items(), *FLIGHT_WAYS.items()):
    CASES[_name] = replace(CASES[_name], break_=(*CASES[_name].break_, *_ways))

OVER_EDGES = [
    c.id for c in CLAIMS if c.over not in (Over.RUN, Over.ROUNDS) and c.kind is not Kind.SOMETIMES
]


@pytest.mark.parametrize("claim_id", OVER_EDGES)
def test_a_claim_holds_on_edges_that_keep_it(claim_id: str) -> None:
    assert CASES[claim_id].keep
    for edge in CASES[claim_id].keep:
        assert told(BY_ID[claim_id], edge) == (True, [])


@pytest.mark.parametrize("claim_id", OVER_EDGES)
def test_a_claim_is_broken_in_each_of_its_ways(claim_id: str) -> None:
    assert CASES[claim_id].break_
    for text, edge in CASES[claim_id].break_:
        exercised, breaches = told(BY_ID[claim_id], edge)
        assert exercised
        assert [breach.text for breach in breaches] == [text]
        for language in LANGUAGES:
            assert "{" not in tell(language)(f"breach.{text}", **breaches[0].values)


@pytest.mark.parametrize("claim_id", OVER_EDGES)
def test_a_claim_says_nothing_of_edges_that_are_not_its_business(claim_id: str) -> None:
    assert CASES[claim_id].leave
    for edge in CASES[claim_id].leave:
        assert told(BY_ID[claim_id], edge) == (False, [])


def test_every_text_that_tells_a_breach_is_brought_about() -> None:
    others = (Over.RUN, Over.ROUNDS)
    of_edges = {t for t in texts_of_breaches() if BY_ID[t.partition(".")[0]].over not in others}
    assert of_edges == {text for cases in CASES.values() for text, _ in cases.break_}


@pytest.mark.parametrize(
    ("edge", "guilty"),
    [
        (replace(REFUSED, ticks=1), ((None, "clock"),)),
        (replace(REFUSED, free_after=1), ((None, "free_kv_blocks"),)),
        (replace(REFUSED, extras_kept=False), ()),
        (after(REFUSED, 1, wait_steps=1, priority=1), ((1, "priority"), (1, "wait_steps"))),
        (gone(REFUSED, 1), ((1, "status"),)),
        (replace(BAD_SIZE, after=NEW.after), ((1, "status"),)),
    ],
)
def test_a_refusal_that_changes_something_says_what(edge: Edge, guilty: object) -> None:
    _, (breach,) = told(BY_ID["INPUT-1"], edge)
    assert breach.guilty == guilty


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_says_nothing_where_it_is_not_asked(claim: Claim) -> None:
    """The judge does not ask claims over steps about enqueues, nor those over victims elsewhere."""
    if claim.over in (Over.STEP, Over.PREEMPTION):
        assert claim.predicate(NEW) is None
    if claim.over is Over.PREEMPTION:
        assert claim.predicate(TOKEN) is None
