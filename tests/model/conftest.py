"""What the tests of the model share: the lifecycle's edges by hand, scenes, random scripts.

`EDGES` is the specification of the lifecycle: which trigger leads from which state to
which, and which guard stands before it. A script is a list of ops on one scheduler; the
ids of its requests are their numbers in it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from schedmodel import POLICIES, DecodeSchedulerSim, InvalidInput

BY_POLICY = pytest.mark.parametrize("policy", POLICIES)
QUICK = settings(derandomize=True, database=None, deadline=None, max_examples=100)

NOT_A_NUMBER: list[object] = [
    True,
    False,
    1.0,
    2.5,
    math.nan,
    math.inf,
    "1",
    "",
    b"1",
    None,
    [],
    [1],
    (1,),
    {},
]
NOT_A_BOOL: list[object] = [0, 1, 1.0, math.nan, "True", "", None, [], [True]]
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
NO_LENGTH: list[object] = [*NOT_A_NUMBER, 0, -1, -(10**30)]
BELOW_ZERO: list[object] = [*NOT_A_NUMBER, -1, -(10**30)]
NOT_A_DEADLINE = [value for value in NOT_A_NUMBER if value is not None]

WHOLE = "a whole number"
ONE_OR_MORE = "a whole number, at least 1"
ZERO_OR_MORE = "a whole number, at least 0"
TRUTH = "True or False"

EDGES = {
    ("waiting", "admit", "admitted", "blocks fit"),
    ("preempted", "resume", "admitted", "blocks fit"),
    ("admitted", "begin_prefill", "prefill", "saved phase is prefill"),
    ("admitted", "begin_decode", "decode", "saved phase is decode"),
    ("prefill", "begin_decode", "decode", ""),
    ("decode", "emit_token", "decode", "below limit"),
    ("prefill", "prefill_chunk", "prefill", ""),
    ("prefill", "grow", "prefill", "room to grow"),
    ("decode", "grow", "decode", "room to grow"),
    ("admitted", "preempt", "preempted", "is preemptible"),
    ("prefill", "preempt", "preempted", "is preemptible"),
    ("decode", "preempt", "preempted", "is preemptible"),
    ("decode", "finish", "finished", "limit reached"),
    ("waiting", "abort", "finished", ""),
    ("admitted", "abort", "finished", ""),
    ("prefill", "abort", "finished", ""),
    ("decode", "abort", "finished", ""),
    ("preempted", "abort", "finished", ""),
    ("waiting", "reject", "finished", ""),
}


def served(sim: DecodeSchedulerSim, steps: int) -> list[int | None]:
    """The ids of the next `steps` steps, None where nobody could be served."""
    events = [sim.step() for _ in range(steps)]
    return [None if event is None else event["request_id"] for event in events]


def row(sim: DecodeSchedulerSim) -> tuple[object, ...]:
    """The whole state as one comparable value; events are copied, they are dicts."""
    snapshot = sim.snapshot()
    timeline = [dict(event) for event in snapshot.timeline]
    return (sim.policy, sim.aging_interval, *snapshot[1:4], sim.ledger.capacity, timeline)


def refusals(table: Mapping[str, tuple[Sequence[object], str]]) -> list[Any]:
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
ROUNDS: st.SearchStrategy[tuple[Op, ...]] = st.one_of(
    st.tuples(ENQUEUES, STEPS),
    st.tuples(ENQUEUES, STEPS),
    st.tuples(ENQUEUES, ENQUEUES, STEPS),
    st.tuples(ASSIGNMENTS, STEPS),
)
SCRIPTS = st.lists(ROUNDS, min_size=3, max_size=10).map(lambda rounds: [*chain(*rounds)])
SCHEDULERS = st.builds(
    DecodeSchedulerSim,
    st.sampled_from(list(POLICIES)),
    st.sampled_from([0, 1, 1, 2, 2, 3, 4]),
    st.integers(1, 3),
)


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
