"""Every claim over runs: runs that keep it, one for each way to break it, and others.

Rules. Runs that keep a claim are led through the plain scheduler, the others through one
that is wrong in one line. A claim that is not in the table below fails a test, and so does
a text for telling a breach that no run of the table brings about.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pytest
from tests.claims.conftest import run_of, texts_of_breaches, told

from schedproof.claims.catalogue import BY_ID, CLAIMS
from schedproof.claims.claim import Over
from schedproof.claims.run import Run
from schedproof.subjects.actions import STEP, Enqueue
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell
from schedproof.zoo.plain import PlainScheduler, Request

MADE_MOODY, WORDS = count(), count()
ONE, TWO = Enqueue(1, 4), Enqueue(2, 4)
STEPS = (STEP,) * 6


class Moody(PlainScheduler):
    """Only the first scheduler of this kind ever serves the lowest id first."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.mood = -1 if next(MADE_MOODY) else 1

    def _schedule_key(self, request: Request) -> tuple[int, ...]:
        return (self.mood * request.request_id,)


class Wordy(PlainScheduler):
    """Refuses with other words each time."""

    def enqueue(self, *args: Any, **named: Any) -> None:
        try:
            super().enqueue(*args, **named)
        except ValueError as error:
            raise ValueError(f"{error} (at {next(WORDS)})") from None


class FirstOfEquals(PlainScheduler):
    """Leaves the id out of the key, so that the order of the queue decides."""

    def _schedule_key(self, request: Request) -> tuple[int, ...]:
        return super()._schedule_key(request)[:-1]


class Hurried(PlainScheduler):
    """Looks at deadlines under every policy."""

    def _schedule_key(self, request: Request) -> tuple[int, ...]:
        return (request.deadline_step or 99, *super()._schedule_key(request))


class Merciful(PlainScheduler):
    """Looks at waits under every policy."""

    def _effective_priority(self, request: Request) -> int:
        return request.priority + request.wait_steps // self.aging_interval


class Capped(PlainScheduler):
    """Knows no priority above 5."""

    def _effective_priority(self, request: Request) -> int:
        return min(request.priority, 5)


class SmallFirst(PlainScheduler):
    """Puts everybody last who needs more than two blocks."""

    def _schedule_key(self, request: Request) -> tuple[int, ...]:
        return (int(request.required_blocks > 2), *super()._schedule_key(request))


class EvenFirst(PlainScheduler):
    """Prefers even ids."""

    def _schedule_key(self, request: Request) -> tuple[int, ...]:
        return (request.request_id % 2, *super()._schedule_key(request))


class LateRiser(PlainScheduler):
    """Takes the highest id first as long as its clock stands at zero."""

    def _schedule_key(self, request: Request) -> tuple[int, ...]:
        return (-request.request_id if not self.clock else 0, *super()._schedule_key(request))


class Tired(PlainScheduler):
    """Serves nobody after three steps."""

    def step(self) -> dict[str, Any] | None:
        return super().step() if self.clock < 3 else None


class Bottomless(PlainScheduler):
    """Has blocks for everybody."""

    def _choose(self, candidates: list[Request]) -> tuple[Request | None, Request | None]:
        return (candidates[0] if candidates else None), None


class Shy(PlainScheduler):
    """Serves nobody while there is a priority above 5."""

    def step(self) -> dict[str, Any] | None:
        return None if any(r.priority > 5 for r in self.queue) else super().step()


@dataclass(frozen=True)
class Cases:
    """Runs that keep a claim, that break it (with the text that tells it), and others."""

    keep: tuple[Run, ...]
    break_: tuple[tuple[str, Run], ...]
    leave: tuple[Run, ...]


URGENT = replace(TWO, priority=1)
TIMED = replace(TWO, deadline_step=4)
BIG = replace(ONE, required_blocks=9)
NOTHING_SERVED = run_of(PlainScheduler, ONE, TWO)
PLAIN = run_of(PlainScheduler, ONE, TWO, ONE, *STEPS)
PREEMPTING = run_of(
    PlainScheduler, ONE, STEP, URGENT, *STEPS, Enqueue(3, 2), Enqueue(4, 4), *STEPS, blocks=1
)
WIDE = [replace(one, required_blocks=2) for one in (URGENT, ONE)]
NO_ROOM_FOR_BOTH = run_of(PlainScheduler, *WIDE, *STEPS, blocks=3)
DUE_AT_ONCE = run_of(PlainScheduler, ONE, replace(TWO, deadline_step=2), *STEPS, policy="deadline")

