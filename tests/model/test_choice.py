"""Choosing: the victim, and the first admissible candidate, against slow words for the same."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.conftest import QUICK, SCHEDULERS, SCRIPTS, Op, play

from schedmodel import DecodeSchedulerSim, RequestState, State
from schedmodel.choice import MANY, admission, choose, obstacle, pick_victim


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


def candidate(runs: bool, blocks: int, preemptible: bool, priority: int) -> RequestState:
    request = RequestState(1, 4, 2, required_blocks=blocks, preemptible=preemptible)
    request.priority = priority
    request._state = State.DECODE if runs else State.WAITING
    return request


CANDIDATES = st.lists(
    st.builds(candidate, st.booleans(), st.integers(1, 3), st.booleans(), st.integers(0, 3)),
    max_size=8,
)


@settings(QUICK, max_examples=300)
@given(CANDIDATES, st.integers(0, 2), st.sampled_from([1, MANY // 4, MANY]), st.data())
def test_the_first_admissible_candidate_in_key_order_is_chosen(
    some: list[RequestState], free: int, times: int, data: st.DataObject
) -> None:
    def rank(request: RequestState) -> int:
        return request.priority

    candidates = [RequestState.from_row(r.to_row()) for r in some for _ in range(times)]
    for number, request in enumerate(candidates):
        request.request_id = number
    columns = st.lists(st.integers(0, 9), min_size=len(some), max_size=len(some))
    keys = [(key, number % 3) for key in data.draw(columns) for number in range(times)]
    answer = None
    for place in sorted(range(len(keys)), key=keys.__getitem__):
        admissible, victim = admission(candidates[place], candidates, free, rank)
        if admissible:
            answer = candidates[place], victim
            break
    chosen = choose(candidates, [*keys], free, rank)
    assert (answer is None) == (chosen is None)
    if answer is not None and chosen is not None:
        assert chosen[0] is answer[0]
        assert chosen[1] is answer[1]
