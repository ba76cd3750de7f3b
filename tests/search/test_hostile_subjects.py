"""What a scheduler can do to the process it runs in, and what is told of it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from schedproof.search import child_process
from schedproof.search.isolation import (
    ActionHung,
    Channel,
    Crashed,
    Died,
    Exited,
    Finished,
    Hung,
    Job,
    JsonValue,
    Limits,
    Outcome,
    OutOfMemory,
    can_isolate,
    run_isolated,
    run_parallel,
)
from schedproof.subjects.loading import Place, load_class, locate, parse_target

pytestmark = [
    pytest.mark.skipif(not can_isolate(), reason="needs fork"),
    pytest.mark.usefixtures("nothing_stays_behind"),
]

JobFor: TypeAlias = Callable[[str], Job]
LIMITS = Limits(seconds=10, memory_mib=256, action_seconds=10)
HASTY = Limits(seconds=10, memory_mib=256, action_seconds=0.3)
LONG = Limits(seconds=20, memory_mib=None, action_seconds=20)


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not yet waited for does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state not in "ZX"


def ends_soon(pid: int) -> bool:
    deadline = time.monotonic() + 3
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(pid)


def told_line(place: Place | None) -> str:
    """The text of the line that a place names."""
    assert place is not None
    return dict(place.lines)[place.line].strip()


def busy_for(seconds: float) -> Job:
    """A job of many short actions."""

    def job(channel: Channel) -> JsonValue:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            channel.action += 1
        return channel.action

    return job


HANGS = {
    "endless": "pass",
    "stubborn": "pass",
    "asleep": "time.sleep(1000)",
    "endless_in_c": "collections.deque(itertools.repeat(0), maxlen=0)",
    "takes_the_timer": "pass",
    "stops_itself": None,
}


def test_hung_actions_are_told_with_their_lines(hostile: JobFor) -> None:
    """A process that is stopped cannot say where it is."""
    outcomes = run_parallel([hostile(method) for method in HANGS], HASTY, workers=len(HANGS))
    for (method, line), outcome in zip(HANGS.items(), outcomes, strict=True):
        assert isinstance(outcome, Hung), outcome
        assert outcome.label == f"call {method}"
        assert outcome.seconds < 20  # those that sleep are waited for longer
        if line is None:
            assert outcome.where is None
        else:
            assert outcome.where is not None, method
            assert outcome.where.function == method
            assert line in [text.strip() for _, text in outcome.where.lines]


def test_a_child_that_can_no_longer_report_is_told(hostile: JobFor) -> None:
    outcome = run_isolated(hostile("closes_everything"), HASTY)
    assert isinstance(outcome, Crashed)
    assert "closed" in outcome.text


def test_a_job_can_catch_the_hung_action_itself(
    hostile: JobFor,
) -> None:
    endless = hostile("endless")

    def job(channel: Channel) -> JsonValue:
        try:
            return endless(channel)
        except ActionHung as error:
            place = locate(error)
            return [str(error), place.function if place else ""]

    outcome = run_isolated(job, HASTY)
    assert isinstance(outcome, Finished)
    assert outcome.value == ["call endless", "endless"]


def test_slow_work_of_our_own_is_not_hung(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A job of a test is a stranger's file: here it calls itself ours.
    def job(_channel: Channel) -> JsonValue:
        end = time.monotonic() + 0.8
        while time.monotonic() < end:
            pass
        return "done"

    monkeypatch.setitem(job.__globals__, "__name__", "schedproof.slow")
    assert isinstance(run_isolated(job, HASTY), Finished)


def test_many_short_actions_are_not_hung() -> None:
    assert isinstance(run_isolated(busy_for(0.8), HASTY), Finished)


def test_a_job_that_outlives_its_time_is_ended() -> None:
    def job(channel: Channel) -> JsonValue:
        while True:
            channel.action += 1

    outcome = run_isolated(job, Limits(seconds=0.2, action_seconds=0.2))
    assert isinstance(outcome, Hung)
    assert outcome.where is not None
    assert outcome.seconds < 4


def test_a_lack_of_memory_is_told_with_its_line(
    hostile: JobFor,
) -> None:
    if sys.platform != "linux":
        pytest.skip("memory is limited on Linux only")
    outcome = run_isolated(hostile("greedy"), LIMITS)
    assert isinstance(outcome, OutOfMemory)
    assert told_line(outcome.where) == "kept.append(bytearray(1 << 20))"


def test_a_kill_for_lack_of_memory_is_told_as_such(
    hostile: JobFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter([3, 4])
    monkeypatch.setattr(child_process, "_oom_kills", lambda: next(counts))
    assert isinstance(run_isolated(hostile("kills_itself"), LIMITS), OutOfMemory)


def test_ends_of_all_kinds_are_told(
    hostile: JobFor,
) -> None:
    exits = run_isolated(hostile("exits"), LIMITS)
    assert isinstance(exits, Exited)
    assert exits.code == "enough"
    assert told_line(exits.where) == 'sys.exit("enough")'

    at_once = run_isolated(hostile("exits_at_once"), LIMITS)
    assert isinstance(at_once, Exited)
    assert (at_once.code, at_once.where, at_once.label) == (7, None, "call exits_at_once")

    killed = run_isolated(hostile("kills_itself"), LIMITS)
    assert isinstance(killed, Died)
    assert (killed.signal, killed.where) == (signal.SIGKILL, None)

    fault = run_isolated(hostile("faults"), LIMITS)
    assert isinstance(fault, Died)
    assert fault.signal == signal.SIGSEGV
    assert told_line(fault.where) == "ctypes.string_at(0)"


@pytest.mark.parametrize("code", [None, 0, 3])
def test_exit_codes_are_kept(code: int | None) -> None:
    outcome = run_isolated(lambda _channel: sys.exit(code), LIMITS)
    assert isinstance(outcome, Exited)
    assert outcome.code == (code or 0)


@pytest.mark.parametrize("source", ["while True: pass", "import os\nos._exit(3)"])
def test_an_import_that_never_returns_is_told(tmp_path: Path, source: str) -> None:
    path = tmp_path / "s.py"
    path.write_text(source, encoding="utf-8")

    def job(channel: Channel) -> JsonValue:
        load_class(parse_target(f"{path}:Scheduler"), before=channel.begin)
        return None

    outcome = run_isolated(job, HASTY)
    assert isinstance(outcome, (Hung, Exited))
    assert outcome.label == "import"


def test_whatever_was_started_ends_with_the_child() -> None:
    def job(_channel: Channel) -> JsonValue:
        pid = os.fork()
        if pid == 0:
            while True:
                time.sleep(10)
        return pid

    outcome = run_isolated(job, LIMITS)
    assert isinstance(outcome, Finished)
    assert isinstance(outcome.value, int)
    assert ends_soon(outcome.value)


def test_a_copy_of_the_child_sends_nothing() -> None:
    def job(channel: Channel) -> JsonValue:
        copy = os.fork()
        if copy:
            os.waitpid(copy, 0)
            time.sleep(0.05)
        channel.progress({"copy": copy == 0})
        return "first"

    told: list[dict[str, Any]] = []
    outcome = run_isolated(job, LIMITS, told.append)
    assert isinstance(outcome, Finished)
    assert told == [{"copy": False}]


def test_garbage_in_place_of_messages_is_no_crash_of_the_parent() -> None:
    others = {int(path.name) for path in Path("/dev/fd").iterdir()}

    def job(_channel: Channel) -> JsonValue:
        for fd in set(range(3, 100)) - others:
            with contextlib.suppress(OSError):
                os.write(fd, b"\x05\x00\x00\x00nope!")
        return None

    outcome = run_isolated(job, LIMITS)
    assert isinstance(outcome, Crashed)
    assert "no message" in outcome.text


def test_a_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    """The parent here is itself a child; the job below it writes down its number."""

    def inner(_channel: Channel) -> JsonValue:
        (tmp_path / "pid").write_text(str(os.getpid()))
        while True:
            pass

    def outer(_channel: Channel) -> JsonValue:
        run_isolated(inner, LONG)
        return None

    run_isolated(outer, Limits(seconds=0.2, action_seconds=0.4))
    assert ends_soon(int((tmp_path / "pid").read_text()))


def from_another_thread(job: Job, limits: Limits) -> Outcome:
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(run_isolated(job, limits)))
    thread.start()
    thread.join()
    return outcomes[0]


@pytest.mark.parametrize("method", ["endless", "stubborn", "asleep", "endless_in_c"])
def test_a_run_from_another_thread_is_watched_as_well(hostile: JobFor, method: str) -> None:
    outcome = from_another_thread(hostile(method), HASTY)
    assert isinstance(outcome, Hung)
    assert outcome.where is not None
    assert outcome.where.function == method


def test_a_long_run_from_another_thread_is_left_alone() -> None:
    outcome = from_another_thread(busy_for(1.6), HASTY)
    assert isinstance(outcome, Finished)
