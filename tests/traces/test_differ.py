"""What one scheduler has and the other has not is a difference, on whichever side it is."""

from __future__ import annotations

from pathlib import Path

from tests.traces.conftest import Keep, Run, enqueue

from schedproof.subjects.actions import STEP, Action

DROPS = """
from schedproof.zoo.plain import PlainScheduler

class Drops(PlainScheduler):
    def step(self):
        done = super().step()
        self.queue = [each for each in self.queue if each.status != "waiting"]
        return done

class Silent(PlainScheduler):
    def step(self):
        super().step()
        return None
"""
TWO: list[Action] = [enqueue("a"), enqueue("b"), STEP]  # type: ignore[arg-type]


def test_a_request_that_only_one_has_parts_them(run: Run, keep: Keep, alone: Path) -> None:
    (alone / "drops.py").write_text(DROPS, encoding="utf-8")
    keep(subject="model", actions=[enqueue(0), enqueue(1), STEP])
    for pair in (("drops.py:Drops", "model"), ("model", "drops.py:Drops")):
        said = run("diff", *pair)
        assert said.code == 1
        assert "part at action 3: r1." in said.out


def test_a_step_without_a_report_parts_them(run: Run, keep: Keep, alone: Path) -> None:
    (alone / "drops.py").write_text(DROPS, encoding="utf-8")
    keep(subject="model", actions=[enqueue(0), STEP])
    for pair in (("drops.py:Silent", "model"), ("model", "drops.py:Silent")):
        assert run("diff", *pair).code == 1


def test_ids_that_are_texts_can_be_told(run: Run, keep: Keep, alone: Path) -> None:
    (alone / "drops.py").write_text(DROPS, encoding="utf-8")
    keep(subject="model", actions=TWO)
    said = run("diff", "drops.py:Drops", "model")
    assert (said.code, said.err) == (1, "")
