"""For all tests: Ctrl-C works, even where a shell started the tests in the background."""

from __future__ import annotations

import signal
from collections.abc import Generator

import pytest


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> Generator[None]:
    """Undo what a shell does to its background jobs: they and their children ignore SIGINT."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
