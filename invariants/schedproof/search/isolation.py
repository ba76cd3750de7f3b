"""Running a stranger's code so that, whatever it does, an answer comes in time.

Each job runs in a forked child (`isolated_child.py`), watched from within (`channel.py`) and from
here. From here: one loop over the pipes of all children, no threads. A child whose beat stops for
`action_seconds` and a grace, or that outlives its whole time by as much, is asked where it is
(Python can dump its stack even inside a C function) and killed with all it started. Ctrl-C is
passed on; the children have a moment to return what they know, a second Ctrl-C grants none. After
`run_parallel` there is no process, no open file and no changed signal handler left, whichever way
it ends. The one thing that can escape is a process that the subject puts into a session of its
own.

Where the system cannot fork, a job runs in this very process, without limits, and says so.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import selectors
import signal
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from schedproof.search.channel import ActionHung, Channel
from schedproof.search.child_process import Child
from schedproof.search.isolated_child import Limits, verdict
from schedproof.search.outcomes import (
    Crashed,
    Died,
    Ended,
    Exited,
    Finished,
    FirstLines,
    Hung,
    Interrupted,
    JsonValue,
    Outcome,
    OutOfMemory,
    Output,
    outcome_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from types import FrameType

__all__ = [
    "ActionHung",
    "Channel",
    "Crashed",
    "Crowd",
    "Died",
    "Ended",
    "Enough",
    "Exited",
    "Finished",
    "Hung",
    "Interrupted",
    "Job",
    "JsonValue",
    "Limits",
    "OutOfMemory",
    "Outcome",
    "Output",
    "can_isolate",
    "run_isolated",
    "run_parallel",
]

Job: TypeAlias = "Callable[[Channel], JsonValue]"
Tell: TypeAlias = "Callable[[int, dict[str, Any]], None]"

_LOOK_SECONDS: Final = 0.05
_LOOK_SOON_SECONDS: Final = 0.002


class Enough(NamedTuple):
    """When the other jobs are not needed any more, and how many seconds they are given still."""

    shown_by: Callable[[Outcome], bool]
    seconds: float


class Crowd(NamedTuple):
    """How many children may run at a time once that many seconds have gone by.

    Jobs that wait for a processor wait for the end of others; those that share one do not.
    """

    workers: int
    after_seconds: float


def can_isolate() -> bool:
    """Whether this system can run a job in a child process of its own."""
    return hasattr(os, "fork")


def run_isolated(
    job: Job, limits: Limits, on_progress: Callable[[dict[str, Any]], None] | None = None
) -> Outcome:
    """Run one job and wait for its outcome; never raises for anything the job does.

    `on_progress` gets each progress object as it arrives; an exception from it ends the child
    and passes on.
    """

    def tell(data: dict[str, Any]) -> None:
        if on_progress is not None:
            on_progress(data)

    return run_parallel([job], limits, 1, lambda _index, data: tell(data))[0]


def run_parallel(
    jobs: Sequence[Job],
    limits: Limits,
    workers: int | None = None,
    on_progress: Tell | None = None,
    enough: Enough | None = None,
    crowd: Crowd | None = None,
) -> list[Outcome]:
    """Run jobs in up to `workers` children at a time; the outcomes come in the order of the jobs.

    `workers` is the number of processors by default, and after a while as many as `crowd` says;
    `limits` hold for each job, from its own start. `on_progress` also gets the index of the job.
    Once an outcome is `enough`, the other jobs have that many seconds more, and are `Ended`
    then; where the system cannot fork, they are all run.
    """
    tell = on_progress or _tell_nobody
    if not can_isolate():
        return [_run_here(job, limits, tell, index) for index, job in enumerate(jobs)]
    pool = _Pool(jobs, limits, workers or os.cpu_count() or 1, tell, enough, crowd)
    with contextlib.closing(pool), _on_interrupt(pool.interrupt):
        return pool.run()


def _tell_nobody(_index: int, _data: dict[str, Any]) -> None:
    """Stands for an `on_progress` that was not given."""


class _Pool:
    """The children that run, the jobs that wait, the outcomes so far."""

    def __init__(
        self,
        jobs: Sequence[Job],
        limits: Limits,
        workers: int,
        tell: Tell,
        enough: Enough | None = None,
        crowd: Crowd | None = None,
    ) -> None:
        self._limits = limits
        self._enough = enough
        self._ends_at = math.inf
        self._workers = workers
        self._crowd = crowd or Crowd(workers, math.inf)
        self._began = time.monotonic()
        self._tell = tell
        self._waiting = deque(enumerate(jobs))
        self._running: dict[int, Child] = {}
        self._outcomes: dict[int, Outcome] = {}
        self._interrupts = 0
        self._selector = selectors.DefaultSelector()

    def run(self) -> list[Outcome]:
        """Run until every job has an outcome."""
        while self._waiting or self._running:
            self._pass_interrupt_on()
            if time.monotonic() > self._ends_at:
                self._drop_waiting(Ended())
            self._start_waiting()
            reporting = self._listen()
            now = time.monotonic()
            for index, child in list(self._running.items()):
                if child.has_gone():
                    self._finish(index, child)
                elif now > self._ends_at:
                    child.end()
                elif child not in reporting:
                    child.enforce(now)
        return [outcome for _, outcome in sorted(self._outcomes.items())]

    def interrupt(self) -> None:
        """Remember one Ctrl-C; called by the signal's handler."""
        self._interrupts += 1

    def close(self) -> None:
        """Leave no child behind, whatever stopped the loop."""
        for child in self._running.values():
            child.close()
        self._running.clear()
        self._selector.close()

    def _pass_interrupt_on(self) -> None:
        if not self._interrupts:
            return
        self._drop_waiting(Interrupted(None))
        for child in self._running.values():
            child.interrupt(at_once=self._interrupts > 1)

    def _drop_waiting(self, outcome: Outcome) -> None:
        """Let this be the outcome of the jobs that have not begun."""
        for index, _ in self._waiting:
            self._outcomes[index] = outcome
        self._waiting.clear()

    def _start_waiting(self) -> None:
        crowded = time.monotonic() > self._began + self._crowd.after_seconds
        workers = max(self._workers, self._crowd.workers) if crowded else self._workers
        while self._waiting and len(self._running) < workers:
            index, job = self._waiting.popleft()
            try:
                self._running[index] = self._start(index, job)
            except OSError as error:
                self._outcomes[index] = Crashed(f"no child process could be started: {error}")

    def _start(self, index: int, job: Job) -> Child:
        others = [fd for child in self._running.values() for fd in child.fds]
        child = Child(job, self._limits, lambda data: self._tell(index, data), others)
        for fd in child.fds:
            self._selector.register(fd, selectors.EVENT_READ, child)
        return child

    def _listen(self) -> set[Child]:
        """Read what the children sent, waiting a moment; the ones that sent messages."""
        reporting: set[Child] = set()
        for key, _ in self._selector.select(self._pause()):
            child: Child = key.data
            if child.is_reporting(key.fd):
                reporting.add(child)
            # A closed end leaves the selector first: its number may be taken again at once.
            child.read(key.fd, on_end=self._selector.unregister)
        return reporting

    def _pause(self) -> float:
        """How long to wait at most: a short time while a child is about to go."""
        leaving = any(child.is_leaving() for child in self._running.values())
        return _LOOK_SOON_SECONDS if leaving else _LOOK_SECONDS

    def _finish(self, index: int, child: Child) -> None:
        for fd in child.fds:
            self._selector.unregister(fd)
        del self._running[index]
        outcome = self._outcomes[index] = child.finish()
        if self._enough is not None and self._enough.shown_by(outcome):
            self._ends_at = min(self._ends_at, time.monotonic() + self._enough.seconds)


