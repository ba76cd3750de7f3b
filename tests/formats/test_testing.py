"""`schedproof.testing`: what an exported test calls, by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.formats.exports import broken_file, mended_file

from schedproof.settings import UsageError
from schedproof.testing import abort, assert_holds, assert_runs, enqueue, step

OVERTAKING = [
    enqueue(1, max_new_tokens=3, priority=1, required_blocks=2),
    step(),
    step(),
    enqueue(2, max_new_tokens=1, priority=9, required_blocks=2),
    step(),
]
NOBODY = "class Nobody(DecodeSchedulerSim):\n    def step(self):\n        return None\n"
OWN = """
from schedproof import broken, claim

@claim("MINE-1", "Somebody is served", why="w", rule="r")
def somebody(edge):
    if not edge.stepped:
        return None
    return True if edge.served else broken("Nobody was served.")
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCHEDPROOF_LANG", "en")
    (tmp_path / "mine.py").write_text(broken_file("preempt-forgets-tokens"), encoding="utf-8")
    nobody = mended_file() + "\n\n" + NOBODY
    (tmp_path / "nobody.py").write_text(nobody, encoding="utf-8")
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    return tmp_path


def test_a_broken_claim_is_told_as_a_story() -> None:
    with pytest.raises(AssertionError, match="But r1 also lost") as caught:
        assert_holds("PROGRESS-2", "mine.py", actions=OVERTAKING)
    assert caught.value.__cause__ is None


def test_only_the_claim_that_is_named_is_judged() -> None:
    assert_holds("LEDGER-1", "mine.py", actions=OVERTAKING)
    assert_holds("PROGRESS-2", actions=OVERTAKING)


def test_claims_of_a_file_are_known_by_name() -> None:
    assert_holds("MINE-1", actions=OVERTAKING, claims_from="own.py")
    with pytest.raises(AssertionError, match="Nobody was served"):
        assert_holds("MINE-1", actions=[step()], claims_from="own.py")


@pytest.mark.parametrize("name", ["PROGRES-2", "MINE-1"])
def test_an_unknown_claim_is_a_mistake_in_the_test(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        assert_holds(name, actions=[])


def test_a_claim_that_cannot_be_judged_does_not_pass() -> None:
    with pytest.raises(AssertionError, match="ORDER-2 does not apply"):
        assert_holds("ORDER-2", actions=[], policy="fcfs")


LASSO = {"request": 1, "stem": 1, "loop": 2}
WAITING = [enqueue(1), *[action for i in (2, 3, 4) for action in (enqueue(i), step())]]


def test_an_endless_wait_is_a_loop_that_leaves_somebody_out() -> None:
    with pytest.raises(AssertionError, match="r1 needs 1 block and fits the pool alone"):
        assert_holds("LIVE-2", "nobody.py:Nobody", actions=WAITING, lasso=LASSO)
    assert_holds("LIVE-2", actions=WAITING, lasso=LASSO)


def test_a_scheduler_of_batches_can_be_held_to_its_claims() -> None:
    limits = {"block_size": 2, "max_num_seqs": 2, "max_num_batched_tokens": 4}
    actions = [enqueue(0, max_new_tokens=3), step(), enqueue(1), abort(0), step()]
    assert_holds("LEDGER-1", "model:batch", actions=actions, limits=limits)
    assert_runs("model:batch", actions=actions, limits=limits)


def test_a_crash_is_told_with_its_place_and_its_cause(here: Path) -> None:
    (here / "mine.py").write_text(broken_file("empty-step-raises"), encoding="utf-8")
    for check in (assert_runs, lambda *a, **k: assert_holds("LEDGER-1", *a, **k)):
        with pytest.raises(AssertionError) as caught:
            check("mine.py", actions=[step()])
        assert re.search(r"mine\.py, line \d+", str(caught.value))
        assert caught.value.__cause__ is not None
    assert_runs(actions=[step()])
