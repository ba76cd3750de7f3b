"""The door: what constructor, enqueue, run and assignments take, and what they refuse.

Every refusal is a `ValueError` of the named kind that tells field, value and what is
allowed, and after it the scheduler is in exactly the state it was in before. Nothing is
converted: a bool is not a number, 2.0 is not 2, and 1 is not True.
"""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from schedmodel import (
    POLICIES,
    DecodeSchedulerSim,
    IllegalAssignment,
    IllegalTransition,
    InvalidInput,
    RequestState,
    State,
)
from schedmodel.lifecycle import Trigger, fire

NOT_A_NUMBER = [True, False, 1.0, 2.5, math.nan, math.inf, "1", "", b"1", None, [], [1], (1,), {}]
NOT_A_BOOL = [0, 1, 1.0, math.nan, "True", "", None, [], [True]]
NOT_A_POLICY: list[object] = [
    "",
    "FCFS",
    "fixed",
    "fixed_priority ",
    None,
    0,
    True,
    math.nan,
    [],
    ["fcfs"],
    {},
]
NO_LENGTH = [*NOT_A_NUMBER, 0, -1, -(10**30)]
BELOW_ZERO = [*NOT_A_NUMBER, -1, -(10**30)]
NOT_A_DEADLINE = [value for value in NOT_A_NUMBER if value is not None]

WHOLE = "a whole number"
ONE_OR_MORE = "a whole number, at least 1"
ZERO_OR_MORE = "a whole number, at least 0"
TRUTH = "True or False"

Refusal = tuple[str, object, str]


def refusals(table: Mapping[str, tuple[list[Any], str]]) -> list[Any]:
    return [
        pytest.param(field, value, allowed, id=f"{field}={value!r}")
        for field, (values, allowed) in table.items()
        for value in values
    ]


def busy_scheduler() -> DecodeSchedulerSim:
    """Three requests, one preempted, one running, one waiting; clock 3."""
    sim = DecodeSchedulerSim("aging", free_kv_blocks=2, aging_interval=3)
    sim.enqueue(1, 4, 3, required_blocks=2)
    sim.step()
    sim.step()
    sim.enqueue(2, 4, 3, priority=5, required_blocks=2, deadline_step=9)
    sim.enqueue(3, 4, 3, priority=-5)
    sim.step()
    assert [r.status for r in sim.queue] == ["preempted", "running", "waiting"]
    assert sim.clock == 3
    return sim


def whole_state(sim: DecodeSchedulerSim) -> tuple[object, ...]:
    """Everything a call could have changed, by value and, where it matters, by identity."""
    ids = [id(request) for request in sim.queue]
    return (
        copy.deepcopy(sim.snapshot()[1:]),
        sim.policy,
        sim.aging_interval,
        ids,
        sim.free_kv_blocks,
    )


def assert_refused(call: Callable[[], object], field: str, value: object, allowed: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call()
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.field, error.allowed) == (field, allowed)
    assert error.value is value
    assert str(error) == f"{field} must be {allowed}, got {value!r}"


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    refusals(
        {
            "policy": (NOT_A_POLICY, "one of fixed_priority, aging, deadline, fcfs"),
            "free_kv_blocks": (BELOW_ZERO, ZERO_OR_MORE),
            "aging_interval": (NO_LENGTH, ONE_OR_MORE),
        }
    ),
)
def test_the_constructor_refuses(field: str, value: Any, allowed: str) -> None:
    assert_refused(lambda: DecodeSchedulerSim(**{field: value}), field, value, allowed)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("pool", [0, 1, 10**30])
def test_the_constructor_takes_every_policy_and_a_pool_of_zero(policy: str, pool: int) -> None:
    sim = DecodeSchedulerSim(policy, pool, 1)
    assert (sim.policy, sim.free_kv_blocks, sim.aging_interval) == (policy, pool, 1)
    assert (sim.clock, sim.queue, sim.timeline) == (0, [], [])


