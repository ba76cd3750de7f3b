"""What is wrong with a scheduler as a program: wrong shapes, and what its calls raise."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from tests.subjects.conftest import ONE, error_of, led, reporting, subject_of

from schedproof.subjects.actions import STEP, Abort, Deliver, Enqueue
from schedproof.subjects.chapter import ChapterSubject
from schedproof.subjects.contract import PolicyRefused, SubjectError
from schedproof.zoo.plain import PlainScheduler


@pytest.mark.parametrize("action", [Deliver(), Abort(1)])
def test_what_the_chapter_has_no_verb_for_is_an_error(action: Any) -> None:
    error = error_of(PlainScheduler, action)
    assert (error.kind, error.message_id) == ("contract", "contract.no_such_verb")
    assert error.values == {"action": type(action).__name__.lower()}


@pytest.mark.parametrize("report", [True, "served", {"action": "finish"}, [1]])
def test_a_step_that_returns_no_report_is_told_with_what_it_returned(report: Any) -> None:
    error = error_of(reporting(lambda _: report), ONE, STEP)
    assert (error.kind, error.message_id) == ("contract", "contract.event")
    assert error.values == {"got": repr(report)}


def test_a_scheduler_that_cannot_be_copied_is_told() -> None:
    subject = led(PlainScheduler, ONE)
    subject.scheduler.lock = threading.Lock()
    with pytest.raises(SubjectError) as caught:
        subject.fork()
    assert caught.value.values["call"] == "deepcopy"


@pytest.mark.parametrize(
    "name", ["queue", "timeline", "clock", "free_kv_blocks", "enqueue", "step"]
)
def test_an_attribute_that_a_scheduler_lacks_is_named(name: str) -> None:
    class Bare:
        def __init__(self, **named: Any) -> None:
            for other in {"queue", "timeline", "clock", "free_kv_blocks", "enqueue", "step"}:
                if other != name:
                    setattr(self, other, [])

    error = error_of(Bare)
    assert (error.kind, error.message_id) == ("contract", "contract.attribute")
    assert error.values == {"class": "Bare", "name": name}


@pytest.mark.parametrize("entry", [(1, 4), {"request_id": 1}, object()])
def test_requests_of_no_known_shape_are_told(entry: Any) -> None:
    class Odd(PlainScheduler):
        def enqueue(self, *args: Any, **named: Any) -> None:
            self.queue.append(entry)

    error = error_of(Odd, ONE)
    assert (error.kind, error.message_id) == ("contract", "contract.attribute")
    assert error.values == {"class": type(entry).__name__, "name": "request_id"}


def test_a_field_that_requests_lack_is_named() -> None:
    class Promptless(PlainScheduler):
        def enqueue(self, *args: Any, **named: Any) -> None:
            super().enqueue(*args, **named)
            vars(self.queue[-1]).pop("prompt_len")

    error = error_of(Promptless, ONE)
    assert error.values == {"class": "Request", "name": "prompt_len"}


@pytest.mark.parametrize("name", ["clock", "free_kv_blocks"])
def test_a_scheduler_without_its_numbers_is_told_what_it_has(name: str) -> None:
    class Numberless(PlainScheduler):
        def step(self) -> None:
            setattr(self, name, "many")

    error = error_of(Numberless, STEP)
    assert (error.kind, error.message_id) == ("contract", "contract.number")
    assert error.values == {"class": "Numberless", "name": name, "got": "'many'"}


@pytest.mark.parametrize("name", ["queue", "timeline"])
def test_a_scheduler_without_its_lists_is_told_what_it_has(name: str) -> None:
    class Listless(PlainScheduler):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            setattr(self, name, None)

    error = error_of(Listless)
    assert (error.kind, error.message_id) == ("contract", "contract.list")
    assert error.values == {"class": "Listless", "name": name, "got": "None"}


@pytest.mark.parametrize("name", ["wait_steps", "generated_len", "preemptions", "priority"])
def test_a_request_without_its_numbers_is_told_what_it_has(name: str) -> None:
    class Numberless(PlainScheduler):
        def step(self) -> None:
            setattr(self.queue[0], name, None)

    error = error_of(Numberless, ONE, STEP)
    assert (error.kind, error.message_id) == ("contract", "contract.number")
    assert error.values == {"class": "Request", "name": name, "got": "None"}


def test_a_wrong_value_that_was_just_accepted_is_left_to_the_claims() -> None:
    row = led(PlainScheduler, Enqueue("one", 4, priority=None)).observe().rows[0]
    assert (row.request_id, row.priority) == ("one", None)
    assert error_of(PlainScheduler, Enqueue(1, None), STEP).values["type"] == "TypeError"


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (NotImplementedError("TODO"), "raised"),
        (KeyError("x"), "raised"),
        (MemoryError(), "memory"),
        (SystemExit(3), "exited"),
        (ValueError("not in a step"), "raised"),
    ],
)
def test_what_a_step_raises_is_told_apart(raised: BaseException, kind: str) -> None:
    class Raising(PlainScheduler):
        def step(self) -> None:
            raise raised

    error = error_of(Raising, STEP)
    assert (error.kind, error.message_id) == (kind, f"error.{kind}")
    assert error.values["call"] == "step"
    assert error.values["type"] == type(raised).__name__
    assert error.cause is raised


@pytest.mark.parametrize("raised", [NotImplementedError(), TypeError("x"), SystemExit()])
def test_what_enqueue_raises_is_an_error_unless_it_is_a_refusal(raised: BaseException) -> None:
    class Raising(PlainScheduler):
        def enqueue(self, *args: Any, **named: Any) -> None:
            raise raised

    assert error_of(Raising, ONE).values["call"] == "enqueue"


@pytest.mark.parametrize("raised", [NotImplementedError(), TypeError("x"), SystemExit()])
def test_what_a_constructor_raises_is_an_error(raised: BaseException) -> None:
    def make(**named: Any) -> Any:
        raise raised

    assert error_of(make).values["call"] == "constructor"


def test_a_policy_that_the_scheduler_does_not_have_is_refused_not_failed() -> None:
    with pytest.raises(PolicyRefused) as caught:
        subject_of(PlainScheduler, policy="lottery")
    assert caught.value.args[0] == "lottery"


def test_trouble_that_has_a_name_keeps_it() -> None:
    named = SubjectError("hung", "error.hung")
    with pytest.raises(SubjectError) as caught:
        ChapterSubject.fail("step", named)
    assert caught.value is named
    assert str(named) == "error.hung"
