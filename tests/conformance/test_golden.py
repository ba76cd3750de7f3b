"""Recorded behaviour: 250 scripts with every answer, and the two schedulers side by side.

The recordings come from the chapter's reference answer (see `tests/data/README.md`). Each
is replayed on the model and on the plain scheduler, and every answer, every event and the
state at the end must be the same. Beyond the recordings, random scripts are played on both
schedulers at once, fcfs among the policies, and compared after every call.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedmodel import POLICIES, DecodeSchedulerSim
from schedmodel.request import FIELDS
from schedproof.zoo.plain import PlainScheduler

Make: TypeAlias = Callable[..., DecodeSchedulerSim | PlainScheduler]
Scheduler: TypeAlias = DecodeSchedulerSim | PlainScheduler

RECORDINGS = Path(__file__).resolve().parents[1] / "data" / "golden_timelines.jsonl"
COUNT = 250


@functools.cache
def recordings() -> list[dict[str, Any]]:
    lines = RECORDINGS.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def answer(sim: Scheduler, op: str, args: dict[str, Any]) -> object:
    """What a call answers, in the words of the recordings."""
    try:
        result: object = getattr(sim, op)(**args)
    except ValueError:
        return "ValueError"
    if op == "enqueue":
        assert result is None
        return "ok"
    if op == "run":
        assert result is sim.timeline
        return len(sim.timeline)
    return result


def state(sim: Scheduler, names: list[str]) -> dict[str, object]:
    return {
        "clock": sim.clock,
        "free_kv_blocks": sim.free_kv_blocks,
        "requests": [{name: getattr(request, name) for name in names} for request in sim.queue],
    }


def exactly(value: object) -> str:
    """A text that differs for 1, 1.0 and True, which `==` takes for the same."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("number", range(COUNT))
def test_a_recording_is_reproduced_exactly(make: Make, number: int) -> None:
    recorded = recordings()[number]
    sim = make(recorded["policy"], recorded["free_kv_blocks"], recorded["aging_interval"])
    for at, call in enumerate(recorded["script"]):
        got = answer(sim, call["op"], call.get("args", {}))
        assert exactly(got) == exactly(call["result"]), f"call {at}: {call}"
    assert exactly(sim.timeline) == exactly(recorded["timeline"])
    names = list(recorded["final"]["requests"][0]) if recorded["final"]["requests"] else []
    assert exactly(state(sim, names)) == exactly(recorded["final"])


def test_the_recordings_are_all_there_and_show_what_matters() -> None:
    assert len(recordings()) == COUNT
    assert {r["policy"] for r in recordings()} == {"fixed_priority", "aging", "deadline"}
    events = [event for r in recordings() for event in r["timeline"]]
    calls = [call for r in recordings() for call in r["script"]]
    assert {event["action"] for event in events} == {
        "prefill_to_decode",
        "decode_one_step",
        "finish",
    }
    assert any(event["preempted_request_id"] is not None for event in events)
    assert {event["deadline_missed"] for event in events} == {True, False}
    assert any(call["op"] == "step" and call["result"] is None for call in calls)
    assert {call["op"] for call in calls if call["result"] == "ValueError"} == {"enqueue", "run"}


# Both schedulers side by side.

SEEN = [*FIELDS, "total_len", "done"]

Call: TypeAlias = tuple[str, dict[str, Any]]

ENQUEUES = st.tuples(
    st.just("enqueue"),
    st.fixed_dictionaries(
        {"request_id": st.integers(-3, 12), "prompt_len": st.sampled_from([1, 1, 2, 3, 0])},
        optional={
            "max_new_tokens": st.sampled_from([1, 2, 3, 5, 0]),
            "priority": st.integers(-2, 4),
            "cache_hit": st.booleans(),
            "required_blocks": st.sampled_from([1, 1, 2, 2, 3, 5, -1]),
            "deadline_step": st.none() | st.integers(0, 25),
            "preemptible": st.sampled_from([True, True, False]),
        },
    ),
)
RUNS = st.tuples(
    st.just("run"), st.fixed_dictionaries({"max_steps": st.sampled_from([1, 2, 3, 5, -1, 0])})
)
STEP: st.SearchStrategy[Call] = st.just(("step", {}))
ASSIGNMENTS = st.tuples(
    st.sampled_from(["phase=prefill", "phase=decode", "wait_steps=0", "wait_steps=7"]),
    st.fixed_dictionaries({"who": st.integers(0, 6)}),
)
CALLS: st.SearchStrategy[list[Call]] = st.lists(
    st.one_of(ENQUEUES, ENQUEUES, RUNS, RUNS, STEP, ASSIGNMENTS), min_size=8, max_size=40
)


def assign(sim: Scheduler, assignment: str, who: int) -> None:
    """Assign phase (where the model allows it) or wait_steps of a request, if it exists."""
    if who >= len(sim.queue):
        return
    name, _, value = assignment.partition("=")
    if name == "wait_steps":
        sim.queue[who].wait_steps = int(value)
    elif sim.queue[who].status in ("waiting", "preempted"):
        sim.queue[who].phase = value


@settings(derandomize=True, database=None, deadline=None, max_examples=150)
@given(st.sampled_from(list(POLICIES)), st.integers(0, 6), st.integers(1, 4), CALLS)
def test_model_and_plain_scheduler_give_equal_answers(
    policy: str, pool: int, interval: int, calls: list[Call]
) -> None:
    model = DecodeSchedulerSim(policy, pool, interval)
    plain = PlainScheduler(policy, pool, interval)
    for op, args in calls:
        if "=" in op:
            assign(model, op, **args)
            assign(plain, op, **args)
        else:
            assert exactly(answer(model, op, args)) == exactly(answer(plain, op, args)), op
        assert exactly(state(model, SEEN)) == exactly(state(plain, SEEN)), op
        for mine, theirs in zip(model.queue, plain.queue, strict=True):
            assert model._schedule_key(mine) == plain._schedule_key(theirs)
            assert model._effective_priority(mine) == plain._effective_priority(theirs)
    assert exactly(model.run(200)) == exactly(plain.run(200))
    assert exactly(state(model, SEEN)) == exactly(state(plain, SEEN))
