"""The indexed scheduler is the plain one, only faster: every event, field and refusal is the same.

The recordings and the nine contracts are asked of it beside the others (see `conftest`).
Here it walks beside the plain model through random scripts that reach where small scopes do
not: many requests, large and equal priorities, long waits, deadlines beyond the constant that
stands for none, pools of hundreds of blocks, assigned fields, changed policies, going back.
The exhaustive search judges it by the claims, as it would a stranger's scheduler; the whole
of the smallest shared scope takes minutes and is in `slow_indexed.py`; beside the model, it is
led through all of it in seconds by `test_side_by_side.py`.
"""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import schedproof
from schedmodel import KNOWN_POLICIES, DecodeSchedulerSim, IllegalAssignment, indexing, sorting
from schedmodel.indexed import SPARE, IndexedSchedulerSim
from schedmodel.request import FIELDS

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

Pair = tuple[DecodeSchedulerSim, IndexedSchedulerSim]
FIRSTS: Any = indexing.Victims.firsts


def both(policy: str, blocks: int, interval: int) -> Pair:
    return DecodeSchedulerSim(policy, blocks, interval), IndexedSchedulerSim(
        policy, blocks, interval
    )


def same_answers(pair: Pair, call: str, *values: Any, **named: Any) -> None:
    answers: list[object] = []
    for sim in pair:
        try:
            answers.append(getattr(sim, call)(*values, **named))
        except ValueError as error:
            answers.append(str(error))
    assert answers[0] == answers[1]


def same_states(pair: Pair) -> None:
    model, indexed = pair
    assert (model.clock, model.free_kv_blocks) == (indexed.clock, indexed.free_kv_blocks)
    assert (model.is_done, model.is_stuck) == (indexed.is_done, indexed.is_stuck)
    for mine, theirs in zip(model.queue, indexed.queue, strict=True):
        for name in (*FIELDS, "arrival_index", "finish_reason"):
            assert getattr(mine, name) == getattr(theirs, name), name


class Script:
    """A script for both schedulers, drawn from a seed."""

    def __init__(self, seed: int, policy: str) -> None:
        self.draw = draw = random.Random(f"{policy} {seed}")
        self.blocks = draw.choice([1, 3, 10, 50, 300])
        self.pair = both(policy, self.blocks, draw.choice([1, 2, 3, 4, 7, 50]))
        self.priorities = draw.choice([1, 3, 1000])
        self.tokens = draw.choice([2, 6, 30])
        self.preemptible = draw.random()

    def play(self, calls: int) -> None:
        for _ in range(calls):
            action = self.draw.choices(
                [self.enqueue, self.steps, self.assign, self.set_up, self.go_back],
                [30, 63, 3, 1, 1],
            )[0]
            action()
        same_states(self.pair)

    def enqueue(self) -> None:
        draw, clock = self.draw, self.pair[0].clock
        most = draw.choice([1, 3, self.blocks, self.blocks + 2])
        far = clock + draw.choice([10, 10**9, 10**9 + 50, 2 * 10**9])
        same_answers(
            self.pair,
            "enqueue",
            request_id=draw.randrange(4000),
            prompt_len=draw.randint(1, draw.choice([2, 100])),
            max_new_tokens=draw.randint(1, self.tokens),
            priority=draw.randint(-self.priorities, self.priorities),
            cache_hit=draw.random() < 0.5,
            required_blocks=draw.randint(1, most),
            preemptible=draw.random() < self.preemptible,
            deadline_step=draw.choice([None, clock + draw.randint(1, 60), far]),
        )

    def steps(self) -> None:
        for _ in range(self.draw.randint(1, 6)):
            same_answers(self.pair, "step")

    def assign(self) -> None:
        values: dict[str, Any] = {
            "wait_steps": self.draw.randint(0, 50),
            "phase": self.draw.choice(["prefill", "decode"]),
            "priority": self.draw.randint(-5, 5),
            "cache_hit": self.draw.random() < 0.5,
            "deadline_step": self.pair[0].clock + self.draw.randint(1, 9),
        }
        name = self.draw.choice(list(values))
        place = self.draw.randrange(1 + len(self.pair[0].queue))
        for sim in self.pair:
            if place < len(sim.queue):
                try:
                    setattr(sim.queue[place], name, values[name])
                except IllegalAssignment:
                    assert sim.queue[place].status in ("running", "finished")

    def set_up(self) -> None:
        policy = self.draw.choice(list(KNOWN_POLICIES))
        interval = self.draw.choice([1, 2, 5])
        for sim in self.pair:
            sim.policy, sim.aging_interval = policy, interval

    def go_back(self) -> None:
        model, indexed = self.pair
        then = model.snapshot(), indexed.snapshot()
        self.steps()
        if self.draw.random() < 0.5:
            indexed = IndexedSchedulerSim("fcfs", self.blocks)
        model.restore(then[0])
        indexed.restore(then[1])
        self.pair = model, copy.deepcopy(indexed)


@pytest.mark.parametrize("policy", KNOWN_POLICIES)
@pytest.mark.parametrize("seed", range(6))
def test_random_scripts_give_equal_events(policy: str, seed: int) -> None:
    script = Script(seed, policy)
    script.play(150)
    assert script.pair[0].clock > 50


