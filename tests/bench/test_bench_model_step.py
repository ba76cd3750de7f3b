"""The comparison of the model with the plain scheduler does the same work on both sides.

Times depend on the machine and are not judged here; that both schedulers took the same
steps and reported the same events is what makes their ratio mean anything.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schedmodel import POLICIES


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize("active", [5, 60])
def test_both_schedulers_report_equal_events(
    bench: Any, policy: str, tight: bool, active: int
) -> None:
    load = bench.Load(active=active, tight=tight, steps=20, limit=1.0)
    found = bench.compare(policy, load, rounds=2)
    assert found.equal
    assert found.steps == 20 + 2 * 20
    assert found.ratio > 0


def test_events_that_differ_are_noticed(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Backwards(bench.PlainScheduler):  # type: ignore[misc]
        def _schedule_key(self, request: Any) -> tuple[int, ...]:
            return (-request.request_id,)

    monkeypatch.setattr(bench, "PlainScheduler", Backwards)
    load = bench.Load(active=3, tight=False, steps=2, limit=1.0)
    assert not bench.compare("fcfs", load, rounds=1).equal


def test_the_command_prints_each_ratio_beside_its_limit(
    bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    generous = bench.Load(active=2, tight=False, steps=5, limit=1_000.0)
    strict = bench.Load(active=2, tight=True, steps=5, limit=0.0)
    monkeypatch.setattr(bench, "LOADS", (generous, strict))
    assert bench.main(["--rounds", "2"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["active", "pool", "policy", "model/plain", "limit"]
    assert [line.split()[2] for line in lines] == [*POLICIES, *POLICIES]
    assert all(line.endswith("limit 1000.0: within") for line in lines[:4])
    assert all(line.endswith("limit 0.0: BEYOND") for line in lines[4:])


def test_the_command_runs_from_anywhere(tmp_path: Path, command: Path) -> None:
    asked = subprocess.run(
        [sys.executable, str(command), "--help"], cwd=tmp_path, capture_output=True, text=True
    )
    assert asked.returncode == 0
    assert "--rounds" in asked.stdout
