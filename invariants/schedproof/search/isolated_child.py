"""The child's side of an isolated run: from the fork to `os._exit`.

The child leaves its parent's terminal and signals behind: its own session (so that whatever it
starts can be ended with it), standard input from nowhere, standard output and error into a pipe
that the parent reads and mostly drops, no core dumps, memory limited to what it has now and a
given amount more. It runs one job, sends one last message and leaves by `os._exit`, so that
nothing the parent registered for its own end runs twice. Exceptions never leave `run_child`: the
stack above it belongs to the parent's copy.
"""

from __future__ import annotations

import faulthandler
import io
import json
import os
import signal
import struct
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from schedproof.search.channel import ActionHung, Channel, Pulse
from schedproof.search.watch import Watch, watch_by_thread, watch_by_timer
from schedproof.subjects.places import Place, locate

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedproof.search.outcomes import JsonValue

LENGTH: Final = struct.Struct("=I")
DUMP_SIGNAL: Final = getattr(signal, "SIGUSR1", None)
MIB: Final = 2**20

CANNOT_TELL: Final = 86  # the exit status of a child whose message did not go out

_RESERVE_MIB = 64  # kept back for telling that the memory is used up
_TEXT_MAX = 65_536
_CPU_SPARE_SECONDS = 10


@dataclass(frozen=True)
class Limits:
    """How long and how much: all seconds are of the clock on the wall.

    `seconds` is for the whole job, which is told the deadline and expected to keep it;
    `action_seconds` for one call into the subject; `memory_mib` (None: no limit) is what may be
    used above what is in use at the start.
    """

    seconds: float
    memory_mib: int | None = 2048
    action_seconds: float = 5.0


@dataclass(frozen=True)
class ChildEnds:
    """The file descriptors a child writes to, and those of its parent that it has to close.

    `in_main_thread` says where the parent forked.
    """

    report: int
    output: int
    dump: int
    to_close: tuple[int, ...]
    in_main_thread: bool


def run_child(
    job: Callable[[Channel], JsonValue], limits: Limits, ends: ChildEnds, pulse: Pulse
) -> NoReturn:
    """Run `job` in this process, which was forked for it, and end the process."""
    status = CANNOT_TELL
    try:
        reporter = _Reporter(ends.report)
        try:
            message = _run_job(job, limits, ends, pulse, reporter)
        except BaseException as error:
            message = _crashed(error, None)
        reporter.send_last(message)
        status = 0
    finally:
        os._exit(status)


def verdict(job: Callable[[Channel], JsonValue], channel: Channel) -> dict[str, Any]:
    """Run the job and put into a message what became of it; only what was not foreseen raises."""
    try:
        value = call_job(job, channel)
    except ActionHung as error:
        return _ended("hung", locate(error))
    except MemoryError as error:
        _use_reserve()
        return _ended("memory", locate(error))
    except SystemExit as error:
        return {**_ended("exited", locate(error)), "code": _exit_code(error)}
    except BaseException as error:
        if channel.interrupted and _began_as_interrupt(error):
            return {"kind": "interrupted"}
        return _crashed(error, locate(error))
    return {"kind": "finished", "value": value, "interrupted": channel.interrupted}


def _began_as_interrupt(error: BaseException) -> bool:
    """Whether code was cleaning up after our KeyboardInterrupt when it raised this."""
    part: BaseException | None = error
    while part is not None and not isinstance(part, KeyboardInterrupt):
        part = part.__cause__ or part.__context__
    return part is not None


def call_job(job: Callable[[Channel], JsonValue], channel: Channel) -> JsonValue:
    """Call the job. In a stack, frames above this one are not the job's."""
    return job(channel)