@pytest.mark.parametrize("policy", KNOWN_POLICIES)
def test_many_requests_at_once_give_equal_events(policy: str) -> None:
    pair = both(policy, 120, 4)
    draw = random.Random(policy)
    for number in range(150):
        same_answers(
            pair,
            "enqueue",
            number,
            draw.randint(1, 900),
            draw.randint(1, 40),
            draw.randint(0, 3),
            draw.random() < 0.3,
            draw.randint(1, 60),
            draw.choice([None, draw.randint(1, 9000)]),
            draw.random() < 0.8,
        )
    for _ in range(200):
        same_answers(pair, "step")
    same_states(pair)


def nobody_comes(seed: int, policy: str) -> None:
    """A long stretch of steps among the same requests, so that what is kept is used again."""
    draw = random.Random(f"nobody comes {policy} {seed}")
    pair = both(policy, draw.choice([6, 12, 40]), draw.choice([2, 3, 7, 20, 50]))
    for number in range(14):
        same_answers(
            pair,
            "enqueue",
            number,
            draw.randint(1, 30),
            draw.randint(20, 60),
            draw.randint(0, 3),
            draw.random() < 0.3,
            draw.randint(1, 6),
            draw.choice([None, draw.randint(1, 900)]),
            draw.random() < 0.8,
        )
    for _ in range(300):
        same_answers(pair, "step")
    same_states(pair)


@pytest.mark.parametrize("policy", KNOWN_POLICIES)
def test_equal_events_while_nobody_comes(policy: str) -> None:
    for seed in range(12):
        nobody_comes(seed, policy)


@settings(derandomize=True, database=None, deadline=None, max_examples=30)
@given(st.sampled_from(list(KNOWN_POLICIES)), st.data())
def test_large_parameters_give_equal_events(policy: str, data: st.DataObject) -> None:
    large = st.integers(-(10**12), 10**12)
    blocks = data.draw(st.integers(1, 10**9), label="blocks")
    pair = both(policy, blocks, data.draw(st.integers(1, 10**6), label="interval"))
    count = data.draw(st.integers(1, 6), label="requests")
    numbers = data.draw(st.lists(large, min_size=count, max_size=count, unique=True))
    for number in numbers:
        same_answers(
            pair,
            "enqueue",
            number,
            data.draw(st.integers(1, 10**9)),
            data.draw(st.integers(1, 4)),
            data.draw(large),
            data.draw(st.booleans()),
            data.draw(st.integers(1, blocks)),
            data.draw(st.none() | st.integers(1, 10**12)),
            data.draw(st.booleans()),
        )
        if data.draw(st.booleans()):
            pair[0].queue[-1].wait_steps = pair[1].queue[-1].wait_steps = data.draw(
                st.integers(0, 10**9)
            )
        same_answers(pair, "step")
    for _ in range(5 * count):
        same_answers(pair, "step")
    same_states(pair)


@pytest.mark.parametrize("policy", ["aging"])
def test_all_ways_through_a_tiny_scope_keep_the_claims(policy: str) -> None:
    mine, model = (
        schedproof.check(target, policy=policy, scope="small", requests=2, identity="full")
        for target in (IndexedSchedulerSim, DecodeSchedulerSim)
    )
    assert mine.exit_code == 0, str(mine)
    assert mine.runs[0].distinct_states == model.runs[0].distinct_states
    assert mine.runs[0].transitions == model.runs[0].transitions


@pytest.mark.parametrize(
    ("place", "name", "wrong"),
    [
        (sorting.Sorting, "split", lambda self: self.interval),
        (sorting.Sorting, "least_of", lambda self, rank: rank * self.interval),
        (indexing.Victims, "firsts", lambda self, blocks: list(FIRSTS(self, blocks))[:1]),
        (indexing.Lane, "most_urgent_within", lambda self, blocks: None),
        (indexing.Lane, "hope_again", lambda self, blocks, weakness, interval: None),
        (indexing.Holders, "rank_beside", lambda self: 10**9),
    ],
)
def test_a_fault_in_the_index_is_found(
    monkeypatch: pytest.MonkeyPatch, place: type, name: str, wrong: Any
) -> None:
    monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError):
        play_many_scripts()


def play_many_scripts() -> None:
    for seed in range(60):
        nobody_comes(seed, "aging")
        Script(seed, "aging").play(150)


def test_without_a_history_events_are_the_same_and_little_is_kept() -> None:
    model = DecodeSchedulerSim("aging", 20)
    stream = IndexedSchedulerSim("aging", 20, keep_history=False)
    for number in range(600):
        for sim in (model, stream):
            sim.enqueue(number, 5, 2, number % 3, required_blocks=1 + number % 7)
        for _ in range(3):
            assert model.step() == stream.step()
        assert len(stream.queue) <= 2 * SPARE + 40
    assert stream.timeline == []
    assert stream.is_done
    stream.enqueue(5, 5)


def test_a_refused_call_leaves_no_work_behind() -> None:
    sim = IndexedSchedulerSim()
    sim.enqueue(1, 5)
    index = sim._index
    with pytest.raises(ValueError, match="prompt_len"):
        sim.enqueue(2, 0)
    sim.step()
    assert sim._index is index
