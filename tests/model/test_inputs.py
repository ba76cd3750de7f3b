"""The door: what constructor, enqueue, run and settings take, and what they refuse.

Every refusal is a `ValueError` of the named kind that tells field, value and what is
allowed, and after it the scheduler is in exactly the state it was in before. Nothing is
converted: a bool is not a number, 2.0 is not 2, and 1 is not True.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from tests.model.conftest import (
    BELOW_ZERO,
    NO_LENGTH,
    NOT_A_BOOL,
    NOT_A_DEADLINE,
    NOT_A_NUMBER,
    NOT_A_POLICY,
    ONE_OR_MORE,
    TRUTH,
    WHOLE,
    ZERO_OR_MORE,
    assert_refused,
    busy_scheduler,
    refusals,
    whole_state,
)

from schedmodel import (
    POLICIES,
    DecodeSchedulerSim,
    IllegalAssignment,
    IllegalTransition,
    InvalidInput,
    RequestState,
    State,
)

POLICY_NAMES = "one of fixed_priority, aging, deadline, fcfs, reserved_aging"


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    refusals(
        {
            "policy": (NOT_A_POLICY, POLICY_NAMES),
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


def test_an_id_that_was_used_is_told_before_the_other_fields() -> None:
    sim = busy_scheduler()
    before = whole_state(sim)
    allowed = "an id that was not used before"
    assert_refused(lambda: sim.enqueue(1, 0, -1, deadline_step=0), "request_id", 1, allowed)
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
            "policy": (NOT_A_POLICY, POLICY_NAMES),
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
