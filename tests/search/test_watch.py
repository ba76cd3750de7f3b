"""The watch within a process, tick by tick."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest

from schedproof.search import watch as watching
from schedproof.search.channel import ActionHung, Channel, Pulse
from schedproof.search.watch import Watch

if TYPE_CHECKING:
    from schedproof.subjects.places import Place


def ticks(watch: Watch, count: int) -> int:
    """So many ticks while a subject's code runs; how often it was told that it hangs."""
    hung = 0
    for _ in range(count):
        try:
            watch.tick(0, sys._getframe())
        except ActionHung:
            hung += 1
    return hung


def job(watch: Watch, count: int) -> int:
    return ticks(watch, count)


def test_who_leaves_leaves_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving may take longer than a tick, which must not begin it anew."""
    monkeypatch.setattr(watching, "GRACE_SECONDS", 0.0)
    told: list[Place | None] = []
    channel = Channel(time.monotonic() + 60, lambda _message: None)
    watch = Watch(channel, Pulse(), 0.0, job.__code__, told.append)
    assert job(watch, 6) == 1
    (place,) = told
    assert place is not None
    assert place.function == "ticks"