def test_the_constructor_has_the_defaults_of_the_chapter() -> None:
    sim = DecodeSchedulerSim()
    assert (sim.policy, sim.free_kv_blocks, sim.aging_interval) == ("fixed_priority", 1_000_000, 4)


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    refusals(
        {
            "request_id": (NOT_A_NUMBER, WHOLE),
            "prompt_len": (NO_LENGTH, ONE_OR_MORE),
            "max_new_tokens": (NO_LENGTH, ONE_OR_MORE),
            "priority": (NOT_A_NUMBER, WHOLE),
            "cache_hit": (NOT_A_BOOL, TRUTH),
            "required_blocks": (NO_LENGTH, ONE_OR_MORE),
            "deadline_step": (
                [*NOT_A_DEADLINE, 3, 2, 0, -1],
                "None or a whole number after clock 3",
            ),
            "preemptible": (NOT_A_BOOL, TRUTH),
        }
    ),
)
def test_enqueue_refuses_and_changes_nothing(field: str, value: Any, allowed: str) -> None:
    sim = busy_scheduler()
    before = whole_state(sim)
    good: dict[str, Any] = {"request_id": 9, "prompt_len": 4}
    assert_refused(lambda: sim.enqueue(**{**good, field: value}), field, value, allowed)
    assert whole_state(sim) == before
    sim.enqueue(**good)


@pytest.mark.parametrize("used", [1, 2, 3])
def test_enqueue_refuses_an_id_that_is_in_the_queue(used: int) -> None:
    sim = busy_scheduler()
    before = whole_state(sim)
    assert_refused(
        lambda: sim.enqueue(used, 4), "request_id", used, "an id that was not used before"
    )
    assert whole_state(sim) == before


def test_enqueue_refuses_the_id_of_a_finished_request() -> None:
    sim = DecodeSchedulerSim()
    sim.enqueue(1, 4, 1)
    sim.run()
    assert sim.queue[0].status == "finished"
    assert_refused(lambda: sim.enqueue(1, 4), "request_id", 1, "an id that was not used before")


@pytest.mark.parametrize("request_id", [0, -1, -(10**30), 10**30])
@pytest.mark.parametrize("priority", [0, -1, -(10**30), 10**30])
def test_enqueue_takes_any_whole_number_as_id_and_priority(request_id: int, priority: int) -> None:
    sim = DecodeSchedulerSim()
    sim.enqueue(request_id, 10**30, 1, priority, True, 1, 10**30, False)
    assert [event["action"] for event in sim.run()] == ["prefill_to_decode", "finish"]
    assert (sim.queue[0].request_id, sim.queue[0].priority) == (request_id, priority)


def test_enqueue_answers_none_and_keeps_every_field() -> None:
    sim = DecodeSchedulerSim()
    answer: Any = sim.enqueue(  # type: ignore[func-returns-value]
        request_id=-3,
        prompt_len=7,
        max_new_tokens=5,
        priority=-2,
        cache_hit=True,
        required_blocks=4,
        deadline_step=6,
        preemptible=False,
    )
    assert answer is None
    request = sim.queue[0]
    assert request == RequestState(-3, 7, 5, 0, "prefill", -2, True, 0, 4, False, 6, False)
    assert (request.status, request.preemptions) == ("waiting", 0)
    assert (request.state, request.arrival_index, request.finish_reason) == (State.WAITING, 0, None)


def test_the_earliest_deadline_is_the_step_after_the_clock() -> None:
    sim = busy_scheduler()
    sim.enqueue(9, 4, deadline_step=sim.clock + 1)
    assert sim.queue[-1].deadline_step == 4


def test_a_pool_of_zero_serves_nobody() -> None:
    sim = DecodeSchedulerSim(free_kv_blocks=0)
    sim.enqueue(1, 1)
    assert sim.step() is None
    assert (sim.is_stuck, sim.is_done) == (True, False)


@pytest.mark.parametrize("value", BELOW_ZERO, ids=repr)
def test_run_refuses_and_changes_nothing(value: Any) -> None:
    sim = busy_scheduler()
    before = whole_state(sim)
    assert_refused(lambda: sim.run(value), "max_steps", value, ZERO_OR_MORE)
    assert whole_state(sim) == before


def test_run_of_no_steps_changes_nothing() -> None:
    sim = busy_scheduler()
    before = whole_state(sim)
    assert sim.run(0) is sim.timeline
    assert whole_state(sim) == before


def test_run_takes_a_limit_beyond_any_machine_number() -> None:
    sim = busy_scheduler()
    sim.run(10**30)
    assert sim.is_done


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    refusals(
        {
            "policy": (NOT_A_POLICY, "one of fixed_priority, aging, deadline, fcfs"),
            "aging_interval": (NO_LENGTH, ONE_OR_MORE),
        }
    ),
)
def test_assigning_a_wrong_setting_is_refused(field: str, value: Any, allowed: str) -> None:
    sim = busy_scheduler()
    before = whole_state(sim)
    assert_refused(lambda: setattr(sim, field, value), field, value, allowed)
    assert whole_state(sim) == before


