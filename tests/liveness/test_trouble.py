"""Broken, hidden and unwilling schedulers, caps, and searches that are stopped."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from tests.liveness.conftest import ALL, OPEN, scope_of, search, worst

from schedproof.claims.liveness import Rounds, is_served_again
from schedproof.search.exhaustive import liveness
from schedproof.search.exhaustive.liveness import least_cap
from schedproof.search.exhaustive.scopes import FOLDER, Kind, load_scope
from schedproof.search.pace import Unhurried
from schedproof.zoo.plain import PlainScheduler, Request

SMALL = Kind("small", 1, 1, 1)
LARGE = Kind("large", 1, 1, 2)


class DoesNotAge(PlainScheduler):
    """Waiting changes nothing, whatever the policy says."""

    def _effective_priority(self, request: Request) -> int:
        return request.priority


class Leaks(PlainScheduler):
    """Who finishes keeps its blocks."""

    def _finish(self, request: Request) -> None:
        super()._finish(request)
        self.free_kv_blocks -= request.required_blocks


class LastComeFirstServed(PlainScheduler):
    """The newest request goes first."""

    def _schedule_key(self, request: Request) -> tuple[int, ...]:
        return (-request.request_id,)


class Remembers(PlainScheduler):
    """Keeps a table of all that it ever served."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.served: dict[int, int] = {}


class TiresWithTime(PlainScheduler):
    """From the fortieth event on the newest request goes first."""

    def _schedule_key(self, request: Request) -> tuple[int, ...]:
        usual = super()._schedule_key(request)
        return usual if self.clock < 40 else (0, 0, 0, 0, 0, -request.request_id)


class Raises(PlainScheduler):
    """Fails with three requests in the queue."""

    def step(self) -> Any:
        if len(self.queue) == 3:
            raise KeyError("three")
        return super().step()


class OnlyFcfs(PlainScheduler):
    """Has one policy."""

    def __init__(self, policy: str, **settings: Any) -> None:
        if policy != "fcfs":
            raise ValueError("fcfs only")
        super().__init__(policy, **settings)


# -- broken schedulers ----------------------------------------------------------


def test_a_scheduler_that_does_not_age_starves_where_the_right_one_does_not() -> None:
    right = search("endless-urgent", "aging", 2, scheduler=PlainScheduler)
    assert right.verdict == "no_violation_reduced"
    result = search("endless-urgent", "aging", 2, scheduler=DoesNotAge)
    (example,) = result.counterexamples
    assert (example.claim, example.values["kind"], example.values["each"]) == (
        "LIVE-2",
        "patient",
        2,
    )
    assert (example.values["stem"], example.values["loop"]) == (1, 3)


def test_the_newest_first_starves_the_oldest() -> None:
    result = search(scope_of(SMALL, blocks=1), "fcfs", scheduler=LastComeFirstServed)
    (example,) = result.counterexamples
    assert example.claim == "LIVE-2"
    assert (example.guilty, example.shortest) == (((0, "wait_steps"),), False)


def test_a_broken_edge_is_told_before_any_loop() -> None:
    result = search("endless-urgent", "aging", 2, scheduler=DoesNotAge, claims=ALL)
    (example,) = result.counterexamples
    assert example.claim == "ORDER-1"
    assert example.before is not None
    result = search("endless-urgent", "aging", 2, scheduler=Leaks, claims=ALL)
    (example,) = result.counterexamples
    assert (example.claim, example.length) == ("LEDGER-1", 3)
    assert [claim.id for claim in result.claims if claim.verdict == "violated"] == ["LEDGER-1"]


def test_a_loop_of_steps_that_serve_nobody_is_told_as_that() -> None:
    result = search(scope_of(SMALL, blocks=1), "fcfs", scheduler=Leaks)
    (example,) = result.counterexamples
    assert (example.claim, example.text) == ("LIVE-2", "LIVE-2.idle")
    assert len(set(example.values["waits"])) == 1


# -- schedulers that cannot be explored ------------------------------------------


@pytest.mark.parametrize("scheduler", [Remembers, TiresWithTime])
def test_a_scheduler_that_hides_its_past_is_not_judged(scheduler: type[Any]) -> None:
    scope = scope_of(SMALL, Kind("tiny", 1, 2, 1), active=3, blocks=1)
    result = search(scope, "fixed_priority", scheduler=scheduler)
    assert result.verdict == "incomplete"
    assert [message for message, _ in result.notes] == ["note.hidden_state"]


def test_a_scheduler_that_raises_is_told_with_its_actions() -> None:
    result = search(scope_of(SMALL, active=3), "fcfs", scheduler=Raises)
    assert result.verdict == "error"
    assert result.trouble is not None
    assert result.trouble.kind == "raised"
    assert [action["op"] for action in result.trouble.actions] == ["enqueue"] * 3 + ["step"]
    assert result.transitions > 0


