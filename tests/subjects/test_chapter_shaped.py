"""Classes shaped like the chapter's are judged as they are: what is seen of them, and said."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
from tests.subjects.conftest import ONE, PREEMPTING, TWO, led, reporting, subject_of

from schedmodel import DecodeSchedulerSim, RequestState
from schedmodel.lifecycle import State
from schedproof.subjects.actions import STEP
from schedproof.subjects.chapter import CHAPTER_FEATURES, ChapterSubject, from_class
from schedproof.subjects.contract import Config, Feature
from schedproof.subjects.observation import EVENT_KEYS, MISSING, Answer, Row, Span
from schedproof.zoo.plain import PlainScheduler, Request


def seen(row: Row) -> tuple[Any, ...]:
    """What claims see of a row, apart from what only one kind of class stores."""
    fields = (row.request_id, row.state, row.status, row.phase, row.generated_len)
    return (*fields, row.held_blocks, row.wait_steps, row.preemptions, row.advanced)


# -- classes that need no adapter ----------------------------------------------


class Slotted(PlainScheduler):
    """Keeps its requests in slots."""

    def enqueue(self, *args: Any, **named: Any) -> None:
        super().enqueue(*args, **named)
        self.queue[-1] = in_slots(self.queue[-1])


class SlottedRequest:
    __slots__ = (*Request.__dataclass_fields__, "__mark")

    done = Request.done
    total_len = Request.total_len


class HalfSlottedRequest(SlottedRequest):
    """Has a dictionary beside its slots."""


def in_slots(request: Request, kind: type[Any] = SlottedRequest) -> Any:
    slotted = kind()
    for name, value in vars(request).items():
        setattr(slotted, name, value)
    return slotted


class HalfSlotted(PlainScheduler):
    def enqueue(self, *args: Any, **named: Any) -> None:
        super().enqueue(*args, **named)
        self.queue[-1] = in_slots(self.queue[-1], HalfSlottedRequest)


class Renaming(PlainScheduler):
    """Stores `generated_len` under another name."""

    def enqueue(self, *args: Any, **named: Any) -> None:
        super().enqueue(*args, **named)
        values = vars(self.queue[-1])
        values["tokens"] = values.pop("generated_len")
        self.queue[-1].__class__ = RenamedRequest


class RenamedRequest(Request):
    tokens: int

    @property
    def generated_len(self) -> int:
        return self.tokens

    @generated_len.setter
    def generated_len(self, value: int) -> None:
        self.tokens = value


class Counting(PlainScheduler):
    """Keeps the waits of its requests in a table of its own."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.waits: dict[int, int] = {}

    def enqueue(self, *args: Any, **named: Any) -> None:
        super().enqueue(*args, **named)
        request = self.queue[-1]
        vars(request).pop("wait_steps")
        request.__class__ = type("Counted", (Request,), {"wait_steps": self.waits_of(request)})

    def waits_of(self, request: Request) -> property:
        request_id, waits = request.request_id, self.waits
        return property(
            lambda _: waits.get(request_id, 0), lambda _, steps: waits.update({request_id: steps})
        )


class Forgetful(PlainScheduler):
    """Takes finished requests out of its queue, which is a deque."""

    def step(self) -> dict[str, Any] | None:
        event = super().step()
        self.queue = deque(r for r in self.queue if not r.done)  # type: ignore[assignment]
        return event


SHAPES = [PlainScheduler, DecodeSchedulerSim, Slotted, HalfSlotted, Renaming, Counting, Forgetful]


@pytest.mark.parametrize("scheduler", SHAPES)
def test_classes_shaped_like_the_chapters_are_seen_alike(scheduler: type[Any]) -> None:
    plain, other = subject_of(PlainScheduler), subject_of(scheduler)
    for action in (*PREEMPTING, *(STEP,) * 5):
        assert other.do(action)._replace(refusal=None) == plain.do(action)
        rows = {row.request_id: seen(row) for row in other.observe().rows}
        assert rows == {row.request_id: seen(row) for row in plain.observe().rows}
    assert {row.state for row in other.observe().rows} == {State.FINISHED}


