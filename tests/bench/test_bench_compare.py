"""The timing of recorded arrivals runs every policy, and tells steps that can be checked."""

from __future__ import annotations

import pytest
from tests.bench import bench_compare
from tests.compare.conftest import AZURE

from schedmodel import KNOWN_POLICIES
from schedproof.compare.loader import load
from schedproof.compare.workload import Setup


def test_every_step_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_compare, "PLAIN_STEPS", 20)
    trace = load(str(AZURE), rows=8)
    cost = bench_compare.measure(trace, "aging", Setup(step=0.001))
    assert cost.steps == sum(trace.outputs) + len(trace)
    assert cost.ratio > 0


def test_a_line_for_each_policy_and_size(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_compare, "PLAIN_STEPS", 20)
    monkeypatch.setattr(bench_compare, "WANTED", -1.0)
    assert bench_compare.main([str(AZURE), "--rows", "4"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[::2]] == list(KNOWN_POLICIES)
    assert all("BEYOND" in line for line in lines)
    assert heading.startswith("policy")
