"""Whatever a job does, its outcome comes in time and nothing stays behind."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from typing import Any

import pytest

from schedproof.search import isolation
from schedproof.search.isolation import (
    Channel,
    Crashed,
    Crowd,
    Ended,
    Enough,
    Finished,
    Job,
    JsonValue,
    Limits,
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


def test_a_job_finishes_with_a_value_and_its_output() -> None:
    def job(channel: Channel) -> JsonValue:
        sys.stdout.write("to the output\n")
        sys.stderr.write("to the error\n")
        os.write(1, b"without a line's end")
        assert sys.stdin.read() == ""
        return {
            "left": channel.seconds_left() > 0,
            "文": "中",
            "leads": os.getsid(0) == os.getpid(),
        }

    outcome = run_isolated(job, LIMITS)
    assert isinstance(outcome, Finished)
    assert outcome.value == {"left": True, "文": "中", "leads": True}
    assert outcome.output.lines == 3
    assert outcome.output.first == ("to the output", "to the error", "without a line's end")
    assert outcome.isolated
    assert 0 < outcome.seconds < 5


def test_a_large_value_arrives_whole() -> None:
    outcome = run_isolated(lambda _channel: "x" * 5_000_000, LIMITS)
    assert isinstance(outcome, Finished)
    assert outcome.value == "x" * 5_000_000


def test_progress_is_rare_however_often_it_is_told() -> None:
    def job(channel: Channel) -> JsonValue:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            channel.action += 1
            channel.progress({"states": 7})
        return None

    told: list[dict[str, Any]] = []
    outcome = run_isolated(job, LIMITS, told.append)
    assert isinstance(outcome, Finished)
    assert told[0] == outcome.last_progress == {"states": 7}
    assert 1 <= len(told) <= 4


@pytest.mark.parametrize("end", ["python", "system"])
def test_endless_printing_is_counted_and_dropped(end: str) -> None:
    def job(_channel: Channel) -> JsonValue:
        for number in range(20_000):
            if end == "python":
                for part in ("line ", str(number), "\n"):
                    sys.stdout.write(part)
            else:
                os.write(2, b"line %d\n" % number)
        return None

    outcome = run_isolated(job, LIMITS)
    assert isinstance(outcome, Finished)
    assert outcome.output.lines == 20_000
    assert outcome.output.first[:2] == ("line 0", "line 1")
    assert len(outcome.output.first) == 20


def test_what_the_parent_had_not_written_yet_is_not_written_twice(
    capfd: pytest.CaptureFixture[str],
) -> None:
    sys.stdout.write("once")
    assert run_isolated(lambda _channel: 1, LIMITS).output.lines == 0
    sys.stdout.flush()
    assert capfd.readouterr().out == "once"


def test_a_bug_of_ours_is_a_crash_with_its_traceback() -> None:
    bad: dict[str, Any] = {"value": {1, 2}}
    outcome = run_isolated(lambda _channel: bad, LIMITS)
    assert isinstance(outcome, Crashed)
    assert "TypeError" in outcome.text
    assert outcome.where is None


def test_an_exception_that_nobody_catches_is_a_crash_with_its_place() -> None:
    def job(_channel: Channel) -> JsonValue:
        raise KeyboardInterrupt

    outcome = run_isolated(job, LIMITS)
    assert isinstance(outcome, Crashed)
    assert outcome.where is not None
    assert outcome.where.function == "job"


def test_outcomes_come_in_the_order_of_the_jobs() -> None:
    def job_for(number: int) -> Job:
        def job(channel: Channel) -> JsonValue:
            time.sleep(0.15 if number == 0 else 0)
            channel.progress({"number": number})
            if number == 2:
                os._exit(5)
            return number

        return job

    told: list[tuple[int, dict[str, Any]]] = []
    outcomes = run_parallel(
        [job_for(number) for number in range(5)],
        LIMITS,
        workers=3,
        on_progress=lambda index, data: told.append((index, data)),
    )
    values = [outcome.value if isinstance(outcome, Finished) else None for outcome in outcomes]
    assert values == [0, 1, None, 3, 4]
    assert sorted(told, key=lambda pair: pair[0]) == [(n, {"number": n}) for n in range(5)]


def test_jobs_run_at_the_same_time() -> None:
    def job(_channel: Channel) -> JsonValue:
        time.sleep(1)
        return None

    start = time.monotonic()
    run_parallel([job] * 8, LIMITS, workers=8)
    assert time.monotonic() - start < 7  # one after the other takes eight


def waiting(_channel: Channel) -> JsonValue:
    time.sleep(60)
    return None


def test_jobs_that_nobody_needs_any_more_are_ended() -> None:
    def found(_channel: Channel) -> JsonValue:
        return "found"

    def known(channel: Channel) -> JsonValue:
        channel.known("as far as it is known")
        return waiting(channel)

    enough = Enough(lambda outcome: getattr(outcome, "value", None) == "found", 0.3)
    start = time.monotonic()
    outcomes = run_parallel([known, found, waiting, waiting], LIMITS, 2, enough=enough)
    assert time.monotonic() - start < 30
    assert [type(outcome) for outcome in outcomes] == [Ended, Finished, Ended, Ended]
    assert outcomes[0].known == "as far as it is known"


def test_a_moment_is_left_for_the_others_to_say_the_same() -> None:
    def job(_channel: Channel) -> JsonValue:
        time.sleep(0.2)
        return "found"

    enough = Enough(lambda outcome: True, 30)
    outcomes = run_parallel([job, job, job], LIMITS, 1, enough=enough)
    assert [type(outcome) for outcome in outcomes] == [Finished] * 3


def test_after_a_while_more_run_at_once() -> None:
    def found(_channel: Channel) -> JsonValue:
        return "found"

    enough = Enough(lambda outcome: getattr(outcome, "value", None) == "found", 0)
    start = time.monotonic()
    outcomes = run_parallel([waiting, found], LIMITS, 1, enough=enough, crowd=Crowd(2, 0.2))
    assert time.monotonic() - start < 30  # it does not wait for the first to end
    assert [type(outcome) for outcome in outcomes] == [Ended, Finished]


def test_no_jobs_have_no_outcomes() -> None:
    assert run_parallel([], LIMITS) == []


def test_a_process_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(os, "fork", refuse)
    outcome = run_isolated(lambda _channel: 1, LIMITS)
    assert isinstance(outcome, Crashed)
    assert "no more processes" in outcome.text


def test_an_exception_from_the_listener_leaves_nothing_behind() -> None:
    def listener(_data: dict[str, Any]) -> None:
        raise LookupError

    def job(channel: Channel) -> JsonValue:
        channel.progress({})
        while True:
            channel.action += 1

    with pytest.raises(LookupError):
        run_isolated(job, LONG, listener)


def test_other_threads_are_no_reason_to_warn() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = run_isolated(lambda _channel: 1, LIMITS)
    finally:
        stop.set()
        thread.join()
    assert isinstance(outcome, Finished)
    assert caught == []


def test_without_fork_the_job_runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "can_isolate", lambda: False)

    def job(channel: Channel) -> JsonValue:
        sys.stdout.write("here\n")
        channel.begin("work")
        channel.progress({"pid": os.getpid()})
        return os.getpid()

    told: list[dict[str, Any]] = []
    outcome = run_isolated(job, LIMITS, told.append)
    assert isinstance(outcome, Finished)
    assert (outcome.value, outcome.isolated, outcome.label) == (os.getpid(), False, "work")
    assert outcome.output.first == ("here",)
    assert told == [outcome.last_progress]
