"""The parent's side of one isolated child: its pipes, its time, its end.

Three pipes come from a child: messages (a length and a JSON text each), what it prints, and
Python's own dump of its stack when it is asked for one or dies of a fault. A child is ended in two
steps: it is asked for its stack, and killed with its whole process group a moment later. It is
judged when it is gone, by its last message, or else by how it went.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schedproof.search.channel import Pulse
from schedproof.search.isolated_child import (
    CANNOT_TELL,
    DUMP_SIGNAL,
    LENGTH,
    ChildEnds,
    Limits,
    call_job,
    run_child,
)
from schedproof.search.outcomes import (
    Crashed,
    Died,
    Ended,
    Exited,
    FirstLines,
    Hung,
    Interrupted,
    JsonValue,
    Outcome,
    OutOfMemory,
    outcome_of,
)
from schedproof.search.watch import GRACE_SECONDS
from schedproof.subjects.places import Place, Spot, place_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from schedproof.search.channel import Channel

INTERRUPT_SECONDS: Final = 1.5
LINGER_SECONDS: Final = 5.0  # after the last message, for whoever saves measurements on exit
DUMP_SECONDS: Final = 0.2

_READ_BYTES = 1 << 18
_MESSAGE_BYTES_MAX = 1 << 28
_DRAIN_READS_MAX = 64
_DUMP_HEAD = re.compile(r"^(?:Current thread .*|Stack) \(most recent call first\):$", re.MULTILINE)
_DUMPED = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)


class Child:
    """One forked child and all that is open because of it.

    `fds` are the ends to listen to; `to_close` names descriptors of the parent that the child
    must not keep. Raises OSError when no process can be started.
    """

    def __init__(
        self,
        job: Callable[[Channel], JsonValue],
        limits: Limits,
        tell: Callable[[dict[str, Any]], None],
        to_close: Iterable[int] = (),
    ) -> None:
        self.limits = limits
        self._tell = tell
        self._started_at = time.monotonic()
        self._oom_kills = _oom_kills()
        self._pulse = Pulse()
        self._printed = FirstLines()
        self._dump = b""
        self._messages = _Messages()
        self._last_message: dict[str, Any] | None = None
        self._last_progress: dict[str, Any] | None = None
        self._known: JsonValue = None
        self._last_message_at = self._interrupted_at = self._asked_at = 0.0
        self._ended_because = ""
        self._status: int | None = None
        self._is_group_ended = False
        self._fork(job, to_close)

    def _fork(self, job: Callable[[Channel], JsonValue], to_close: Iterable[int]) -> None:
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self._pulse.close)
            ends = [_pipe(on_failure) for _ in range(3)]
            self._report, self._output, self._dumped = (end[0] for end in ends)
            report, output, dump = (end[1] for end in ends)
            self.fds = {self._report, self._output, self._dumped}
            parents = (*to_close, *self.fds)
            in_main_thread = threading.current_thread() is threading.main_thread()
            self.pid = _quiet_fork()
            if self.pid == 0:
                ends_of_child = ChildEnds(report, output, dump, parents, in_main_thread)
                run_child(job, self.limits, ends_of_child, self._pulse)
            on_failure.pop_all()
        for fd in (report, output, dump):
            os.close(fd)
        for fd in self.fds:
            os.set_blocking(fd, False)

    def read(self, fd: int, on_end: Callable[[int], object] | None = None) -> bool:
        """Take what there is at one end; False when there was nothing.

        An end that the child has closed is told to `on_end`, leaves `fds` and is closed here.
        """
        try:
            data = os.read(fd, _READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            if on_end is not None:
                on_end(fd)
            self.fds.discard(fd)
            os.close(fd)
            return False
        if fd == self._report:
            self._hear(data)
        elif fd == self._output:
            self._printed.feed(data)
        else:
            self._dump = (self._dump + data)[:_READ_BYTES]
        return True

    def is_reporting(self, fd: int) -> bool:
        """Whether this is the end that messages come from."""
        return fd == self._report

    def is_leaving(self) -> bool:
        """Whether it has said its last word, so that it will be gone in a moment."""
        return self._last_message is not None or self._report not in self.fds

    def has_gone(self) -> bool:
        """Whether the process has ended. Does not wait."""
        if self._status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # somebody else in this process has waited for it
                pid, status = self.pid, -1
            self._status = status if pid else None
        return self._status is not None

    def interrupt(self, at_once: bool = False) -> None:
        """Pass Ctrl-C on, once; or end the child for it `at_once`."""
        if not self._interrupted_at:
            self._interrupted_at = time.monotonic()
            self._signal(signal.SIGINT)
        if at_once:
            self._ended_because = "interrupted"
            self.kill()

    def end(self) -> None:
        """End the child because nobody needs it any more."""
        self._ended_because = "ended"
        self.kill()

    def enforce(self, now: float) -> None:
        """End the child if one of its limits is passed."""
        if self._asked_at:
            if now > self._asked_at + DUMP_SECONDS:
                self.kill()
            return
        self._ended_because = self._limit_passed(now)
        if self._ended_because == "hung" and DUMP_SIGNAL is not None:
            self._asked_at = now
            self._signal(DUMP_SIGNAL)
        elif self._ended_because:
            self.kill()

    def kill(self) -> None:
        """End the process and all it started, now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        # It may not have come to have a group of its own yet.
        self._signal(signal.SIGKILL)

    def finish(self) -> Outcome:
        """Clean up after a child that has gone, and say what became of it."""
        self._end_group()
        for fd in list(self.fds):
            # An end may stay open for ever in a process that escaped from the group.
            for _ in range(_DRAIN_READS_MAX):
                if not self.read(fd):
                    break
        try:
            return self._outcome()
        finally:
            self.close()

    def close(self) -> None:
        """Leave nothing behind; ends the child if it still runs."""
        while not self.has_gone():
            self.kill()
            time.sleep(0.001)
        self._end_group()
        for fd in self.fds:
            os.close(fd)
        self.fds.clear()
        self._pulse.close()

    def _hear(self, data: bytes) -> None:
        for message in self._messages.feed(data):
            if message.get("kind") == "progress":
                self._last_progress = message["data"]
                self._tell(message["data"])
            elif message.get("kind") == "known":
                self._known = message["value"]
            elif self._last_message is None:
                self._last_message, self._last_message_at = message, time.monotonic()
        if self._messages.garbled:
            self.kill()

    def _limit_passed(self, now: float) -> str:
        spare = self.limits.action_seconds + GRACE_SECONDS
        if self._last_message is not None:
            return "lingering" if now > self._last_message_at + LINGER_SECONDS else ""
        if self._interrupted_at and now > self._interrupted_at + INTERRUPT_SECONDS:
            return "interrupted"
        too_long = now > self._started_at + self.limits.seconds + spare
        return "hung" if too_long or now > self._pulse.beaten_at() + spare else ""

    def _signal(self, number: int) -> None:
        if self._status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _end_group(self) -> None:
        """End what a child that has gone had started; done once, before its number is reused."""
        if self._is_group_ended:
            return
        self._is_group_ended = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def _outcome(self) -> Outcome:
        about: dict[str, Any] = {
            "output": self._printed.output(self._pulse.dropped()),
            "label": self._pulse.label(),
            "seconds": time.monotonic() - self._started_at,
            "last_progress": self._last_progress,
            "known": self._known,
        }
        if self._messages.garbled:
            return Crashed("the child sent what is no message", **about)
        if self._last_message is not None:
            return outcome_of(self._last_message, about)
        if self._ended_because == "interrupted":
            return Interrupted(self._last_progress, **about)
        if self._ended_because == "ended":
            return Ended(**about)
        if self._ended_because == "hung":
            return Hung(self._dumped_place(), **about)
        return self._how_it_went(about)

    def _how_it_went(self, about: dict[str, Any]) -> Outcome:
        """The outcome of a child that went without a word and without our doing."""
        status = self._status or 0
        if status == -1:
            return Exited(None, None, **about)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == CANNOT_TELL:
            return Crashed("the child's way to report was closed", **about)
        if os.WIFEXITED(status):
            return Exited(os.WEXITSTATUS(status), None, **about)
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL and _oom_kills() > self._oom_kills:
            return OutOfMemory(None, **about)
        return Died(number, self._dumped_place(), **about)

    def _dumped_place(self) -> Place | None:
        """Where the child was, by the dump that Python wrote; None if it wrote none."""
        text = self._dump.decode("ascii", errors="replace")
        head = _DUMP_HEAD.search(text)
        return place_in(reversed(list(_dumped_spots(text[head.end() :])))) if head else None


