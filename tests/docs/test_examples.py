"""The examples are broken by one line each, and right without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.conftest import ROOT

import schedproof
from schedmodel import POLICIES
from schedproof.telling.messages import tell

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

LOST_PROGRESS = ROOT / "examples" / "lost_progress.py"
SCOPE = str(ROOT / "examples" / "with_and_without_deadline.json")
LEAK = f"{ROOT / 'examples' / 'leak_after_deadlines.py'}:LeakAfterDeadlines"


@pytest.mark.parametrize("policy", POLICIES)
def test_lost_progress_is_right_without_the_wrong_line(policy: str, tmp_path: Path) -> None:
    lines = LOST_PROGRESS.read_text(encoding="utf-8").splitlines(keepends=True)
    right = [line for line in lines if "the wrong line:" not in line]
    assert len(right) == len(lines) - 1
    mended = tmp_path / "mended.py"
    mended.write_text("".join(right), encoding="utf-8")
    target = f"{mended}:LostProgress"
    # A small scope: what is looked at here is the example and not the search.
    result = schedproof.check(target, policy=policy, requests=2, time="5m")
    assert result.verdict == "holds_within_bounds"


def test_lost_progress_imports_nothing_of_ours() -> None:
    text = LOST_PROGRESS.read_text(encoding="utf-8")
    assert "import sched" not in text
    assert "from sched" not in text


def test_a_reduced_search_misses_the_leak_and_does_not_say_that_anything_holds() -> None:
    reduced = schedproof.check(
        LEAK, policy="fixed_priority", scope=SCOPE, reduce="finished", time="5m"
    )
    assert reduced.verdict == "no_violation_reduced"
    word = tell("en")("verdict.holds_within_bounds").split()[0]
    assert word not in reduced.explain("en")
    assert "note.gate_passed" in [note for note, _ in reduced.runs[0].notes]
