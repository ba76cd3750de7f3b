"""The scheduler: done and stuck, runs, what a step adds up to, and first come, first served."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.conftest import BY_POLICY, QUICK, SCHEDULERS, SCRIPTS, Op, play, row, served

import schedmodel.scheduler
from schedmodel import DecodeSchedulerSim, RequestState, State
from schedmodel.ledger import CapacityLedger
from schedmodel.lifecycle import HOLDING, WORK, Move, Trigger, fire, make


def test_done_and_stuck_are_told_apart() -> None:
    sim = DecodeSchedulerSim(free_kv_blocks=1)
    assert (sim.is_done, sim.is_stuck, sim.step()) == (True, False, None)
    sim.enqueue(1, 4, 1)
    assert (sim.is_done, sim.is_stuck) == (False, False)
    sim.run()
    assert (sim.is_done, sim.is_stuck, sim.step()) == (True, False, None)
    sim.enqueue(2, 4, 1, required_blocks=2)
    assert (sim.is_done, sim.is_stuck, sim.step()) == (False, True, None)
    sim.enqueue(3, 4, 1)
    assert (sim.is_done, sim.is_stuck) == (False, False)
    assert [e["request_id"] for e in sim.run()] == [1, 1, 3, 3]
    assert (sim.is_done, sim.is_stuck) == (False, True)


@QUICK
@given(SCHEDULERS, SCRIPTS)
def test_a_step_without_event_means_done_or_stuck_and_changes_nothing(
    sim: DecodeSchedulerSim, script: list[Op]
) -> None:
    play(sim, script)
    before, done, stuck = row(sim), sim.is_done, sim.is_stuck
    served_somebody = sim.step() is not None
    assert [served_somebody, done, stuck].count(True) == 1
    assert served_somebody or row(sim) == before


@BY_POLICY
def test_run_returns_the_whole_timeline_and_always_the_same_list(policy: str) -> None:
    sim = DecodeSchedulerSim(policy)
    sim.enqueue(1, 4, 3)
    timeline = sim.timeline
    first = sim.step()
    assert sim.run(1) is timeline
    assert sim.run() is timeline
    assert timeline[0] is first
    assert len(timeline) == sim.clock == 4


@QUICK
@given(SCHEDULERS, SCRIPTS)
def test_blocks_are_never_lost_or_doubled(sim: DecodeSchedulerSim, script: list[Op]) -> None:
    for op in script:
        play(sim, [op])
        held = sum(request.required_blocks for request in sim.queue if request.state in HOLDING)
        assert sim.free_kv_blocks + held == sim.ledger.capacity
        assert sim.free_kv_blocks >= 0


@QUICK
@given(SCHEDULERS, SCRIPTS)
def test_a_step_is_at_most_one_piece_of_work_for_each_request(
    sim: DecodeSchedulerSim, script: list[Op]
) -> None:
    fired: list[tuple[int, Trigger]] = []

    def noting_fire(request: RequestState, trigger: Trigger, blocks: CapacityLedger) -> None:
        fire(request, trigger, blocks)
        fired.append((request.request_id, trigger))

    def noting_make(move: Move, request: RequestState, blocks: CapacityLedger) -> None:
        make(move, request, blocks)
        fired.append((request.request_id, move.trigger))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedmodel.scheduler, "fire", noting_fire)
        patch.setattr(schedmodel.scheduler, "make", noting_make)
        play(sim, script)
        fired.clear()
        event = sim.step()
    work = [(request_id, trigger) for request_id, trigger in fired if trigger in WORK]
    wanted: list[tuple[int, Trigger]] = []
    if event is not None and event["preempted_request_id"] is not None:
        wanted.append((event["preempted_request_id"], Trigger.PREEMPT))
    if event is not None:
        prefill = event["phase"] == "prefill"
        wanted.append(
            (event["request_id"], Trigger.BEGIN_PREFILL if prefill else Trigger.EMIT_TOKEN)
        )
    assert work == wanted


@QUICK
@given(SCHEDULERS, SCRIPTS)
def test_everybody_but_the_served_one_waits_one_step_more(
    sim: DecodeSchedulerSim, script: list[Op]
) -> None:
    play(sim, script)
    before = [request.wait_steps for request in sim.queue]
    waiting = [not request.done for request in sim.queue]
    event = sim.step()
    for request, waits, counts in zip(sim.queue, before, waiting, strict=True):
        spared = event is None or request.request_id == event["request_id"] or not counts
        assert request.wait_steps == waits + (not spared)


@pytest.mark.parametrize(
    ("phase", "moves", "action"),
    [
        ("prefill", [], "prefill_to_decode"),
        ("prefill", [Trigger.ADMIT], "prefill_to_decode"),
        ("prefill", [Trigger.ADMIT, Trigger.BEGIN_PREFILL], "prefill_to_decode"),
        ("decode", [], "decode_one_step"),
        ("decode", [Trigger.ADMIT], "decode_one_step"),
        ("decode", [Trigger.ADMIT, Trigger.BEGIN_DECODE], "decode_one_step"),
        ("prefill", [Trigger.ADMIT, Trigger.PREEMPT], "prefill_to_decode"),
        ("decode", [Trigger.ADMIT, Trigger.PREEMPT], "decode_one_step"),
    ],
)
def test_a_step_goes_on_from_wherever_a_request_was_moved(
    phase: str, moves: list[Trigger], action: str
) -> None:
    sim = DecodeSchedulerSim(free_kv_blocks=1)
    sim.enqueue(1, 4)
    sim.queue[0].phase = phase
    for trigger in moves:
        fire(sim.queue[0], trigger, sim.ledger)
    event = sim.step()
    assert event is not None
    assert (event["action"], sim.queue[0].state, sim.free_kv_blocks) == (action, State.DECODE, 0)
    assert event["generated_len"] == (1 if phase == "decode" else 0)


# First come, first served.


def test_fcfs_serves_by_arrival_whatever_else_is_submitted() -> None:
    sim = DecodeSchedulerSim("fcfs")
    sim.enqueue(9, 9, 1)
    sim.enqueue(5, 1, 1, priority=9, cache_hit=True, deadline_step=2)
    sim.enqueue(1, 1, 1, priority=5)
    sim.queue[0].wait_steps, sim.queue[1].phase = 0, "decode"
    assert [sim._schedule_key(request) for request in sim.queue] == [(0,), (1,), (2,)]
    assert [sim._effective_priority(request) for request in sim.queue] == [0, 0, 0]
    assert served(sim, 6) == [9, 9, 5, 1, 1, None]


def test_fcfs_passes_over_what_does_not_fit_and_preempts_nobody() -> None:
    sim = DecodeSchedulerSim("fcfs", free_kv_blocks=3)
    sim.enqueue(1, 4, 2, priority=-9, required_blocks=2)
    sim.enqueue(2, 4, 2, priority=9, required_blocks=2)
    sim.enqueue(3, 4, 2, required_blocks=1)
    assert served(sim, 1) == [1]
    sim.queue[0].wait_steps = sim.queue[1].wait_steps = 100
    assert served(sim, 8) == [1, 1, 2, 2, 2, 3, 3, 3]
    sim.enqueue(4, 4, 2, required_blocks=4)
    sim.enqueue(5, 4, 1, required_blocks=3)
    sim.enqueue(6, 4, 1, required_blocks=1)
    assert served(sim, 5) == [5, 5, 6, 6, None]
    assert [request.preemptions for request in sim.queue] == [0] * 6


def test_arrivals_are_numbered_on_after_finished_requests_were_taken_out() -> None:
    sim = DecodeSchedulerSim("fcfs")
    sim.enqueue(1, 4, 1)
    sim.enqueue(2, 4, 9)
    sim.run(2)
    sim.queue = [request for request in sim.queue if not request.done]
    sim.enqueue(3, 4, 1)
    assert [sim._schedule_key(request) for request in sim.queue] == [(1,), (2,)]


@QUICK
@given(st.integers(0, 5), SCRIPTS)
def test_fcfs_never_preempts(pool: int, script: list[Op]) -> None:
    sim = DecodeSchedulerSim("fcfs", pool)
    play(sim, script)
    assert all(event["preempted_request_id"] is None for event in sim.run(200))