def test_a_policy_that_is_refused_is_not_applicable() -> None:
    assert search("endless-hits", "aging", scheduler=OnlyFcfs).verdict == "not_applicable"
    assert search("endless-hits", "fcfs", scheduler=OnlyFcfs).verdict == "no_violation_reduced"


def test_a_scope_in_which_nothing_fits_is_vacuous() -> None:
    result = search(scope_of(LARGE, blocks=1), "fcfs")
    assert result.verdict == "vacuous"


def test_requests_larger_than_the_pool_may_wait() -> None:
    due = replace(LARGE, deadline_in=2)
    for policy in ("aging", "deadline", "reserved_aging"):
        result = search(scope_of(SMALL, due, active=3, blocks=1), policy)
        assert worst(result)["kind"] == "small"


# -- caps and other ends ---------------------------------------------------------


def test_the_cap_lies_above_what_priorities_and_deadlines_can_outweigh() -> None:
    assert least_cap(scope_of(SMALL)) == liveness.CAP_LEAST
    urgent = replace(SMALL, priority=7)
    assert least_cap(scope_of(SMALL, urgent, interval=3)) == 27
    assert least_cap(scope_of(SMALL, replace(SMALL, deadline_in=30))) == 60


def test_a_cap_that_is_reached_without_a_lasso_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = search("endless-equal", "aging", 2)
    assert wide.verdict == "no_violation_reduced"
    monkeypatch.setattr(liveness, "CAP_LEAST", 1)
    monkeypatch.setattr(liveness, "least_cap", lambda _scope: 1)
    raised = search("endless-equal", "aging", 2)
    assert (raised.verdict, raised.distinct_states) == (wide.verdict, wide.distinct_states)
    assert worst(raised) == worst(wide)


def test_what_is_not_known_at_the_last_cap_is_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "least_cap", lambda _scope: 2)
    monkeypatch.setattr(liveness, "CAP_MOST", 4)
    result = search("endless-urgent", "aging", 2)
    assert (result.verdict, result.stopped_by) == ("incomplete", "cap")
    assert result.notes == (("note.at_cap", {"policy": "aging", "cap": 4}),)
    assert {claim.verdict for claim in result.claims} == {"no_violation_found"}


def test_a_loop_that_only_the_cap_makes_is_no_lasso(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a cap of one priority the stream seems to win for ever; the rehearsal says no."""
    monkeypatch.setattr(liveness, "least_cap", lambda _scope: 2)
    assert search("endless-urgent", "aging", 2).verdict == "no_violation_reduced"


@pytest.mark.parametrize(
    ("pace", "reason"),
    [
        (Unhurried(interrupted=True), "interrupt"),
        (Unhurried(deadline=time.monotonic() - 1), "time"),
    ],
)
def test_a_search_that_is_stopped_is_incomplete(pace: Unhurried, reason: str) -> None:
    result = search("endless-hits", "fcfs", pace=pace)
    assert (result.verdict, result.stopped_by) == ("incomplete", reason)
    assert result.interrupted == (reason == "interrupt")
    assert result.counterexamples == ()


def test_a_wait_that_grows_at_the_cap_of_lateness_is_found() -> None:
    """Under deadline, requests without one wait for ever behind a stream with one."""
    due = Kind("due", 1, 1, 1, deadline_in=3)
    result = search(scope_of(SMALL, due, blocks=1), "deadline")
    assert result.counterexamples[0].values["kind"] == "small"


# -- the claim itself --------------------------------------------------------------


def test_the_claim_judges_rounds() -> None:
    seen = Rounds(1, "small", needs=1, capacity=2, stem=2, loop=3, before=1, waits=(3, 5))
    breach: Any = is_served_again(seen)
    assert (breach.text, breach.values["each"], breach.values["last"]) == ("LIVE-2", 2, 5)
    assert is_served_again(replace(seen, advanced=True)) is True
    assert is_served_again(replace(seen, waits=())) is None
    assert is_served_again(replace(seen, needs=3)) is None


@pytest.mark.parametrize("name", OPEN)
def test_the_shipped_scopes_fit_the_schema_and_the_pool(name: str) -> None:
    scope = load_scope(name)
    assert load_scope(str(FOLDER / f"{name}.json")) == scope  # a file by its path is validated
    assert all(kind.required_blocks <= scope.blocks for kind in scope.kinds)
    assert scope.resized(5, None).active == 5
    assert scope.to_bounds()["active"] == scope.active


def test_the_shipped_scopes_differ_in_what_they_say() -> None:
    for name in ("endless-hits", "endless-urgent", "endless-equal"):
        scope = load_scope(name)
        assert len({(k.required_blocks, k.preemptible) for k in scope.kinds}) == 1