CASES = {
    "LIVE-1": Cases(
        (run_of(PlainScheduler, ONE, TWO, drain=6), run_of(PlainScheduler, BIG, TWO, drain=3)),
        (("LIVE-1", run_of(Tired, ONE, TWO, drain=6)),),
        (PLAIN, run_of(PlainScheduler, drain=1), run_of(PlainScheduler, BIG, drain=1)),
    ),
    "REPLAY-1": Cases(
        (PLAIN, PREEMPTING, NOTHING_SERVED, run_of(Wordy, ONE, ONE, STEP)),
        (("REPLAY-1", run_of(Moody, ONE, TWO, STEP)),),
        (run_of(PlainScheduler),),
    ),
    "ORDER-2": Cases(
        (PLAIN, PREEMPTING),
        (("ORDER-2.swap", run_of(FirstOfEquals, ONE, TWO, STEP)),),
        (NOTHING_SERVED, run_of(PlainScheduler, ONE, STEP, TWO, STEP)),
    ),
    "ORDER-3": Cases(
        (
            PLAIN,
            PREEMPTING,
            run_of(PlainScheduler, ONE, TIMED, *STEPS),
            run_of(PlainScheduler, ONE, TIMED, *STEPS, policy="aging"),
            run_of(PlainScheduler, ONE, TIMED, *STEPS, policy="deadline"),
        ),
        (
            ("ORDER-3.deadlines", run_of(Hurried, ONE, TIMED, STEP)),
            ("ORDER-3.waits", run_of(Merciful, ONE, TWO, STEP)),
        ),
        (NOTHING_SERVED, run_of(PlainScheduler, ONE, TWO, *STEPS, policy="aging")),
    ),
    "ORDER-4": Cases(
        (PLAIN, PREEMPTING, NO_ROOM_FOR_BOTH),
        (
            ("ORDER-4.priorities", run_of(Capped, ONE, URGENT, STEP)),
            ("ORDER-4.blocks", run_of(SmallFirst, ONE, replace(URGENT, required_blocks=3), STEP)),
        ),
        (NOTHING_SERVED,),
    ),
    "ORDER-5": Cases(
        (
            PLAIN,
            PREEMPTING,
            DUE_AT_ONCE,
            run_of(PlainScheduler, ONE, TIMED, *STEPS, policy="deadline"),
            run_of(Bottomless, ONE, STEP, blocks=0),
        ),
        (
            ("ORDER-5.ids", run_of(EvenFirst, ONE, TWO, STEP)),
            ("ORDER-5.later", run_of(LateRiser, ONE, TWO, STEP)),
        ),
        (NOTHING_SERVED,),
    ),
}
OVER_RUNS = [claim.id for claim in CLAIMS if claim.over is Over.RUN]


@pytest.mark.parametrize("claim_id", OVER_RUNS)
def test_a_claim_holds_on_runs_that_keep_it(claim_id: str) -> None:
    assert CASES[claim_id].keep
    for run in CASES[claim_id].keep:
        assert told(BY_ID[claim_id], run) == (True, [])


@pytest.mark.parametrize("claim_id", OVER_RUNS)
def test_a_claim_is_broken_in_each_of_its_ways(claim_id: str) -> None:
    assert CASES[claim_id].break_
    for text, run in CASES[claim_id].break_:
        exercised, breaches = told(BY_ID[claim_id], run)
        assert exercised
        assert [breach.text for breach in breaches] == [text]
        for language in LANGUAGES:
            assert "{" not in tell(language)(f"breach.{text}", **breaches[0].values)


@pytest.mark.parametrize("claim_id", OVER_RUNS)
def test_a_claim_says_nothing_of_runs_that_are_not_its_business(claim_id: str) -> None:
    assert CASES[claim_id].leave
    for run in CASES[claim_id].leave:
        assert told(BY_ID[claim_id], run) == (False, [])


def test_every_text_that_tells_a_breach_is_brought_about() -> None:
    of_runs = {text for text in texts_of_breaches() if text.partition(".")[0] in OVER_RUNS}
    assert of_runs == {text for cases in CASES.values() for text, _ in cases.break_}


def test_a_breach_tells_the_first_step_where_the_runs_part() -> None:
    (_, run), _ = CASES["ORDER-5"].break_
    _, (breach,) = told(BY_ID["ORDER-5"], run)
    assert breach.values == {
        "step": 1,
        "base": "r2 prefill_to_decode",
        "other": "r1 prefill_to_decode",
    }


def test_a_breach_tells_victims_and_steps_that_serve_nobody() -> None:
    run = run_of(Merciful, ONE, STEP, STEP, URGENT, STEP, STEP, blocks=1)
    _, (breach,) = told(BY_ID["ORDER-3"], run)
    assert breach.values["base"] == "r2 prefill_to_decode ← r1"
    _, (breach,) = told(BY_ID["ORDER-4"], run_of(Shy, ONE, STEP))
    assert breach.values["other"] == "–"


def test_a_request_that_never_ends_is_told_with_the_bound() -> None:
    (_, run), *_ = CASES["LIVE-1"].break_
    _, (breach,) = told(BY_ID["LIVE-1"], run)
    assert breach.guilty == ((1, "generated_len"),)
    assert breach.values == {"request": 1, "generated": 1, "limit": 2, "steps": 6, "bound": 6}