@pytest.mark.parametrize("scheduler", SHAPES)
def test_rows_that_did_not_change_are_the_same_objects(scheduler: type[Any]) -> None:
    subject = led(scheduler, *PREEMPTING)
    first = subject.observe().rows
    assert all(a is b for a, b in zip(first, subject.observe().rows, strict=True))
    assert all(a is b for a, b in zip(first, subject.fork().observe().rows, strict=True))


def test_state_is_read_from_status_and_blocks_from_admitted() -> None:
    subject = led(PlainScheduler, *PREEMPTING)
    victim, challenger = subject.observe().rows
    assert (victim.state, victim.held_blocks, victim.admitted) == (State.PREEMPTED, 0, False)
    assert (challenger.state, challenger.held_blocks) == (State.DECODE, 1)
    subject.scheduler.queue[0].admitted = True
    assert subject.observe().rows[0].held_blocks == 1
    subject.scheduler.queue[0].status = "asleep"
    assert subject.observe().rows[0].state is None


def test_a_request_is_advanced_until_it_is_preempted_and_again_when_it_was_served() -> None:
    subject = led(PlainScheduler, *PREEMPTING)
    assert [row.advanced for row in subject.observe().rows] == [False, True]
    for _ in range(3):
        subject.do(STEP)
    assert [row.advanced for row in subject.observe().rows] == [True, True]


def test_a_request_that_leaves_unfinished_is_gone() -> None:
    subject = led(PlainScheduler, ONE, STEP)
    subject.scheduler.queue.clear()
    assert subject.observe().rows == ()


@pytest.mark.parametrize(("policy", "places"), [("fcfs", [0, 1]), ("aging", [0, 0])])
def test_order_of_arrival_tells_rows_apart_under_fcfs_only(policy: str, places: list[int]) -> None:
    first = led(PlainScheduler, ONE, TWO, policy=policy)
    second = first.fresh()
    for action in (TWO, ONE):
        second.do(action)
    one = (first.observe().rows[0], second.observe().rows[1])
    assert [row.arrival_index for row in one] == places
    assert (one[0] is one[1]) is (policy == "aging")


def test_further_attributes_of_requests_and_scheduler_are_seen() -> None:
    subject = led(PlainScheduler, ONE)
    subject.scheduler.queue[0].tags = ["a"]
    subject.scheduler.note = {"b": 1}
    observed = subject.observe()
    assert observed.rows[0].extra == (("tags", ("list", "a")),)
    assert dict(observed.extras)["note"] == ("dict", ("b", 1))
    subject.scheduler.queue[0].tags.append("c")
    assert subject.observe().rows[0].extra == (("tags", ("list", "a", "c")),)


def test_our_own_scheduler_has_no_further_attributes() -> None:
    assert led(DecodeSchedulerSim, ONE).observe().extras == ()


