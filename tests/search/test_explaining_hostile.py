"""A scheduler that hangs, ends or dawdles while a violation is explained: the violation stays."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from schedproof.api import check
from schedproof.claims.catalogue import BY_ID, CLAIMS
from schedproof.search.again import Again, OutOfBudget
from schedproof.search.finding_out import explained
from schedproof.search.isolation import Channel, Exited, Limits, run_isolated
from schedproof.search.play_forward import play_forward
from schedproof.search.replay import counterexample
from schedproof.subjects.actions import STEP, Action, Enqueue
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config
from schedproof.traces.replay import replay
from schedproof.traces.store import Store
from schedproof.zoo.plain import PlainScheduler, Request

CONFIG = Config("fixed_priority", 3, 2)
LONG = 4
"""No request of the default scope asks for more tokens; explaining tries some that do."""


class Forgets(PlainScheduler):
    """Preemption sets the tokens back."""

    def _preempt(self, victim: Request) -> None:
        super()._preempt(victim)
        victim.generated_len = 0


class EndsTheProcess(Forgets):
    """Ends the process once a request is longer than those of a search."""

    def step(self) -> Any:
        if any(request.max_new_tokens > LONG for request in self.queue):
            os._exit(0)
        return super().step()


def start(config: Config) -> ChapterSubject:
    return ChapterSubject(from_class(Forgets), config)


def test_what_a_job_knows_comes_through_when_it_ends_the_process() -> None:
    def job(channel: Channel) -> Any:
        channel.known({"found": 1})
        os._exit(7)

    outcome = run_isolated(job, Limits(seconds=10.0))
    assert isinstance(outcome, Exited)
    assert (outcome.code, outcome.known) == (7, {"found": 1})


def test_a_violation_is_told_though_its_explanation_ends_the_process(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = check(
        EndsTheProcess, policy="fixed_priority", claims="PROGRESS-2", scope="small", no_save=False
    )
    assert result.verdict == "violated"
    assert result.first is not None
    assert result.first.evidence is None
    (again,) = replay(Store().all(), on=f"{__file__}:EndsTheProcess")
    assert again.taken.status == "still_broken"


def test_no_part_of_an_explanation_is_waited_for_when_the_time_is_up() -> None:
    long_ago = time.monotonic() - 1
    actions: list[Action] = [Enqueue(0, 1, 2, required_blocks=2), STEP, STEP]
    actions += [Enqueue(1, 1, 1, priority=1, required_blocks=2), STEP]
    violation = Again(start, [BY_ID["PROGRESS-2"]]).violation(actions, CONFIG)
    assert violation is not None
    example = explained(counterexample(start, violation, "random"), start, CLAIMS, until=long_ago)
    assert example.evidence is not None
    assert (example.evidence.varied, example.evidence.forward) == ((), None)
    with pytest.raises(OutOfBudget):
        play_forward(start, CONFIG, actions, long_ago)