def test_policy_and_interval_may_be_changed_between_steps() -> None:
    sim = busy_scheduler()
    sim.policy = "fcfs"
    assert (sim.policy, sim.aging_interval) == ("fcfs", 3)
    sim.aging_interval = 7
    assert (sim.policy, sim.aging_interval) == ("fcfs", 7)
    event = sim.step()
    assert event is not None
    assert event["request_id"] == 2, "r1 came first but does not fit, and nobody outranks"


def test_free_blocks_cannot_be_assigned() -> None:
    sim = busy_scheduler()
    before = whole_state(sim)
    with pytest.raises(IllegalAssignment, match="free_kv_blocks"):
        sim.free_kv_blocks = 5
    assert whole_state(sim) == before


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    refusals(
        {
            "request_id": (NOT_A_NUMBER, WHOLE),
            "prompt_len": (NO_LENGTH, ONE_OR_MORE),
            "max_new_tokens": (NO_LENGTH, ONE_OR_MORE),
            "generated_len": (BELOW_ZERO, ZERO_OR_MORE),
            "phase": (["", "Prefill", "waiting", None, 0, True, []], "one of prefill, decode"),
            "priority": (NOT_A_NUMBER, WHOLE),
            "cache_hit": (NOT_A_BOOL, TRUTH),
            "wait_steps": (BELOW_ZERO, ZERO_OR_MORE),
            "required_blocks": (NO_LENGTH, ONE_OR_MORE),
            "admitted": (NOT_A_BOOL, TRUTH),
            "deadline_step": (NOT_A_DEADLINE, WHOLE),
            "preemptible": (NOT_A_BOOL, TRUTH),
            "status": (
                ["", "admitted", "decode", None, 0, True, []],
                "one of waiting, running, preempted, finished",
            ),
            "preemptions": (BELOW_ZERO, ZERO_OR_MORE),
        }
    ),
)
def test_a_request_by_hand_refuses(field: str, value: Any, allowed: str) -> None:
    good: dict[str, Any] = {"request_id": 9, "prompt_len": 4, "max_new_tokens": 2}
    assert_refused(lambda: RequestState(**{**good, field: value}), field, value, allowed)


@pytest.mark.parametrize(
    ("fields", "blamed"),
    [
        ({"admitted": True}, "admitted"),
        ({"status": "running"}, "admitted"),
        ({"status": "preempted", "preemptions": 1, "admitted": True}, "admitted"),
        ({"status": "finished", "generated_len": 3, "admitted": True}, "admitted"),
        ({"status": "finished"}, "generated_len"),
        ({"status": "finished", "generated_len": 2}, "generated_len"),
        ({"status": "finished", "generated_len": 4}, "generated_len"),
        ({"generated_len": 3}, "generated_len"),
        ({"generated_len": 1}, "generated_len"),
        ({"status": "running", "admitted": True, "generated_len": 3}, "generated_len"),
        ({"status": "running", "admitted": True, "generated_len": 4}, "generated_len"),
        ({"status": "preempted", "preemptions": 1, "generated_len": 3}, "generated_len"),
        ({"status": "preempted"}, "preemptions"),
        ({"preemptions": 1}, "preemptions"),
    ],
    ids=str,
)
def test_contradictory_fields_are_refused(fields: dict[str, Any], blamed: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        RequestState(1, 4, 3, **fields)
    assert caught.value.field == blamed
    assert fields.get("status", "waiting") in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, State.WAITING),
        ({"phase": "decode", "wait_steps": 9}, State.WAITING),
        ({"status": "running", "admitted": True}, State.ADMITTED),
        ({"status": "running", "admitted": True, "phase": "decode"}, State.DECODE),
        (
            {"status": "running", "admitted": True, "phase": "decode", "preemptions": 4},
            State.DECODE,
        ),
        ({"status": "preempted", "preemptions": 1, "generated_len": 2}, State.PREEMPTED),
        ({"status": "finished", "generated_len": 3, "phase": "decode"}, State.FINISHED),
        ({"deadline_step": -5}, State.WAITING),
    ],
    ids=str,
)
def test_fields_that_agree_are_taken(fields: dict[str, Any], state: State) -> None:
    request = RequestState(1, 4, 3, **fields)
    assert request.state is state
    assert {name: getattr(request, name) for name in fields} == fields
    assert request.admitted is (request.status == "running")
    assert request.done is (request.status == "finished")
    assert request.finish_reason == ("length" if request.done else None)
    assert request.total_len == 4 + request.generated_len


