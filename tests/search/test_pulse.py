"""The page that parent and child share is never seen half written."""

from __future__ import annotations

import os
import signal
import time

from schedproof.search.channel import Pulse


def test_a_beat_is_never_read_while_it_is_half_written() -> None:
    pulse = Pulse()
    begun_at = pulse.beaten_at()
    child = os.fork()
    if child == 0:
        while True:
            pulse.beat()
    try:
        end = time.monotonic() + 1.5
        seen = [pulse.beaten_at()]
        while time.monotonic() < end:
            seen.append(pulse.beaten_at())
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pulse.close()
    assert min(seen) >= begun_at
    assert max(seen) > begun_at
