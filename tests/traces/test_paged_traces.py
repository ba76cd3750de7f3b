"""A kept trace over pages, with steps in flight: taken again, explained, compared, exported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from schedproof.cli.main import run

FAULT = "fault:known-before-it-is-computed"
Say = Callable[..., tuple[int, str]]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """Types a command in a folder in which one trace of the fault is kept."""
    monkeypatch.chdir(tmp_path)
    run(["check", FAULT, "--policy", "fcfs", "--time", "5m"])
    capsys.readouterr()

    def typed(*words: str) -> tuple[int, str]:
        code = run(list(words))
        return code, capsys.readouterr().out

    return typed


def test_a_trace_over_pages_can_be_used_in_every_way(say: Say) -> None:
    code, text = say("replay")
    assert code == 1
    assert "still broken" in text

    code, text = say("explain")
    assert code == 0
    assert "gets tokens 2 to 3" in text
    assert "By the rules" not in text

    code, text = say("diff", "KV-1")
    assert code == 1
    assert "model:paged on the same 8 actions" in text
    assert "They part at action 7: which tokens the step computes." in text
    assert f"{FAULT}   r2 2–3\n" in text
    assert "r2 0–2\n" in text

    code, text = say("export", "--mermaid")
    assert code == 0
    assert text.count("participant R") == 3
    assert "8. deliver" in text

    code, text = say("export", "--pytest")
    assert code == 0
    assert "deliver" in text

    code, text = say("export", "--standalone")
    assert code == 2


def test_the_same_is_told_in_chinese(say: Say) -> None:
    assert "得到第 2 到 3 个 token 的计算" in say("explain", "--lang", "zh")[1]
    assert "这一步计算哪些 token" in say("diff", "KV-1", "--lang", "zh")[1]
