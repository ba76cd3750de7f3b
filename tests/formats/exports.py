"""Generated tests, run as a test runner would, on broken schedulers and on mended ones."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

from schedproof.search.results import Counterexample
from schedproof.subjects.contract import Config
from schedproof.traces.trace import Provenance, Trace
from schedproof.zoo.chapter_faults import BY_NAME
from schedproof.zoo.faults import RENAMED, exported, plain_text

TARGET = "mine.py:DecodeSchedulerSim"


def broken_file(fault: str) -> str:
    """A scheduler with that fault, as a file of somebody's."""
    return exported(BY_NAME[fault])


def mended_file() -> str:
    """The same scheduler without a fault."""
    text = plain_text()
    for ours, theirs in RENAMED.items():
        text = re.sub(rf"\b{ours}\b", theirs, text)
    return text


def trace_to(found: Counterexample, target: str = TARGET, factory: str | None = None) -> Trace:
    """The trace of a counterexample that was found in that scheduler."""
    config = Config(found.policy, found.blocks, found.aging_interval)
    return Trace(
        target,
        None,
        config,
        found.actions,
        "violated",
        found.claim,
        found.also_broken,
        found.shortest,
        Provenance("0.1.0", found.found_by),
        factory=factory,
    )


def failure_of(test: Path) -> str | None:
    """What the only test of a file fails with; None if it passes."""
    sys.modules.pop("mine", None)  # it may have been mended since
    path = [*sys.path]
    try:
        names = runpy.run_path(str(test))
        (run,) = (value for name, value in names.items() if name.startswith("test_"))
        run()
    except BaseException as error:  # pytest's own failures are no exceptions
        if isinstance(error, (KeyboardInterrupt, ImportError, SyntaxError, NameError)):
            raise
        return f"{type(error).__name__}: {error}"
    finally:
        sys.path[:] = path
    return None
