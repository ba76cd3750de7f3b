"""Schedulers of batches as subjects: what is seen, how one goes back, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from schedmodel.batch import BatchScheduler
from schedproof.subjects.actions import STEP, Abort, BatchEnqueue, Deliver, from_json, to_json
from schedproof.subjects.batch import BatchSubject, Mark, NotPlain, from_batch_class
from schedproof.subjects.contract import Config, Feature, Limits, PolicyRefused, SubjectError
from schedproof.subjects.observation import Paged, Span

CONFIG = Config("fcfs", 3, 1, Limits(2, 2, 4))
LED = (BatchEnqueue(0, 1, 4), BatchEnqueue(1, 3, 2), STEP, STEP, STEP, Abort(0), STEP, STEP)


def subject(scheduler: type[Any] = BatchScheduler, config: Config = CONFIG) -> BatchSubject:
    return BatchSubject(from_batch_class(scheduler), config, strict_types=True)


def test_what_is_seen_of_a_scheduler_of_batches() -> None:
    led = subject()
    assert led.do(LED[0]).accepted
    answer = led.do(STEP)
    assert answer.batch == (Span(0, "prefill", 1, 0, 1),)
    seen = led.observe()
    (row,) = seen.rows
    assert seen.paged == Paged(2, 2, 4, (1, 0, 0), (1, 2), (0,), ())
    assert (row.status, row.computed_len, row.block_ids, row.required_blocks) == (
        "running",
        1,
        (0,),
        3,
    )
    assert {getattr(row, name) for name in ("wait_steps", "cache_hit", "deadline_step")} == {None}
    assert dict(row.extra)["output"] == ()
    assert {Feature.ABORT, Feature.STRICT_TYPES} <= led.features
    assert Feature.WAITS not in led.features


def test_a_rejection_is_an_answer_and_a_refusal_another() -> None:
    led = subject()
    rejected = led.do(BatchEnqueue(0, 5, 4))
    assert (rejected.accepted, rejected.rejected) == (True, ("blocks", 5, 3))
    refused = led.do(BatchEnqueue(0, 1))
    assert (refused.accepted, refused.rejected) == (False, None)
    assert "0" in str(refused.refusal)


def test_going_back_leads_to_the_same_state_and_the_same_future() -> None:
    led, marks = subject(), list[Mark]()
    answers: list[Any] = []
    for action in LED:
        marks.append(led.mark())
        answers.append((led.do(action), led.observe()))
    for place in (5, 0, 3, 7, 2, 6, 1, 4):
        led.reset(marks[place])
        assert led.mark() == marks[place]
        assert (led.do(LED[place]), led.observe()) == answers[place]


def test_a_fork_goes_its_own_way() -> None:
    led = subject()
    for action in LED[:3]:
        led.do(action)
        led.observe()
    other = led.fork()
    before = led.mark()
    other.do(Abort(0))
    other.do(STEP)
    assert led.mark() == before
    led.add_wait(0, 5)
    assert led.mark() == before


class Odd(BatchScheduler):
    """Stores what cannot be written back, in one of its requests."""

    def enqueue(self, *arguments: Any, **named: Any) -> Any:
        answer = super().enqueue(*arguments, **named)
        self.requests[named["request_id"]].later = lambda: None  # type: ignore[attr-defined]
        return answer


class Broken(BatchScheduler):
    """Cannot step."""

    def step(self) -> Any:
        raise ZeroDivisionError("at once")


def test_what_cannot_be_taken_down_is_refused() -> None:
    led = subject(Odd)
    led.do(LED[0])
    with pytest.raises(NotPlain):
        led.mark()


def test_what_fails_is_told_as_a_failure() -> None:
    with pytest.raises(SubjectError, match="raised") as caught:
        subject(Broken).do(STEP)
    assert caught.value.values["type"] == "ZeroDivisionError"
    with pytest.raises(SubjectError) as caught:
        subject().do(Deliver())
    assert caught.value.message_id == "contract.no_such_verb"
    with pytest.raises(PolicyRefused):
        subject(config=Config("aging", 3, 1, CONFIG.limits))


def test_an_enqueue_for_batches_names_its_four_arguments() -> None:
    record = to_json(LED[1])
    assert record["args"] == {
        "request_id": 1,
        "prompt_len": 3,
        "max_new_tokens": 2,
        "priority": 0,
    }
    assert from_json(record) == LED[1]
    assert isinstance(from_json(record), BatchEnqueue)
