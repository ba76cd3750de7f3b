"""Why a step does what it does: what `why` tells, and that the step then does it.

The reasons are scenes with the answer by hand; that they foretell the step is asked of
random scripts. Whoever overrides the scheduler's order or its ranks is explained by these.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.conftest import QUICK, SCHEDULERS, SCRIPTS, Op, play, row, served

from schedmodel import DecodeSchedulerSim, RequestState
from schedmodel.choice import Holder, Obstacle, Passed, Place, Why

SLACK = 1_000_000_000
KEY_COLUMNS = (
    "deadline_slack",
    "phase_rank",
    "cache_rank",
    "-effective_priority",
    "total_len",
    "request_id",
)


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
    other: dict[str, Any] = {"request_id": 2, "prompt_len": 5, **fields}
    sim.enqueue(**other)
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


class LongestFirst(DecodeSchedulerSim):
    """Another order and other ranks, as a reader of the course may try."""

    def _schedule_key(self, req: RequestState) -> tuple[int, ...]:
        return (-req.max_new_tokens, req.request_id)

    def _effective_priority(self, req: RequestState) -> int:
        return req.max_new_tokens


def test_why_explains_a_subclass_by_its_own_order_and_ranks() -> None:
    sim = LongestFirst(free_kv_blocks=1)
    sim.enqueue(1, 4, 3, priority=9)
    sim.enqueue(2, 4, 3, priority=9)
    assert served(sim, 1) == [1]
    sim.enqueue(3, 4, 7)
    columns = ("key[0]", "key[1]")
    assert sim.why() == Why(
        "serves",
        columns,
        (
            Place(3, (-7, 3), "chosen"),
            Place(1, (-3, 1), "behind", behind_at=0),
            Place(2, (-3, 2), "behind", behind_at=0),
        ),
        chosen=3,
        victim=1,
    )
    sim.enqueue(4, 4, 8, preemptible=False)
    sim.step()
    sim.enqueue(5, 4, 9)
    holders = (Holder(4, 1, 8, Obstacle.NOT_PREEMPTIBLE),)
    assert sim.why().places[0] == Place(5, (-9, 5), "passed", Passed(1, 0, 9, holders))
    assert LongestFirst().why() == Why("done", (), ())


@QUICK
@given(st.integers(0, 3), SCRIPTS)
def test_why_foretells_the_step_of_a_subclass(pool: int, script: list[Op]) -> None:
    sim = LongestFirst(free_kv_blocks=pool)
    play(sim, script)
    why, event = sim.why(), sim.step()
    assert (why.outcome == "serves") == (event is not None)
    if event is not None:
        assert (why.chosen, why.victim) == (event["request_id"], event["preempted_request_id"])