@contextlib.contextmanager
def _on_interrupt(call: Callable[[], None]) -> Generator[None]:
    """Have SIGINT only call `call`. Elsewhere than in the main thread nothing can be changed."""
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return

    def handler(_signal: int, _frame: FrameType | None) -> None:
        call()

    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous or signal.SIG_DFL)


def _run_here(job: Job, limits: Limits, tell: Tell, index: int) -> Outcome:
    """Run the job in this process. Ctrl-C sets the flag only; a second one interrupts."""
    printed = _Printed()
    start = time.monotonic()
    last_progress: dict[str, Any] | None = None
    known: JsonValue = None

    def send(message: dict[str, Any]) -> None:
        nonlocal last_progress, known
        if message["kind"] == "known":
            known = message["value"]
            return
        last_progress = message["data"]
        tell(index, message["data"])

    channel = Channel(start + limits.seconds, send)

    def interrupt() -> None:
        if channel.interrupted:
            raise KeyboardInterrupt
        channel.interrupted = True

    streams = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed)
    with streams[0], streams[1], _on_interrupt(interrupt):
        message = verdict(job, channel)
    about: dict[str, Any] = {
        "output": printed.lines.output(),
        "label": channel.label,
        "seconds": time.monotonic() - start,
        "last_progress": last_progress,
        "known": known,
        "isolated": False,
    }
    return outcome_of(message, about)


class _Printed(io.TextIOBase):
    """A standard output that keeps the first lines."""

    def __init__(self) -> None:
        self.lines = FirstLines()

    def write(self, text: str, /) -> int:
        """Take the text."""
        self.lines.feed(text.encode(errors="backslashreplace"))
        return len(text)
