"""The limit for single calls: what does not come back is stopped, what does is left alone."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Generator

import pytest

from schedproof.engines import guard
from schedproof.engines.guard import CallHung, Guard

SHORT = 0.02


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """A limit that is over soon; no timer is left behind."""
    monkeypatch.setattr(guard, "CALL_SECONDS", SHORT)
    before = signal.getsignal(signal.SIGVTALRM)
    monkeypatch.setattr(Guard, "ticking", None)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def busy(limits: float) -> None:
    """Use up so many limits of the processor's time, nearly all of it outside of the system."""
    end = time.process_time() + limits * SHORT
    while time.process_time() < end:
        sum(range(5_000))


def test_a_call_that_does_not_come_back_is_stopped() -> None:
    watched = Guard()
    watched.arm()
    with pytest.raises(CallHung):
        busy(100)


def test_many_short_calls_are_not_taken_for_a_long_one() -> None:
    watched = Guard()
    for _ in range(40):
        watched.arm()
        busy(0.2)
        watched.disarm()


def test_what_happens_between_calls_may_take_long() -> None:
    watched = Guard()
    watched.arm()
    watched.disarm()
    busy(8)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)  # nobody asks it to tick


def test_a_call_after_a_pause_is_watched_again() -> None:
    watched = Guard()
    watched.arm()
    watched.disarm()
    busy(8)
    watched.arm()
    with pytest.raises(CallHung):
        busy(100)


def test_a_newer_guard_takes_the_timer_over() -> None:
    old, new = Guard(), Guard()
    old.arm()
    new.arm()
    old.disarm()
    with pytest.raises(CallHung):
        busy(100)


ENDS_SLOWLY = """
from schedproof.engines import guard

class Late:
    def __del__(self):
        sum(range(10**7))

guard.CALL_SECONDS = 0.01
guard.Guard().arm()
late = Late()
"""


def test_a_process_may_end_while_a_call_is_watched() -> None:
    assert subprocess.run([sys.executable, "-c", ENDS_SLOWLY], check=False).returncode == 0
