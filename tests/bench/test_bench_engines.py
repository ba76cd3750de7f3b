"""The measurement of engines' schedulers searches what it says, and finds nothing."""

from __future__ import annotations

from typing import Any

import pytest


def test_all_that_is_measured_was_judged(bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--runs", "40", "--repeats", "1"]) == 0
    assert "VIOLATED" not in capsys.readouterr().out
    speed = bench.measure(bench.PagedModel("fcfs"), 40)
    assert speed.claims >= 25
    assert speed.steps > 300


def test_a_violation_ends_the_command_with_one(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Promising(bench.PagedModel):  # type: ignore[misc]
        def preemptions_max(self, setup: object) -> int:
            return 0

    monkeypatch.setattr(bench, "PagedModel", Promising)
    assert bench.main(["--runs", "60", "--repeats", "1"]) == 1