class Helped(PlainScheduler):
    """Has helper objects, one of which knows the scheduler."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.helper = Helper(self)
        self.running: list[Request] = self.queue


class Helper:
    def __init__(self, owner: Any) -> None:
        self.owner, self.calls = owner, 0


def test_two_schedulers_led_alike_look_alike_whatever_helps_them() -> None:
    one, other = led(Helped, *PREEMPTING), led(Helped, *PREEMPTING)
    assert one.observe().extras == other.observe().extras
    other.scheduler.helper.calls += 1
    assert one.observe().extras != other.observe().extras


# -- doing ---------------------------------------------------------------------


def test_the_chapters_features_are_declared_and_strict_types_only_on_demand() -> None:
    assert subject_of(PlainScheduler).features == CHAPTER_FEATURES
    strict = ChapterSubject(from_class(DecodeSchedulerSim), Config(), strict_types=True)
    assert strict.features - CHAPTER_FEATURES == {Feature.STRICT_TYPES}


def test_answers_tell_what_the_scheduler_said() -> None:
    subject = subject_of(PlainScheduler)
    assert subject.do(STEP) == Answer()
    assert subject.do(ONE) == Answer(accepted=True)
    refused = subject.do(ONE)
    assert refused.accepted is False
    assert refused.refusal == "request_id 1 was used before"
    subject.do(STEP)
    subject.do(TWO)
    answer = subject.do(STEP)
    assert (answer.batch, answer.preempted) == ((Span(2, "prefill"),), (1,))
    assert answer.event == tuple(subject.scheduler.timeline[-1].values())
    assert answer.log_kept


def test_waits_can_be_added() -> None:
    subject = led(PlainScheduler, ONE, TWO)
    subject.add_wait(2, 5)
    assert [row.wait_steps for row in subject.observe().rows] == [0, 5]


def test_every_call_into_the_scheduler_is_counted() -> None:
    subject = led(PlainScheduler, *PREEMPTING)
    assert subject.calls.action == 1 + len(PREEMPTING)


def test_forks_and_fresh_ones_are_independent() -> None:
    subject = led(PlainScheduler, ONE, STEP)
    before = subject.observe()
    fork, fresh = subject.fork(), subject.fresh()
    assert fork.observe() == before
    assert fresh.observe().rows == ()
    fork.do(STEP)
    fresh.do(TWO)
    assert subject.observe() == before
    assert fork.observe().clock == before.clock + 1


# -- reports -------------------------------------------------------------------


def test_keys_that_a_report_lacks_are_marked() -> None:
    bare = reporting(lambda event: {"request_id": event["request_id"]})
    answer = subject_of(bare)
    answer.do(ONE)
    said = answer.do(STEP)
    assert said.event == (1, *[MISSING] * (len(EVENT_KEYS) - 1))
    assert (said.batch, said.preempted) == ((Span(1, "None"),), ())


def test_a_report_in_another_order_or_with_more_keys_is_read_by_key() -> None:
    mixed = reporting(lambda event: {"more": [], **dict(reversed(event.items()))})
    subject = led(mixed, ONE)
    said = subject.do(STEP)
    assert said.event[:3] == (1, "prefill", "prefill_to_decode")
    assert len(said.event) == len(EVENT_KEYS)


def test_a_report_that_holds_objects_is_made_comparable() -> None:
    objects = reporting(lambda event: {**event, "request_id": [event["request_id"]]})
    subject = led(objects, ONE)
    said = subject.do(STEP)
    assert said.batch == (Span(("list", 1), "prefill"),)  # type: ignore[arg-type]
    assert hash(said) is not None


def spoil_log(scheduler: Any) -> None:
    scheduler.timeline.append({})


def lose_log(scheduler: Any) -> None:
    scheduler.timeline.pop()


def rewrite_log(scheduler: Any) -> None:
    scheduler.timeline[-2]["wait_steps"] += 1


@pytest.mark.parametrize("harm", [spoil_log, lose_log, rewrite_log])
def test_a_log_that_is_not_kept_is_noticed(harm: Callable[[Any], None]) -> None:
    class Careless(PlainScheduler):
        def step(self) -> dict[str, Any] | None:
            event = super().step()
            if self.clock == 2:
                harm(self)
            return event

    subject = led(Careless, ONE)
    assert [subject.do(STEP).log_kept for _ in range(2)] == [True, False]


def test_a_log_that_grows_without_a_step_is_noticed() -> None:
    class Eager(PlainScheduler):
        def enqueue(self, *args: Any, **named: Any) -> None:
            self.timeline.append({})
            super().enqueue(*args, **named)

        def step(self) -> None:
            self.timeline.append({})

    subject = subject_of(Eager)
    assert [subject.do(action).log_kept for action in (ONE, ONE, STEP)] == [False] * 3


def test_a_request_made_by_hand_is_seen_in_our_scheduler_too() -> None:
    subject = subject_of(DecodeSchedulerSim)
    subject.scheduler.queue.append(RequestState(7, 4, 2, phase="decode", generated_len=0))
    row = subject.observe().rows[0]
    assert (row.request_id, row.state, row.phase) == (7, State.WAITING, "decode")
