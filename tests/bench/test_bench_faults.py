"""The measurement of faults checks what it says, and fails where nothing is found."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

COMMAND = Path(__file__).with_name("bench_faults.py")


@pytest.fixture(scope="module")
def bench() -> Any:
    """The command as a module, without what it adds to the path."""
    before = list(sys.path)
    spec = importlib.util.spec_from_file_location("bench_faults", COMMAND)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module


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