class _Messages:
    """Cuts a stream of bytes into messages; `garbled` once it makes no sense."""

    def __init__(self) -> None:
        self.garbled = False
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """The messages that are complete with `data`."""
        self._data += data
        while not self.garbled and len(self._data) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._data)
            end = LENGTH.size + length
            self.garbled = length > _MESSAGE_BYTES_MAX
            if len(self._data) < end:
                return
            text = bytes(self._data[LENGTH.size : end])
            del self._data[:end]
            try:
                yield json.loads(text)
            except ValueError:
                self.garbled = True


def _pipe(on_failure: contextlib.ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    for fd in ends:
        on_failure.callback(os.close, fd)
    return ends


def _quiet_fork() -> int:
    """Fork with nothing unwritten in the standard streams, which both copies would write."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    with warnings.catch_warnings():
        # Where other threads run (a notebook's kernel), Python 3.12 warns that the child may
        # wait for a lock that one of them held. The child starts no threads, takes no locks of
        # the parent's, and is killed in time if the subject does.
        warnings.filterwarnings(
            "ignore", message=r".*multi-threaded, use of fork\(\)", category=DeprecationWarning
        )
        return os.fork()


def _dumped_spots(text: str) -> Iterator[Spot]:
    """The levels of a dumped stack, innermost first, down to the call of the job."""
    section = text.partition("\n\n")[0]
    for file, line, function in _DUMPED.findall(section):
        if function == call_job.__code__.co_name and file == call_job.__code__.co_filename:
            return
        yield Spot(_unescaped(file), int(line), _unescaped(function))


def _unescaped(name: str) -> str:
    """A dumped name with its characters beyond ASCII, which the dump writes as escapes."""
    return re.sub(
        r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))",
        lambda found: chr(int(found[1] or found[2] or found[3], 16)),
        name,
    )


def _oom_kills() -> int:
    """How many processes the system has killed for lack of memory so far; 0 if it does not say."""
    try:
        text = Path("/proc/vmstat").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"^oom_kill (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else 0
