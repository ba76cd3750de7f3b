"""A limit for single calls into an engine, so that an endless one can be told and made smaller.

Rules.
1. The limit is in seconds of the processor, so a busy machine does not count. It needs a signal,
   which only the main thread of a process gets; elsewhere it does nothing, and the watch on the
   whole job ends what does not come back.
2. Calls take microseconds, so none of them sets a timer of its own: one timer ticks on, and a
   call that is the same at two ticks is stopped. It took at least as long as the limit then, and
   at most twice as long. A tick between calls that finds nothing new ends the timer, and so
   does the end of the process: a signal that nobody takes any more would kill it.
"""

from __future__ import annotations

import atexit
import signal
import threading
from types import FrameType
from typing import ClassVar

from schedproof.subjects.places import StopSubject

CALL_SECONDS = 0.2


class CallHung(StopSubject):
    """Raised into the engine's code when one call takes longer."""


class Guard:
    """Arms and disarms the limit; at no cost where there is none."""

    ticking: ClassVar[Guard | None] = None
    """Whose timer it is: a process has one."""

    def __init__(self) -> None:
        known = hasattr(signal, "ITIMER_VIRTUAL")
        self._works = known and threading.current_thread() is threading.main_thread()
        self._call, self._inside, self._at_tick = 0, False, 0

    def arm(self) -> None:
        """Before a call."""
        self._call += 1
        self._inside = True
        if Guard.ticking is not self and self._works:
            Guard.ticking = self
            signal.signal(signal.SIGVTALRM, self._tick)
            signal.setitimer(signal.ITIMER_VIRTUAL, CALL_SECONDS, CALL_SECONDS)

    def disarm(self) -> None:
        """After it."""
        self._inside = False

    def _tick(self, _signal: int, _frame: FrameType | None) -> None:
        same, self._at_tick = self._call == self._at_tick, self._call
        if same and self._inside:
            raise CallHung
        if same:
            _rest()


@atexit.register
def _rest() -> None:
    """Have nobody watched."""
    if Guard.ticking is not None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        Guard.ticking = None
