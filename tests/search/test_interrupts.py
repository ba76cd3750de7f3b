"""Ctrl-C gives what is known so far, soon."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from schedproof.search import child_process, isolation
from schedproof.search.isolation import (
    Channel,
    Finished,
    Interrupted,
    Job,
    JsonValue,
    Limits,
    Outcome,
    can_isolate,
    run_isolated,
    run_parallel,
)

pytestmark = [
    pytest.mark.skipif(not can_isolate(), reason="needs fork"),
    pytest.mark.usefixtures("nothing_stays_behind"),
]

LIMITS = Limits(seconds=10, memory_mib=256, action_seconds=10)
LONG = Limits(seconds=20, memory_mib=None, action_seconds=20)


def interrupt_after(seconds: float, times: int = 1) -> threading.Thread:
    def send() -> None:
        for _ in range(times):
            time.sleep(seconds)
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def run_and_interrupt(job: Job) -> Outcome:
    """Run a job and press Ctrl-C when it tells for the first time how far it is."""
    return run_isolated(job, LONG, lambda _data: os.kill(os.getpid(), signal.SIGINT))


def looks_at_the_flag(channel: Channel) -> JsonValue:
    channel.progress({"states": 2})
    while not channel.interrupted:
        channel.action += 1
    return "what I know"


def looks_at_nothing(channel: Channel) -> JsonValue:
    channel.progress({"states": 3})
    while True:
        channel.action += 1


def catches_everything(channel: Channel) -> JsonValue:
    channel.progress({"states": 4})
    while True:
        try:
            while True:
                channel.action += 1
        except BaseException:
            channel.action += 1


def fails_to_clean_up(channel: Channel) -> JsonValue:
    channel.progress({"states": 5})
    try:
        while True:
            channel.action += 1
    finally:
        raise AssertionError("what Hypothesis does when it is interrupted between two of its steps")


@pytest.mark.parametrize(
    ("job", "partial"),
    [
        (looks_at_nothing, {"states": 3}),
        (catches_everything, {"states": 4}),
        (fails_to_clean_up, {"states": 5}),
    ],
)
def test_an_interrupt_gives_how_far_it_was(job: Job, partial: JsonValue) -> None:
    outcome = run_and_interrupt(job)
    assert isinstance(outcome, Interrupted)
    assert (outcome.partial, outcome.returned) == (partial, False)
    assert outcome.seconds < 10


def test_an_interrupt_gives_what_the_job_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "INTERRUPT_SECONDS", 15.0)  # on a machine however busy
    outcome = run_and_interrupt(looks_at_the_flag)
    assert isinstance(outcome, Interrupted)
    assert (outcome.partial, outcome.returned) == ("what I know", True)


def test_an_interrupt_can_be_caught_by_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    def job(channel: Channel) -> JsonValue:
        try:
            return looks_at_nothing(channel)
        except KeyboardInterrupt:
            return "caught"

    monkeypatch.setattr(child_process, "INTERRUPT_SECONDS", 15.0)
    outcome = run_and_interrupt(job)
    assert isinstance(outcome, Interrupted)
    assert (outcome.partial, outcome.returned) == ("caught", True)


def test_a_second_interrupt_waits_for_nobody() -> None:
    thread = interrupt_after(0.2, times=2)
    outcome = run_isolated(catches_everything, LONG)
    thread.join()
    assert isinstance(outcome, Interrupted)
    assert outcome.seconds < 1.2


def test_an_interrupt_ends_jobs_that_run_and_jobs_that_wait() -> None:
    thread = interrupt_after(0.3)
    outcomes = run_parallel([lambda _channel: 1, *[looks_at_the_flag] * 3], LONG, workers=2)
    thread.join()
    assert [type(outcome) for outcome in outcomes] == [Finished, *[Interrupted] * 3]
    assert isinstance(outcomes[3], Interrupted)
    assert not outcomes[3].returned


def test_a_job_of_another_thread_is_interrupted_as_well() -> None:
    def job(channel: Channel) -> JsonValue:
        os.kill(os.getpid(), signal.SIGINT)
        return looks_at_the_flag(channel)

    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(run_isolated(job, LONG)))
    thread.start()
    thread.join()
    outcome = outcomes[0]
    assert isinstance(outcome, Interrupted)
    assert outcome.partial == "what I know"


def test_without_fork_an_interrupt_is_seen_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "can_isolate", lambda: False)
    thread = interrupt_after(0.1)
    outcome = run_isolated(looks_at_the_flag, LIMITS)
    thread.join()
    assert isinstance(outcome, Interrupted)
    thread = interrupt_after(0.1, times=2)
    outcome = run_isolated(looks_at_nothing, LIMITS)
    thread.join()
    assert isinstance(outcome, Interrupted)
    assert outcome.partial == {"states": 3}