class _Reporter:
    """Sends messages, each a length and a JSON text. A copy of the process sends nothing."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._pid = os.getpid()

    def send(self, message: dict[str, Any]) -> None:
        """Send one message; the process ends if that is impossible."""
        self._write(json.dumps(message).encode())

    def send_last(self, message: dict[str, Any]) -> None:
        """Send a message, or else why it cannot be sent."""
        try:
            data = json.dumps(message).encode()
        except (TypeError, ValueError, RecursionError) as error:
            data = json.dumps(_crashed(error, None)).encode()
        self._write(data)

    def _write(self, data: bytes) -> None:
        if os.getpid() != self._pid:
            return
        left = memoryview(LENGTH.pack(len(data)) + data)
        try:
            while left:
                left = left[os.write(self._fd, left) :]
        except OSError:  # nobody reads any more, or the subject has closed the pipe
            os._exit(CANNOT_TELL)


def _run_job(
    job: Callable[[Channel], JsonValue],
    limits: Limits,
    ends: ChildEnds,
    pulse: Pulse,
    reporter: _Reporter,
) -> dict[str, Any]:
    """Set up the process, run the job under watch, and stop watching."""
    _leave_parent(ends, pulse)
    _limit_process(limits)

    def give_up(place: Place | None) -> None:
        reporter.send({"kind": "hung", "where": place.to_json() if place else None})
        os._exit(0)

    channel = Channel(time.monotonic() + limits.seconds, reporter.send, pulse)
    watch = Watch(channel, pulse, limits.action_seconds, call_job.__code__, give_up)
    (watch_by_timer if ends.in_main_thread else watch_by_thread)(watch)
    try:
        return verdict(job, channel)
    except KeyboardInterrupt:  # passed on while an earlier end was being put into words
        return {"kind": "interrupted"}
    finally:
        watch.armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)


def _leave_parent(ends: ChildEnds, pulse: Pulse) -> None:
    os.setsid()
    # The parent's event loop may listen to a socket that signals write to.
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for fd in ends.to_close:
        os.close(fd)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.dup2(ends.output, 1)
    os.dup2(ends.output, 2)
    os.close(nowhere)
    os.close(ends.output)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    sys.stdout = _CappedText(1, pulse)
    sys.stderr = _CappedText(2, pulse)
    faulthandler.enable(file=ends.dump)
    if DUMP_SIGNAL is not None:
        faulthandler.register(DUMP_SIGNAL, file=ends.dump, all_threads=False)


class _CappedText(io.TextIOWrapper):
    """Standard output of the subject: written at once until _TEXT_MAX, then only counted."""

    _lines_dropped = 0  # by both streams together

    def __init__(self, fd: int, pulse: Pulse) -> None:
        raw = io.FileIO(fd, "wb", closefd=False)
        super().__init__(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
        self._left = _TEXT_MAX
        self._pulse = pulse

    def write(self, text: str, /) -> int:
        """Pass the text on while there is room for it."""
        if self._left > 0:
            self._left -= len(text)
            return super().write(text)
        _CappedText._lines_dropped += text.count("\n")
        self._pulse.count_dropped(_CappedText._lines_dropped)
        return len(text)


def _limit_process(limits: Limits) -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Should the parent die, and the watch with it, this still ends an endless loop.
    longest = limits.seconds + limits.action_seconds + _CPU_SPARE_SECONDS
    _lower(resource.RLIMIT_CPU, int(longest * (os.cpu_count() or 1)), 0)
    if sys.platform == "linux" and limits.memory_mib is not None:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + limits.memory_mib * MIB
        _lower(resource.RLIMIT_AS, most, _RESERVE_MIB * MIB)


def _lower(kind: int, soft: int, spare: int) -> None:
    """Set a limit, with `spare` above it for `_use_reserve`, unless a lower one is in force."""
    if sys.platform == "win32":
        return
    import resource

    _, most = resource.getrlimit(kind)
    hard = soft + spare if most == resource.RLIM_INFINITY else min(soft + spare, most)
    resource.setrlimit(kind, (min(soft, hard), hard))


def _use_reserve() -> None:
    """Allow the memory that was kept back."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _ended(kind: str, place: Place | None) -> dict[str, Any]:
    return {"kind": kind, "where": place.to_json() if place else None}


def _crashed(error: BaseException, place: Place | None) -> dict[str, Any]:
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    return {**_ended("crashed", place), "text": "".join(lines)}


def _exit_code(error: SystemExit) -> int | str:
    if error.code is None:
        return 0
    return error.code if isinstance(error.code, int) else str(error.code)
