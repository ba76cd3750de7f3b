"""The claim that compares with the built-in model: each difference as it is told, word by word."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.claims.conftest import (
    AGED,
    BAD_DEADLINE,
    BAD_SIZE,
    FINISH,
    IDLE,
    NEW,
    PLAYED,
    PREEMPTION,
    PREFILL,
    PREFILL_OF_TWO,
    REFUSED,
    STUCK,
    TIMED,
    after,
    answered,
    before,
    gone,
    play,
    reported,
)

from schedproof.claims.against import does_as_the_model
from schedproof.claims.edge import Breach
from schedproof.subjects.actions import STEP
from schedproof.subjects.contract import Config
from schedproof.subjects.observation import Span

TOKENS = "generated_len"
DIFFERENCES = {
    "accepted": (
        answered(BAD_SIZE, accepted=True),
        Breach("MODEL-1.accepted", {"request": 1, "argument": "prompt_len"}, ((1, "request_id"),)),
    ),
    "refused": (
        answered(NEW, accepted=False),
        Breach("MODEL-1.refused", {"request": 1, "argument": ""}, ((1, "request_id"),)),
    ),
    "runs nobody": (
        answered(PREFILL, event=None, batch=()),
        Breach("MODEL-1.served", {"got": "nobody", "due": "r1"}, ((1, TOKENS),)),
    ),
    "serves nobody": (
        answered(PREFILL, event=None),
        Breach("MODEL-1.served", {"got": "nobody", "due": "r1"}, ((1, TOKENS),)),
    ),
    "serves though nobody fits": (
        answered(STUCK, event=PREFILL.answer.event, batch=PREFILL.answer.batch),
        Breach("MODEL-1.served", {"got": "r1", "due": "nobody"}, ((1, TOKENS),)),
    ),
    "serves another": (
        reported(PREFILL_OF_TWO, request_id=2),
        Breach("MODEL-1.served", {"got": "r2", "due": "r1"}, ((1, TOKENS),)),
    ),
    "serves another, and says so": (
        answered(reported(PREFILL_OF_TWO, request_id=2), batch=(Span(2, "prefill"),)),
        Breach("MODEL-1.served", {"got": "r2", "due": "r1"}, ((2, TOKENS), (1, TOKENS))),
    ),
    "names another victim": (
        reported(PREEMPTION, preempted_request_id=2),
        Breach("MODEL-1.victim", {"got": "r2", "due": "r1"}),
    ),
    "names no victim": (
        reported(PREEMPTION, preempted_request_id=None),
        Breach("MODEL-1.victim", {"got": "nobody", "due": "r1"}),
    ),
    "a wrong event": (
        reported(PREFILL, phase="decode"),
        Breach("MODEL-1.event", {"field": "phase", "got": "decode", "due": "prefill"}),
    ),
    "blocks": (
        replace(PREFILL, free_after=3),
        Breach("MODEL-1.free", {"got": 3, "due": 2}, ((None, "free_kv_blocks"),)),
    ),
    "a value": (
        after(PREFILL, 1, wait_steps=4),
        Breach(
            "MODEL-1.state",
            {"request": 1, "field": "wait_steps", "got": 4, "due": 0},
            ((1, "wait_steps"),),
        ),
    ),
    "the blocks of a request": (
        after(PREFILL, 1, held_blocks=2),
        Breach(
            "MODEL-1.state",
            {"request": 1, "field": "held_blocks", "got": 2, "due": 1},
            ((1, "held_blocks"),),
        ),
    ),
}


@pytest.mark.parametrize("name", PLAYED)
def test_what_the_model_did_is_what_the_model_does(name: str) -> None:
    edge = PLAYED[name]
    asked = edge.stepped or edge.answer.accepted is not None
    assert does_as_the_model(edge) is (True if asked else None)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_difference_is_told(name: str) -> None:
    edge, breach = DIFFERENCES[name]
    assert does_as_the_model(edge) == breach


def test_a_request_that_is_gone_differs_unless_it_was_finished() -> None:
    told = does_as_the_model(gone(PREFILL, 1))
    assert isinstance(told, Breach)
    assert (told.text, told.values["got"]) == ("MODEL-1.state", None)
    assert does_as_the_model(gone(FINISH, 1)) is True


def test_a_call_without_an_answer_is_not_judged() -> None:
    assert does_as_the_model(answered(NEW, accepted=None)) is None


def test_a_state_that_has_no_name_is_not_judged() -> None:
    odd = before(PREFILL, 1, status="resting")
    assert odd.before[0].state is None
    assert does_as_the_model(odd) is None


def test_refused_calls_are_compared_by_whether_they_are_refused() -> None:
    for edge in (REFUSED, BAD_SIZE, BAD_DEADLINE):
        assert does_as_the_model(edge) is True
        assert isinstance(does_as_the_model(answered(edge, accepted=True)), Breach)


def test_the_model_ages_at_the_pace_of_the_rules() -> None:
    urgent = before(AGED, 1, priority=1)
    waited = after(before(urgent, 2, wait_steps=2), 2, wait_steps=3)
    same = after(waited, 1, priority=1)
    assert does_as_the_model(same) is True
    hurried = replace(same, rules=Config("aging", 3, aging_interval=1).rules())
    told = does_as_the_model(hurried)
    assert isinstance(told, Breach)
    assert (told.text, told.values) == ("MODEL-1.served", {"got": "r1", "due": "r2"})


def test_a_clock_that_nobody_shows_is_taken_for_zero() -> None:
    assert does_as_the_model(replace(IDLE, clock=None)) is True
    assert does_as_the_model(replace(PREFILL, clock=None)) is True


def test_a_deadline_is_kept_at_its_border_from_the_first_step_on() -> None:
    just = play(replace(TIMED, deadline_step=3), STEP)
    assert just.clock == 0
    assert does_as_the_model(just) is True
