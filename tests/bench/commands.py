"""Running the command as a reader types it, with the seconds that it takes.

Rules. All processes count, from the start of the interpreter on. The sources of this checkout
are run, installed or not.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [str(ROOT / "model"), str(ROOT / "invariants")]


class Ran(NamedTuple):
    """What a command printed, its seconds by the clock, and of the processor."""

    printed: str
    wall_seconds: float
    cpu_seconds: float


def run(*words: str) -> Ran:
    """Run the command with these words, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(SOURCES)}
    command = [sys.executable, "-m", "schedproof", *words]
    began, cpu = time.perf_counter(), _children_seconds()
    asked = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return Ran(asked.stdout, time.perf_counter() - began, _children_seconds() - cpu)


def _children_seconds() -> float:
    """The CPU seconds of all processes that this one started and that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
