"""A request: made by hand, assigned to, compared, copied, and put into a queue by hand.

Fields that contradict one another are refused, and only the lifecycle moves a request;
what may be assigned, and when, is tried in every state.
"""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

import pytest
from tests.model.conftest import (
    BELOW_ZERO,
    NO_LENGTH,
    NOT_A_BOOL,
    NOT_A_DEADLINE,
    NOT_A_NUMBER,
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
    DecodeSchedulerSim,
    IllegalAssignment,
    IllegalTransition,
    InvalidInput,
    RequestState,
    State,
)
from schedmodel.ledger import CapacityLedger
from schedmodel.lifecycle import Trigger, fire
from schedmodel.policy import remaining_steps


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


# Requests that are put into the queue by hand, as the chapter's open design allows.


def test_a_waiting_request_put_in_by_hand_is_served() -> None:
    sim = DecodeSchedulerSim(free_kv_blocks=2)
    sim.queue.append(RequestState(1, 4, 2, required_blocks=2))
    assert [event["action"] for event in sim.run()][-1] == "finish"
    assert sim.free_kv_blocks == 2


def test_requests_put_in_under_way_go_on_from_where_they_stand() -> None:
    sim = DecodeSchedulerSim(free_kv_blocks=2)
    sim.queue += [
        RequestState(1, 4, 3, 1, "decode", status="running", admitted=True, required_blocks=3),
        RequestState(2, 4, 3, 2, "decode", status="preempted", preemptions=1),
        RequestState(3, 4, 3, status="running", admitted=True),
        RequestState(4, 4, 3, 3, "decode", status="finished"),
    ]
    assert sim.queue[2].state is State.ADMITTED
    events = [(e["request_id"], e["action"], e["generated_len"]) for e in sim.run()]
    assert events == [
        (3, "prefill_to_decode", 0),
        (3, "decode_one_step", 1),
        (1, "decode_one_step", 2),
        (3, "decode_one_step", 2),
        (1, "finish", 3),
        (2, "finish", 3),
        (3, "finish", 3),
    ]
    assert sim.free_kv_blocks == 2 + 3 + 1, "the blocks that came in with requests 1 and 3"


def test_a_request_under_way_that_is_made_to_start_decoding_is_refused_by_the_lifecycle() -> None:
    request = RequestState(1, 4, 3, 1, "decode", status="running", admitted=True)
    with pytest.raises(IllegalTransition, match="request 1 in state decode cannot begin_decode"):
        fire(request, Trigger.BEGIN_DECODE, CapacityLedger(1))


def test_a_request_that_was_pushed_past_its_limit_needs_no_more_steps() -> None:
    request = RequestState(1, 4, 3, phase="decode")
    request.generated_len = 5
    assert remaining_steps(request) == 0
    request.phase = "prefill"
    assert remaining_steps(request) == 1
