"""A limit for single calls into an engine, so that an endless one can be told and made smaller.

Rules. The limit is in seconds of the processor, so a busy machine does not count. It needs a
signal, which only the main thread of a process gets; elsewhere it does nothing, and the watch on
the whole job ends what does not come back.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

from schedproof.subjects.places import StopSubject

CALL_SECONDS = 0.2


class CallHung(StopSubject):
    """Raised into the engine's code when one call takes longer."""


class Guard:
    """Arms and disarms the limit; at no cost where there is none."""

    def __init__(self) -> None:
        known = hasattr(signal, "ITIMER_VIRTUAL")
        self._works = known and threading.current_thread() is threading.main_thread()
        if self._works:
            signal.signal(signal.SIGVTALRM, _stop)

    def arm(self) -> None:
        """Before a call."""
        if self._works:
            signal.setitimer(signal.ITIMER_VIRTUAL, CALL_SECONDS, CALL_SECONDS)

    def disarm(self) -> None:
        """After it."""
        if self._works:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise CallHung
