"""`schedproof.test_case` in somebody's own test file, under pytest and under unittest."""

from __future__ import annotations

import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import pytest
from tests.exhaustive.conftest import LEAKS, PLAIN, planted

import schedproof
from schedproof.search.profiles import PROFILES, Profile
from schedproof.settings import UsageError
from schedproof.subjects.contract import PolicyRefused

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

TEST_FILE = """\
import schedproof
from schedproof.search.profiles import PROFILES, Profile
from mine import PlainScheduler

PROFILES["ci"] = Profile("ci", examples=40, actions=20, seed=0)
TestModel = schedproof.test_case(policy="aging")
TestMine = schedproof.test_case(PlainScheduler, policy="aging")
TestFactory = schedproof.test_case(
    factory=lambda policy, blocks, aging_interval: PlainScheduler(policy, blocks, aging_interval),
    name="FromFactory",
)
"""
NO_POLICY = ("        if policy not in POLICIES:\n", "        if policy:\n")
RUNNERS = {
    "pytest": ["pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
    "unittest": ["unittest", "test_mine"],
}
ROOT = Path(__file__).resolve().parents[2]


def run_tests(folder: Path, runner: str, scheduler: str) -> subprocess.CompletedProcess[str]:
    (folder / "mine.py").write_text(scheduler, encoding="utf-8")
    (folder / "test_mine.py").write_text(TEST_FILE, encoding="utf-8")
    path = ":".join([str(ROOT / "model"), str(ROOT / "invariants"), str(folder)])
    return subprocess.run(
        [sys.executable, "-m", *RUNNERS[runner]],
        cwd=folder,
        env={"PYTHONPATH": path, "SCHEDPROOF_LANG": "en", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_right_scheduler_passes(runner: str, tmp_path: Path) -> None:
    ended = run_tests(tmp_path, runner, PLAIN)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said
    assert ("3 passed" if runner == "pytest" else "Ran 3 tests") in said


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_broken_scheduler_fails_with_the_story(runner: str, tmp_path: Path) -> None:
    old, new = LEAKS
    ended = run_tests(tmp_path, runner, PLAIN.replace(old, new))
    said = ended.stdout + ended.stderr
    assert ended.returncode == 1, said
    assert "LEDGER-1" in said
    assert "FromFactory" in said or "TestFactory" in said
    assert "Falsifying example" not in said
    assert ("2 failed, 1 passed" if runner == "pytest" else "failures=2") in said


def failure_of(case: Any) -> str:
    (test,) = (name for name in dir(case) if name.startswith("test_"))
    with pytest.raises(AssertionError) as caught:
        getattr(case(test), test)()
    return str(caught.value)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROFILES, "ci", Profile("ci", examples=40, actions=20, seed=0))


@pytest.mark.usefixtures("short")
def test_a_scheduler_of_batches_is_tested_as_one() -> None:
    case = schedproof.test_case("model:batch", policy="fcfs", claims=["LEDGER-4", "ABORT"])
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert (result.testsRun, result.errors, result.failures) == (1, [], [])


@pytest.mark.usefixtures("short")
def test_the_story_is_the_same_every_time() -> None:
    case = schedproof.test_case(planted(LEAKS))
    assert "LEDGER-1" in failure_of(case)
    assert failure_of(case) == failure_of(case)


@pytest.mark.usefixtures("short")
def test_only_the_claims_that_were_asked_for_are_judged() -> None:
    case = schedproof.test_case(planted(LEAKS), claims=["PROGRESS"], name="Progress")
    assert case.__name__ == "Progress"
    (test,) = (name for name in dir(case) if name.startswith("test_"))
    getattr(case(test), test)()


def test_wrong_options_are_refused_at_once() -> None:
    with pytest.raises(UsageError):
        schedproof.test_case(policy="fastest")
    with pytest.raises(UsageError):
        schedproof.test_case(claims=["NOTHING"])
    with pytest.raises(PolicyRefused):
        schedproof.test_case(planted(NO_POLICY), policy="aging")


def test_a_target_may_be_a_text_and_gives_the_case_its_name() -> None:
    example = f"{Path(__file__).parents[2]}/examples/lost_progress.py"
    assert schedproof.test_case(f"{example}:LostProgress").__name__ == "LostProgress_fixed_priority"
    assert schedproof.test_case(example, policy="aging").__name__ == "lost_progress_aging"
    assert schedproof.test_case().__name__ == "DecodeSchedulerSim_fixed_priority"
