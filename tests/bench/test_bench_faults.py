"""The measurement of faults checks what it says, and fails where nothing is found."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_line_for_each_fault(bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["no-token-accepted", "empty-step-raises"]) == 0
    told = capsys.readouterr().out
    assert "no-token-accepted                        INPUT-2            1" in told
    assert "empty-step-raises                        crash" in told
    assert "slowest:" in told


def test_a_fault_that_is_not_found_ends_it_with_one(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "checked", lambda _fault: bench.Check("", 0, 0.1, 0.1))
    assert bench.main(["no-token-accepted"]) == 1