def test_the_phase_may_be_assigned_while_waiting_or_preempted() -> None:
    sim = busy_scheduler()
    preempted, _, waiting = sim.queue
    for request in (preempted, waiting):
        for phase in ("prefill", "decode", "prefill"):
            request.phase = phase
            assert request.phase == phase
        set_phase = partial(setattr, request, "phase")
        assert_refused(partial(set_phase, "x"), "phase", "x", "one of prefill, decode")
        assert request.phase == "prefill"


@pytest.mark.parametrize("phase", ["prefill", "decode", "nonsense"])
@pytest.mark.parametrize("finish", [False, True])
def test_the_phase_cannot_be_assigned_while_running_or_after(phase: str, finish: bool) -> None:
    sim = busy_scheduler()
    if finish:
        sim.run()
    request = sim.queue[1]
    before = request.to_row()
    with pytest.raises(IllegalAssignment) as caught:
        request.phase = phase
    assert request.to_row() == before
    assert (caught.value.attribute, caught.value.holder) == ("phase", "request 2")
    assert "waiting or preempted" in str(caught.value)
    assert str(request.state) in str(caught.value)


@pytest.mark.parametrize("attribute", ["status", "admitted"])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_status_and_admitted_can_never_be_assigned(attribute: str, index: int) -> None:
    request = busy_scheduler().queue[index]
    before = request.to_row()
    with pytest.raises(IllegalAssignment) as caught:
        setattr(request, attribute, getattr(request, attribute))
    assert isinstance(caught.value, AttributeError)
    assert attribute in str(caught.value)
    assert f"request {index + 1}" in str(caught.value)
    assert request.to_row() == before


def test_the_state_cannot_be_assigned() -> None:
    with pytest.raises(AttributeError):
        RequestState(1, 1, 1).state = State.FINISHED  # type: ignore[misc]


def test_wait_steps_may_be_assigned_at_any_time() -> None:
    sim = busy_scheduler()
    for request in sim.queue:
        request.wait_steps = 50
        assert request.wait_steps == 50
    sim.run()
    sim.queue[0].wait_steps = 0


class Shy:
    def __repr__(self) -> str:
        raise RuntimeError("not for you")


@pytest.mark.parametrize("value", [-(10**5000), Shy()], ids=["vast", "shy"])
def test_a_value_that_cannot_be_shown_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        DecodeSchedulerSim(free_kv_blocks=value)
    assert str(caught.value) == (
        "free_kv_blocks must be a whole number, at least 0, "
        f"got a value of type {type(value).__name__} that cannot be shown"
    )


@pytest.mark.parametrize(
    "error",
    [
        InvalidInput("priority", "high", "a whole number"),
        IllegalTransition(3, "waiting", "finish", "no such edge"),
        IllegalAssignment("status", "request 3", "never"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_copies_and_pickles(error: Exception) -> None:
    for twin in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


def test_requests_compare_by_the_fields_of_the_chapter() -> None:
    request = RequestState(1, 4, 3)
    assert request == RequestState(1, 4, 3)
    assert request != RequestState(1, 4, 3, priority=1)
    assert request != (1, 4, 3)
    assert request.__eq__("request") is NotImplemented
    with pytest.raises(TypeError):
        hash(request)
    assert eval(repr(request), {"RequestState": RequestState}) == request


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_scheduler_survives_pickles_and_goes_on_alike(protocol: int) -> None:
    sim = busy_scheduler()
    twin = pickle.loads(pickle.dumps(sim, protocol))
    assert twin.snapshot()[1:] == sim.snapshot()[1:]
    assert twin.run() == sim.run()
    assert twin.queue == sim.queue


def test_a_deep_copy_is_independent() -> None:
    sim = busy_scheduler()
    before = whole_state(sim)
    twin = copy.deepcopy(sim)
    twin.run()
    assert whole_state(sim) == before
    assert twin.timeline == sim.run()


def test_an_aborted_request_is_not_a_candidate_any_more() -> None:
    sim = busy_scheduler()
    for request in sim.queue:
        fire(request, Trigger.ABORT, sim.ledger)
    assert (sim.free_kv_blocks, sim.why().outcome, sim.step()) == (2, "done", None)
    assert (sim.is_done, sim.is_stuck) == (True, False)
    assert [request.finish_reason for request in sim.queue] == ["aborted"] * 3
