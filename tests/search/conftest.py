"""A scheduler that does everything wrong, and a watch over what tests of children leave."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from schedproof.search.isolation import (
    Channel,
    Job,
    JsonValue,
)
from schedproof.subjects.loading import load_class, parse_target

JobFor: TypeAlias = Callable[[str], Job]

HOSTILE = """\
import collections, ctypes, itertools, os, signal, sys, time


class Scheduler:
    def endless(self):
        while True:
            pass

    def stubborn(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass

    def endless_in_c(self):
        collections.deque(itertools.repeat(0), maxlen=0)

    def asleep(self):
        time.sleep(1000)

    def greedy(self):
        kept = []
        while True:
            kept.append(bytearray(1 << 20))

    def exits(self):
        sys.exit("enough")

    def exits_at_once(self):
        os._exit(7)

    def kills_itself(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def faults(self):
        ctypes.string_at(0)

    def takes_the_timer(self):
        signal.setitimer(signal.ITIMER_REAL, 0)
        while True:
            pass

    def stops_itself(self):
        os.kill(os.getpid(), signal.SIGSTOP)

    def closes_everything(self):
        os.closerange(3, 100)
        while True:
            pass
"""


@pytest.fixture
def nothing_stays_behind() -> Iterator[None]:
    """No process, descriptor, handler or timer is left by any of the tests."""
    files = open_files()
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)]
    yield
    assert open_files() == files
    assert handlers == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)]
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def open_files() -> list[str]:
    return sorted(path.name for path in Path("/dev/fd").iterdir())


@pytest.fixture
def hostile(tmp_path: Path) -> JobFor:
    """A job that calls the named method of the hostile scheduler."""
    path = tmp_path / "hostile.py"
    path.write_text(HOSTILE, encoding="utf-8")

    def job_for(method: str) -> Job:
        def job(channel: Channel) -> JsonValue:
            scheduler = load_class(parse_target(f"{path}:Scheduler")).cls()
            channel.begin(f"call {method}")
            getattr(scheduler, method)()
            return None

        return job

    return job_for
