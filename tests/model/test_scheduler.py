"""The scheduler: what it does beyond the chapter, and the corners that teach something.

First the reasons that `why` gives, then done and stuck, fcfs, and going back in time
(`snapshot`, `restore`, `fork`), with random scripts where a property is meant for every
state. The last part pins down the surprises of the chapter's rules one by one: each is a
small scene with the events that it leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import schedmodel.scheduler
from schedmodel import POLICIES, DecodeSchedulerSim, IllegalTransition, RequestState, State
from schedmodel.choice import (
    Holder,
    Obstacle,
    Passed,
    Place,
    Why,
    admission,
    in_key_order,
    obstacle,
    pick_victim,
)
from schedmodel.ledger import CapacityLedger
from schedmodel.lifecycle import HOLDING, WORK, Trigger, fire
from schedmodel.policy import remaining_steps

SLACK = 1_000_000_000
KEY_COLUMNS = (
    "deadline_slack",
    "phase_rank",
    "cache_rank",
    "-effective_priority",
    "total_len",
    "request_id",
)
BY_POLICY = pytest.mark.parametrize("policy", POLICIES)


def served(sim: DecodeSchedulerSim, steps: int) -> list[int | None]:
    """The ids of the next `steps` steps, None where nobody could be served."""
    events = [sim.step() for _ in range(steps)]
    return [None if event is None else event["request_id"] for event in events]


def row(sim: DecodeSchedulerSim) -> tuple[object, ...]:
    """The whole state as one comparable value; events are copied, they are dicts."""
    snapshot = sim.snapshot()
    timeline = [dict(event) for event in snapshot.timeline]
    return (sim.policy, sim.aging_interval, *snapshot[1:4], sim.ledger.capacity, timeline)


# Random scripts.


class Step(NamedTuple):
    """An op of a script: step some times."""

    times: int


class Enqueue(NamedTuple):
    """An op of a script: accept a request; its id is its number in the script."""

    prompt_len: int
    max_new_tokens: int
    priority: int
    cache_hit: bool
    required_blocks: int
    slack: int | None
    preemptible: bool


class SetPhase(NamedTuple):
    """An op of a script: assign a phase where that is allowed."""

    who: int
    phase: str


class SetWait(NamedTuple):
    """An op of a script: assign a wait."""

    who: int
    wait_steps: int


Op = Step | Enqueue | SetPhase | SetWait

ENQUEUES = st.builds(
    Enqueue,
    prompt_len=st.integers(1, 4),
    max_new_tokens=st.integers(1, 5),
    priority=st.integers(-2, 3),
    cache_hit=st.booleans(),
    required_blocks=st.sampled_from([1, 1, 1, 2, 2, 3]),
    slack=st.none() | st.integers(1, 9),
    preemptible=st.sampled_from([True, True, True, False]),
)
STEPS = st.builds(Step, st.sampled_from([1, 1, 2, 3]))
ASSIGNMENTS = st.one_of(
    st.builds(SetPhase, st.integers(0, 5), st.sampled_from(["prefill", "decode"])),
    st.builds(SetWait, st.integers(0, 5), st.integers(0, 9)),
)
ROUNDS: st.SearchStrategy[list[Op]] = st.one_of(
    st.tuples(ENQUEUES, STEPS).map(list),
    st.tuples(ENQUEUES, STEPS).map(list),
    st.tuples(ENQUEUES, ENQUEUES, STEPS).map(list),
    st.tuples(ASSIGNMENTS, STEPS).map(list),
)
SCRIPTS = st.lists(ROUNDS, min_size=3, max_size=10).map(lambda rounds: [*chain(*rounds)])
SCHEDULERS = st.builds(
    DecodeSchedulerSim,
    st.sampled_from(list(POLICIES)),
    st.sampled_from([0, 1, 1, 2, 2, 3, 4]),
    st.integers(1, 3),
)
QUICK = settings(derandomize=True, database=None, deadline=None, max_examples=100)


def play(sim: DecodeSchedulerSim, script: Iterable[Op]) -> None:
    for op in script:
        if isinstance(op, Step):
            for _ in range(op.times):
                sim.step()
        elif isinstance(op, Enqueue):
            deadline = None if op.slack is None else sim.clock + op.slack
            sim.enqueue(len(sim.queue), *op[:5], deadline, op.preemptible)
        elif op.who < len(sim.queue):
            request = sim.queue[op.who]
            if isinstance(op, SetWait):
                request.wait_steps = op.wait_steps
            elif request.status in ("waiting", "preempted"):
                request.phase = op.phase


# Why.


def test_why_of_an_empty_scheduler_is_done() -> None:
    assert DecodeSchedulerSim().why() == Why("done", KEY_COLUMNS, ())


def test_why_names_the_chosen_and_the_column_in_which_each_other_is_behind() -> None:
    sim = DecodeSchedulerSim("deadline")
    sim.enqueue(1, 4, 2, deadline_step=9)
    sim.enqueue(2, 4, 2)
    sim.enqueue(3, 4, 3, deadline_step=10)
    sim.enqueue(4, 4, 3, cache_hit=True, deadline_step=10)
    sim.enqueue(5, 4, 2, priority=1, deadline_step=9)
    sim.enqueue(6, 5, 2, priority=1, deadline_step=9)
    sim.enqueue(7, 4, 2, priority=1, deadline_step=9)
    sim.queue[2].phase = "decode"
    assert sim.why() == Why(
        "serves",
        KEY_COLUMNS,
        (
            Place(4, (6, 0, 0, 0, 4, 4), "chosen"),
            Place(5, (6, 0, 1, -1, 4, 5), "behind", behind_at=2),
            Place(7, (6, 0, 1, -1, 4, 7), "behind", behind_at=2),
            Place(6, (6, 0, 1, -1, 5, 6), "behind", behind_at=2),
            Place(1, (6, 0, 1, 0, 4, 1), "behind", behind_at=2),
            Place(3, (7, 1, 1, 0, 4, 3), "behind", behind_at=0),
            Place(2, (SLACK, 0, 1, 0, 4, 2), "behind", behind_at=0),
        ),
        chosen=4,
    )


@pytest.mark.parametrize(
    ("column", "fields"),
    [
        ("cache_rank", {}),
        ("-effective_priority", {"cache_hit": True}),
        ("total_len", {"cache_hit": True, "priority": 2}),
        ("request_id", {"cache_hit": True, "priority": 2, "prompt_len": 4}),
    ],
)
def test_why_finds_the_first_column_that_decides(column: str, fields: dict[str, Any]) -> None:
    sim = DecodeSchedulerSim()
    sim.enqueue(1, 4, priority=2, cache_hit=True)
    sim.enqueue(**{"request_id": 2, "prompt_len": 5, **fields})
    behind = sim.why().places[1]
    assert behind.behind_at is not None
    assert (behind.request_id, KEY_COLUMNS[behind.behind_at]) == (2, column)


def test_why_says_for_each_holder_why_it_keeps_its_blocks() -> None:
    sim = DecodeSchedulerSim(free_kv_blocks=7)
    sim.enqueue(1, 4, 2, priority=0, required_blocks=1)
    sim.enqueue(2, 4, 2, priority=0, required_blocks=1, preemptible=False)
    sim.enqueue(3, 4, 2, priority=6, required_blocks=3)
    sim.enqueue(4, 4, 2, priority=5, required_blocks=1, preemptible=False)
    assert served(sim, 4) == [3, 4, 1, 2]
    sim.enqueue(5, 4, 2, priority=6, required_blocks=3)
    sim.enqueue(6, 4, 2, priority=-1, required_blocks=9)
    why = sim.why()
    assert (why.outcome, why.chosen, why.victim) == ("serves", 3, None)
    assert why.places[:3] == (
        Place(
            5,
            (SLACK, 0, 1, -6, 4, 5),
            "passed",
            Passed(
                needs=3,
                free=1,
                effective_priority=6,
                holders=(
                    Holder(1, 1, 0, Obstacle.TOO_SMALL),
                    Holder(2, 1, 0, Obstacle.NOT_PREEMPTIBLE),
                    Holder(3, 3, 6, Obstacle.NOT_LESS_URGENT),
                    Holder(4, 1, 5, Obstacle.NOT_PREEMPTIBLE),
                ),
            ),
        ),
        Place(
            6,
            (SLACK, 0, 1, 1, 4, 6),
            "passed",
            Passed(
                needs=9,
                free=1,
                effective_priority=-1,
                holders=(
                    Holder(1, 1, 0, Obstacle.NOT_LESS_URGENT),
                    Holder(2, 1, 0, Obstacle.NOT_PREEMPTIBLE),
                    Holder(3, 3, 6, Obstacle.NOT_LESS_URGENT),
                    Holder(4, 1, 5, Obstacle.NOT_PREEMPTIBLE),
                ),
            ),
        ),
        Place(3, (SLACK, 1, 1, -6, 4, 3), "chosen"),
    )


def test_why_names_the_victim() -> None:
    sim = DecodeSchedulerSim(free_kv_blocks=2)
    sim.enqueue(1, 4, required_blocks=2)
    sim.step()
    sim.enqueue(2, 4, priority=1, required_blocks=1)
    assert (sim.why().chosen, sim.why().victim) == (2, 1)


def test_why_counts_the_waiting_under_aging() -> None:
    sim = DecodeSchedulerSim("aging", free_kv_blocks=1, aging_interval=2)
    sim.enqueue(1, 4, 9, priority=1)
    sim.step()
    sim.enqueue(2, 4, 9)
    sim.run(3)
    (passed, _) = sim.why().places
    assert passed.passed == Passed(1, 0, 1, (Holder(1, 1, 1, Obstacle.NOT_LESS_URGENT),))


def test_why_under_fcfs_has_the_order_of_arrival_as_its_only_column() -> None:
    sim = DecodeSchedulerSim("fcfs")
    sim.enqueue(5, 4)
    sim.enqueue(-1, 4, priority=9)
    places = (Place(5, (0,), "chosen"), Place(-1, (1,), "behind", behind_at=0))
    assert sim.why() == Why("serves", ("arrival_index",), places, chosen=5)


def test_why_of_equal_keys_names_no_column() -> None:
    sim = DecodeSchedulerSim("fcfs")
    sim.queue += [RequestState(1, 4, 2), RequestState(2, 4, 2)]
    assert [place.behind_at for place in sim.why().places] == [None, None]
    assert served(sim, 1) == [1]


@QUICK
@given(SCHEDULERS, SCRIPTS)
def test_why_foretells_the_step_and_changes_nothing(
    sim: DecodeSchedulerSim, script: list[Op]
) -> None:
    play(sim, script)
    before = row(sim)
    why = sim.why()
    assert row(sim) == before
    unfinished = {request.request_id for request in sim.queue if not request.done}
    assert {place.request_id for place in why.places} == unfinished
    assert [place.key for place in why.places] == sorted(place.key for place in why.places)
    outcomes = [place.outcome for place in why.places]
    event = sim.step()
    if event is None:
        assert why.outcome == ("stuck" if unfinished else "done")
        assert (why.chosen, why.victim) == (None, None)
        assert set(outcomes) <= {"passed"}
        assert row(sim) == before
    else:
        assert why.outcome == "serves"
        assert (why.chosen, why.victim) == (event["request_id"], event["preempted_request_id"])
        at = outcomes.index("chosen")
        assert outcomes == ["passed"] * at + ["chosen"] + ["behind"] * (len(outcomes) - at - 1)
        for place in why.places:
            assert (place.passed is not None) == (place.outcome == "passed")
            if place.behind_at is not None:
                ahead = why.places[at].key
                assert place.key[: place.behind_at] == ahead[: place.behind_at]
                assert place.key[place.behind_at] > ahead[place.behind_at]
            assert (place.behind_at is not None) == (place.outcome == "behind")


@QUICK
@given(SCHEDULERS, SCRIPTS)
def test_a_holder_without_an_obstacle_is_one_that_may_be_preempted(
    sim: DecodeSchedulerSim, script: list[Op]
) -> None:
    play(sim, script)
    free, rank = sim.free_kv_blocks, sim._effective_priority
    holders = [request for request in sim.queue if request.admitted]
    for challenger in sim.queue:
        open_to = [h for h in holders if obstacle(challenger, h, free, rank) is None]
        assert pick_victim(challenger, holders, free, rank) == min(
            open_to, key=lambda h: (rank(h), -h.required_blocks, h.request_id), default=None
        )
        if not challenger.admitted and challenger.required_blocks > free:
            admissible, victim = admission(challenger, sim.queue, free, rank)
            assert admissible == bool(open_to)
            assert (victim is not None) == bool(open_to)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2))))
@settings(derandomize=True, database=None, deadline=None)
def test_the_key_order_is_a_stable_sort(keys: list[tuple[int, ...]]) -> None:
    numbers = [RequestState(number, 1, 1) for number in range(len(keys))]
    ordered = [request.request_id for request in in_key_order(numbers, keys)]
    assert ordered == sorted(range(len(keys)), key=keys.__getitem__)


# Done, stuck, and run.


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

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedmodel.scheduler, "fire", noting_fire)
        play(sim, script)
        fired.clear()
        event = sim.step()
    work = [(request_id, trigger) for request_id, trigger in fired if trigger in WORK]
    wanted = []
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


# Snapshot, restore and fork.


@QUICK
@given(SCHEDULERS, SCRIPTS, SCRIPTS)
def test_restore_undoes_whatever_came_after_the_snapshot(
    sim: DecodeSchedulerSim, before: list[Op], after: list[Op]
) -> None:
    play(sim, before)
    then, snapshot, requests = row(sim), sim.snapshot(), list(sim.queue)
    queue, timeline = sim.queue, sim.timeline
    play(sim, after)
    sim.policy, sim.aging_interval = "aging", 9
    later, later_snapshot = row(sim), sim.snapshot()
    sim.restore(snapshot)
    assert row(sim) == then
    assert sim.queue is queue
    assert sim.timeline is timeline
    assert all(mine is theirs for mine, theirs in zip(sim.queue, requests, strict=True))
    sim.restore(later_snapshot)
    assert row(sim) == later


@QUICK
@given(SCHEDULERS, SCRIPTS, SCRIPTS)
def test_restored_and_forked_schedulers_go_on_like_the_first(
    sim: DecodeSchedulerSim, before: list[Op], after: list[Op]
) -> None:
    play(sim, before)
    snapshot, fork = sim.snapshot(), sim.fork()
    play(sim, after)
    went_to = row(sim)
    play(fork, after)
    assert row(fork) == went_to
    sim.restore(snapshot)
    play(sim, after)
    assert row(sim) == went_to


@QUICK
@given(SCHEDULERS, SCRIPTS, SCRIPTS)
def test_a_fork_and_its_origin_leave_each_other_alone(
    sim: DecodeSchedulerSim, before: list[Op], after: list[Op]
) -> None:
    play(sim, before)
    then, fork = row(sim), sim.fork()
    assert row(fork) == then
    play(fork, after)
    assert row(sim) == then
    went_to = row(fork)
    sim.policy = "deadline"
    play(sim, reversed(after))
    assert row(fork) == went_to


@BY_POLICY
def test_a_fork_keeps_policy_interval_pool_and_class(policy: str) -> None:
    class Course(DecodeSchedulerSim):
        pass

    sim = Course("fixed_priority", free_kv_blocks=5, aging_interval=3)
    sim.enqueue(1, 4, required_blocks=4)
    sim.step()
    sim.policy, sim.aging_interval = policy, 2
    fork = sim.fork()
    assert type(fork) is Course
    assert (fork.policy, fork.aging_interval) == (policy, 2)
    assert (fork.free_kv_blocks, fork.ledger.capacity) == (1, 5)
    fork.run()
    assert fork.free_kv_blocks == 5


class Tagged(RequestState):
    """A request of another make, with fields of its own."""

    __slots__ = ("tag",)


def test_a_request_of_a_subclass_is_restored_too() -> None:
    sim = DecodeSchedulerSim()
    sim.queue.append(Tagged(1, 4, 2))
    snapshot, before = sim.snapshot(), row(sim)
    sim.run()
    sim.restore(snapshot)
    assert row(sim) == before
    assert type(sim.queue[0]) is Tagged


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


# The surprises in the chapter's rules.


def test_only_one_victim_may_go_so_an_urgent_request_waits_behind_two_small_ones() -> None:
    sim = DecodeSchedulerSim(free_kv_blocks=2)
    sim.enqueue(1, 4, 3)
    sim.enqueue(2, 4, 3)
    sim.run(2)
    sim.enqueue(3, 4, 1, priority=9, required_blocks=2)
    passed = sim.why().places[0].passed
    assert passed is not None
    assert [(h.request_id, h.obstacle) for h in passed.holders] == [
        (1, Obstacle.TOO_SMALL),
        (2, Obstacle.TOO_SMALL),
    ]
    assert served(sim, 6) == [1, 2, 1, 2, 1, 3], "until one has ended; then the other must go"
    assert sim.timeline[-1]["preempted_request_id"] == 2
    assert sim.queue[2].wait_steps == 5


@BY_POLICY
def test_a_request_larger_than_the_pool_is_accepted_and_never_served(policy: str) -> None:
    sim = DecodeSchedulerSim(policy, free_kv_blocks=3)
    sim.enqueue(1, 4, 2, priority=99, cache_hit=True, required_blocks=4)
    sim.enqueue(2, 4, 2)
    assert [event["request_id"] for event in sim.run()] == [2, 2, 2]
    assert (sim.clock, sim.is_stuck, sim.is_done) == (3, True, False)
    assert sim.queue[0].status == "waiting"


def test_late_requests_alternate_and_drag_one_another() -> None:
    sim = DecodeSchedulerSim("deadline")
    sim.enqueue(1, 4, 10, deadline_step=5)
    sim.enqueue(2, 4, 10, deadline_step=8)
    sim.run()
    order = [event["request_id"] for event in sim.timeline]
    assert order[:10] == [1, 1, 1, 2, 1, 2, 1, 2, 1, 2]
    assert all(event["deadline_missed"] for event in sim.timeline), "both from the first step on"


def test_a_request_that_could_be_in_time_is_passed_by_one_that_cannot() -> None:
    sim = DecodeSchedulerSim("deadline")
    sim.enqueue(1, 4, 10, deadline_step=5)
    sim.enqueue(2, 4, 2, deadline_step=4)
    assert sim._schedule_key(sim.queue[0])[0] < 0 < sim._schedule_key(sim.queue[1])[0]
    sim.run()
    misses = [event["deadline_missed"] for event in sim.timeline if event["request_id"] == 2]
    assert sim.timeline[0]["request_id"] == 1
    assert misses[-1] is True


@pytest.mark.parametrize("interval", [1, 2, 3, 5])
def test_equal_requests_take_the_blocks_from_each_other_under_aging(interval: int) -> None:
    sim = DecodeSchedulerSim("aging", free_kv_blocks=1, aging_interval=interval)
    sim.enqueue(1, 4, 100)
    sim.enqueue(2, 4, 100)
    sim.run(10 * interval)
    swaps = [e["preempted_request_id"] for e in sim.timeline if e["preempted_request_id"]]
    at = [step for step, e in enumerate(sim.timeline) if e["preempted_request_id"] is not None]
    assert swaps[:4] == [1, 2, 1, 2]
    assert {later - earlier for earlier, later in pairwise(at)} == {2 * interval}


def test_a_deadline_gives_no_right_to_preempt() -> None:
    sim = DecodeSchedulerSim("deadline", free_kv_blocks=1)
    sim.enqueue(1, 4, 3, priority=1)
    sim.step()
    sim.enqueue(2, 4, 1, deadline_step=sim.clock + 2)
    first = sim.why().places[0]
    assert (first.request_id, first.outcome) == (2, "passed"), "it is the most urgent by far"
    assert served(sim, 5) == [1, 1, 1, 2, 2]
    assert sim.timeline[-1]["deadline_missed"] is True


def test_priority_alone_lets_a_request_without_deadline_push_out_an_urgent_one() -> None:
    sim = DecodeSchedulerSim("deadline", free_kv_blocks=1)
    sim.enqueue(1, 4, 3, deadline_step=4)
    sim.step()
    sim.enqueue(2, 4, 1, priority=1)
    assert served(sim, 4) == [1, 1, 1, 2], "slack orders: the urgent one stands before it"
    assert sim.queue[0].preemptions == 0


def test_finished_requests_stay_in_the_queue() -> None:
    sim = DecodeSchedulerSim()
    sim.enqueue(1, 4, 1)
    sim.enqueue(2, 4, 1)
    sim.run()
    assert [(r.request_id, r.status, r.done) for r in sim.queue] == [
        (1, "finished", True),
        (2, "finished", True),
    ]


def test_slack_stands_before_the_phase() -> None:
    sim = DecodeSchedulerSim("deadline")
    sim.enqueue(1, 4, 3, deadline_step=5)
    sim.step()
    sim.enqueue(2, 4, 1, deadline_step=30)
    assert sim.queue[0].phase == "decode"
    assert served(sim, 3) == [1, 1, 1]


@BY_POLICY
def test_a_stuck_step_adds_no_wait_and_no_tick(policy: str) -> None:
    sim = DecodeSchedulerSim(policy, free_kv_blocks=1)
    sim.enqueue(1, 4, 1, required_blocks=2)
    before = row(sim)
    assert served(sim, 3) == [None] * 3
    assert sim.run() == []
    assert row(sim) == before


Scene = Callable[[DecodeSchedulerSim], None]


def hungry_prefill(sim: DecodeSchedulerSim) -> None:
    """A stream of cache hits: enqueue one, two steps, again."""
    for number in range(60):
        sim.enqueue(100 + number, 4, 1, cache_hit=True)
        sim.run(2)


def higher_priority(sim: DecodeSchedulerSim) -> None:
    """A stream of requests of higher priority."""
    for number in range(60):
        sim.enqueue(100 + number, 4, 1, priority=1, cache_hit=True)
        sim.run(2)


@pytest.mark.parametrize(
    ("policy", "scene"),
    [
        ("aging", hungry_prefill),
        ("fixed_priority", hungry_prefill),
        ("fixed_priority", higher_priority),
    ],
)
def test_a_stream_starves_a_request_in_decode(policy: str, scene: Scene) -> None:
    sim = DecodeSchedulerSim(policy, aging_interval=1)
    sim.enqueue(1, 4, 2)
    sim.step()
    scene(sim)
    assert sim.queue[0].generated_len == 0
    assert sim.queue[0].wait_steps == 120


def stream_of_small_requests(sim: DecodeSchedulerSim) -> RequestState:
    """One small request always runs, the next comes before it ends; the large one's state."""
    sim.enqueue(1, 4, 3, preemptible=False)
    sim.step()
    sim.enqueue(0, 4, 1, priority=9, cache_hit=True, required_blocks=2)
    for number in range(2, 40):
        sim.run(2)
        sim.enqueue(number, 4, 3, preemptible=False)
        sim.run(2)
    return sim.queue[1]


@pytest.mark.parametrize("policy", ["fixed_priority", "aging", "deadline"])
def test_a_large_request_starves_behind_small_ones(policy: str) -> None:
    sim = DecodeSchedulerSim(policy, free_kv_blocks=2, aging_interval=1)
    large = stream_of_small_requests(sim)
    assert (large.status, large.phase) == ("waiting", "prefill")
    assert large.wait_steps > 100
    assert sum(1 for request in sim.queue if not request.done) <= 3


def test_under_fcfs_no_small_newcomer_gets_between_so_the_large_one_is_served() -> None:
    large = stream_of_small_requests(DecodeSchedulerSim("fcfs", free_kv_blocks=2))
    assert large.status == "finished"
    assert large.wait_steps == 3, "only until the one that was running had ended"
