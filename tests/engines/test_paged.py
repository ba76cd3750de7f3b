"""Our paged scheduler as an engine: what is in flight, what is void, and how one goes back."""

from __future__ import annotations

from random import Random

import pytest
from tests.engines.conftest import searched

from schedmodel.paged import PagedRequest, PagedScheduler, Step
from schedproof.claims.catalogue import CLAIMS
from schedproof.engines.adapter import Request, Setup
from schedproof.engines.paged_model import PagedModel
from schedproof.engines.paged_source import OUR_PAGED, paged_source
from schedproof.engines.pipelined import PipelinedSubject
from schedproof.search.engines.box import Plan, drawn, in_order
from schedproof.search.engines.self_test import self_test
from schedproof.search.engines.shrinking import smaller
from schedproof.subjects.actions import (
    DELIVER,
    STEP,
    Abort,
    Action,
    Deliver,
    EngineEnqueue,
    from_json,
    to_json,
)
from schedproof.subjects.contract import Config, Limits, PolicyRefused, SubjectError
from schedproof.subjects.observation import Span

CONFIG = Config("fcfs", 3, 1, Limits(2, 2, 4))
A, B = EngineEnqueue.of(0, [0, 1, 1], 3), EngineEnqueue.of(1, [1], 4)


def led(*actions: Action, adapter: PagedModel | None = None) -> PipelinedSubject:
    subject = PipelinedSubject(adapter or PagedModel(), CONFIG)
    for action in actions:
        subject.do(action)
    return subject


@pytest.mark.parametrize("policy", ["fcfs", "fixed_priority"])
def test_random_runs_find_nothing_and_reach_everything(policy: str) -> None:
    result = searched(PagedModel(policy), 250)
    assert result.verdict == "no_violation_found"
    unseen = [c.id for c in result.claims if c.verdict in ("not_exercised", "not_reached")]
    assert unseen in ([], ["PREEMPT-1"])


def test_a_step_is_decided_now_and_brings_its_tokens_later() -> None:
    subject = led(A)
    answer = subject.do(STEP)
    assert answer.batch == (Span(0, "prefill", 1, 0, 3),)
    seen = subject.observe()
    assert (seen.in_flight, seen.rows[0].computed_len) == ((answer.batch,), 0)
    assert subject.do(STEP).batch == (Span(0, "decode", 1, 3, 4),)
    assert subject.do(DELIVER).batch == answer.batch
    (row,) = subject.observe().rows
    assert (row.computed_len, row.generated_len, len(subject.observe().in_flight)) == (3, 1, 1)


def test_what_is_in_flight_for_somebody_who_is_gone_is_void() -> None:
    subject = led(A, B, STEP, Abort(0))
    assert [span.request_id for span in subject.do(DELIVER).batch] == [1]
    again = led(A, STEP, Abort(0), EngineEnqueue.of(1, [0], 2, reuses=0), STEP)
    assert again.do(DELIVER).batch == ()
    assert again.observe().rows[1].generated_len == 0


def test_only_the_oldest_step_in_flight_is_delivered() -> None:
    for subject, action in ((led(A), DELIVER), (led(A, STEP, STEP), Deliver(1))):
        with pytest.raises(SubjectError):
            subject.do(action)


def test_one_goes_back_to_a_state_with_steps_in_flight() -> None:
    subject = led(A, B, STEP, STEP)
    mark, seen = subject.mark(), subject.observe()
    ahead = [subject.do(action) for action in (DELIVER, Abort(0), DELIVER, STEP)]
    assert subject.mark() != mark
    subject.reset(mark)
    assert (subject.mark(), hash(subject.mark())) == (mark, hash(mark))
    assert subject.observe() == seen
    assert [subject.do(action) for action in (DELIVER, Abort(0), DELIVER, STEP)] == ahead
    other = subject.fresh()
    other.reset(mark)
    assert other.do(DELIVER) == ahead[0]


def test_states_reached_by_the_same_actions_are_the_same() -> None:
    actions = (A, B, STEP, DELIVER, STEP, DELIVER, STEP)
    straight, back = led(*actions), led(*actions[:3])
    back.reset(back.mark())
    for action in actions[3:]:
        back.reset(back.mark())
        back.do(action)
    assert straight.mark() == back.mark()


class Promising(PagedModel):
    """Promises that nobody ever has to give way."""

    def preemptions_max(self, setup: Setup) -> int:
        return 0


def test_a_promise_about_preemptions_is_kept_or_told() -> None:
    found = searched(Promising(), 400).counterexamples[0]
    assert (found.claim, found.values) == ("PREEMPT-2", {"number": 1, "limit": 0})


class Restless(PagedScheduler):
    """Admits whom it has just preempted."""

    def _preempt(self, victim: PagedRequest, step: Step) -> None:
        super()._preempt(victim, step)
        step.grants.append(step.grants[0])


def test_what_a_scheduler_says_it_preempted_is_believed() -> None:
    found = searched(PagedModel("fcfs", Restless), 300, shrink_seconds=0.2)
    assert found.counterexamples


def test_the_self_test_catches_what_it_plants_into_the_paged_scheduler() -> None:
    tested = self_test(PagedModel(), CLAIMS_ON_EDGES, runs=60)
    missed = [each.name for each in tested.tried if not each.caught]
    assert missed == []


CLAIMS_ON_EDGES = [claim for claim in CLAIMS if claim.over not in ("run", "rounds")]


def test_an_id_that_is_used_again_has_a_json_form() -> None:
    action = EngineEnqueue.of(1, [0], 2, reuses=0)
    assert from_json(to_json(action)) == action
    assert "reuses" not in to_json(A)["args"]


def test_inputs_are_drawn_with_ids_used_again_and_made_smaller() -> None:
    plans = [drawn(Random(seed), PagedModel(), 3, 6) for seed in range(60)]
    assert {plan.in_flight for plan in plans} == {1, 2}
    again = [plan for plan in plans if any(r.reuses is not None for _, r in plan.requests)]
    assert again
    for plan in again:
        for _, request in plan.requests:
            assert request.reuses is None or request.reuses < request.request_id
    assert all(each.size < again[0].size for each in smaller(again[0]))


def test_who_comes_first_cannot_have_the_id_of_who_comes_later() -> None:
    early, late = Request(1, (0,), 1, 0, 0), Request(0, (0,), 1)
    plan = in_order(Plan(Setup(2, 2, 1, 1), "fcfs", ((0, early), (3, late))))
    assert [request.reuses for _, request in plan.requests] == [None, None]


def test_a_policy_that_it_does_not_have_is_refused() -> None:
    loaded = paged_source().load(lambda _part: None)
    assert paged_source().name == OUR_PAGED
    with pytest.raises(PolicyRefused):
        loaded.subject(loaded.make, Config("aging", 3, 1, Limits()))
