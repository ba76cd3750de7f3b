"""The watch that is kept on a job from within its process.

Ten times a second a timer looks whether the job's counter of actions moved. If it did not for
`action_seconds` while the subject's code was running, `ActionHung` is raised into that code, and
again at each tick. A process that got little of the processor meanwhile, because the machine is
busy or the code sleeps, gets three times as long. A subject that catches even the exception is
reported by the watch itself, which then ends the process. Work of our own, with no line of the
subject's on the stack, may take as long as it likes. Each tick also beats for the parent, which
looks after code that never returns to Python. An interrupt only sets a flag; a job that does not
look at it gets a KeyboardInterrupt after INTERRUPT_NOTICE_SECONDS.

The timer is a signal. In a child that was forked from another thread than the main one, Python
3.13 does not notice signals while it computes; there a thread does the same.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

from schedproof.search.channel import ActionHung, Channel, Pulse
from schedproof.subjects.places import Place, locate_frame

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

TICK_SECONDS: Final = 0.1
GRACE_SECONDS: Final = 1.0
PATIENCE: Final = 3
INTERRUPT_NOTICE_SECONDS: Final = 0.3


class Watch:
    """The timer's eye on a job: beats, finds hung actions, passes interrupts on.

    `below` is the code of our function that runs the job: frames above it are not the job's.
    """

    def __init__(
        self,
        channel: Channel,
        pulse: Pulse,
        action_seconds: float,
        below: CodeType,
        give_up: Callable[[Place | None], None],
    ) -> None:
        self._channel = channel
        self._pulse = pulse
        self._action_seconds = action_seconds
        self._below = below
        self._give_up = give_up
        self._parent = os.getppid()
        self._seen_action = -1
        self._moved_at = self._worked_at = self._stopping_since = 0.0
        self._interrupted_at = 0.0
        self._interrupts = 0
        self.armed = True

    def interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        """The handler of SIGINT: only a flag, so that nothing of the job is torn."""
        self._channel.interrupted = True
        self._interrupted_at = self._interrupted_at or time.monotonic()

    def tick(self, _signal: int, frame: FrameType | None) -> None:
        """The handler of the timer."""
        if os.getppid() != self._parent:
            os._exit(1)  # the parent was killed: nobody waits for an answer
        self._pulse.beat()
        if not self.armed or self._channel.busy:
            return
        now = time.monotonic()
        self._pass_interrupt_on(now)
        if self._channel.action != self._seen_action:
            self._seen_action = self._channel.action
            self._begin_to_wait(now)
        elif self._has_waited_enough(now):
            self._stop_action(now, frame)

    def _begin_to_wait(self, now: float) -> None:
        self._moved_at, self._worked_at = now, time.process_time()
        self._stopping_since = 0.0

    def _has_waited_enough(self, now: float) -> bool:
        waited, worked = now - self._moved_at, time.process_time() - self._worked_at
        enough = self._action_seconds
        return waited > PATIENCE * enough or (waited > enough and worked > enough / 2)

    def _pass_interrupt_on(self, now: float) -> None:
        """Raise KeyboardInterrupt when nobody looked at the flag, and once more half a second on.

        Not more often: the job is writing down what it knows by then.
        """
        due = self._interrupted_at + INTERRUPT_NOTICE_SECONDS + 0.5 * self._interrupts
        if self._channel.interrupted and self._interrupts < 2 and now >= due:
            self._interrupts += 1
            raise KeyboardInterrupt

    def _stop_action(self, now: float, frame: FrameType | None) -> None:
        place = locate_frame(frame, self._below)
        if place is None:
            self._begin_to_wait(now)
        elif self._stopping_since and now - self._stopping_since > GRACE_SECONDS / 2:
            self.armed = False  # a tick while we leave would begin to leave anew
            self._give_up(place)
        else:
            self._stopping_since = self._stopping_since or now
            raise ActionHung(self._channel.label)


def watch_by_timer(watch: Watch) -> None:
    """Let signals drive the watch of this thread, the main one."""
    signal.signal(signal.SIGINT, watch.interrupt)
    signal.signal(signal.SIGALRM, watch.tick)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    signal.setitimer(signal.ITIMER_REAL, TICK_SECONDS, TICK_SECONDS)


def watch_by_thread(watch: Watch) -> None:
    """Let a thread drive the watch of this one."""
    signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGINT})
    watched = threading.get_ident()
    threading.Thread(target=_tick_for_ever, args=(watch, watched), daemon=True).start()


def _tick_for_ever(watch: Watch, watched: int) -> None:
    import ctypes  # rarely needed, and slow to load

    while watch.armed:
        time.sleep(TICK_SECONDS)
        if signal.SIGINT in signal.sigpending():
            watch.interrupt(signal.SIGINT, None)
        try:
            watch.tick(signal.SIGALRM, sys._current_frames().get(watched))
        except (ActionHung, KeyboardInterrupt) as error:
            with contextlib.suppress(AttributeError):  # another Python may not offer it
                raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
                raise_in(ctypes.c_ulong(watched), ctypes.py_object(type(error)))
