"""SPIN, on a model made of our scope and our policy's columns, counts what we count.

Skipped where `spin` or a C compiler is missing; that the model is written, and refuses what
it cannot say, is tested everywhere.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.exhaustive import manifest
from tests.exhaustive.conftest import BOTH, THE_FOUR, counts, search, slots
from tests.exhaustive.promela import FAULTS, promela

from schedproof.search.exhaustive.scopes import load_scope
from schedproof.zoo.plain import PlainScheduler

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

COMPILER = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
needs_spin = pytest.mark.skipif(
    shutil.which("spin") is None or COMPILER is None, reason="needs spin and a C compiler"
)


def spin(folder: Path, model: str) -> tuple[tuple[int, int, int], bool]:
    """Stored states, transitions and depth of a breadth-first search, and whether all holds."""
    (folder / "scope.pml").write_text(model, encoding="utf-8")
    # -o2: what is only written is part of the state as well.
    for command in (
        ["spin", "-o2", "-a", "scope.pml"],
        [str(COMPILER), "-DBFS", "-DSAFETY", "-DVECTORSZ=256", "-o", "pan", "pan.c"],
    ):
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert made.returncode == 0, made.stdout + made.stderr
    told = subprocess.run([folder / "pan"], cwd=folder, capture_output=True, text=True).stdout
    depth, states, transitions, errors = (
        int(re.findall(pattern, told)[-1])
        for pattern in (
            r"depth reached (\d+)",
            r"(\d+) states, stored",
            r"(\d+) transitions",
            r"errors: (\d+)",
        )
    )
    return (states, transitions - 1, depth), errors == 0


@needs_spin
@pytest.mark.parametrize("policy", BOTH)
def test_spin_counts_the_same_states(policy: str, tmp_path: Path) -> None:
    found, holds = spin(tmp_path, promela(load_scope("small"), policy))
    assert holds
    assert found == manifest.GROUND_TRUTH["small", policy]


@needs_spin
@pytest.mark.parametrize("policy", BOTH)
def test_spin_and_our_search_agree_on_another_scope(policy: str, tmp_path: Path) -> None:
    scope = slots("large", 4).resized(None, 4)
    found, holds = spin(tmp_path, promela(scope, policy))
    assert holds
    assert found == counts(search(PlainScheduler, scope, policy, identity="peer"))


@needs_spin
@pytest.mark.parametrize("fault", FAULTS)
def test_spin_finds_the_faults_by_as_many_actions(fault: str, tmp_path: Path) -> None:
    (_, _, depth), holds = spin(tmp_path, promela(load_scope("small"), "aging", fault))
    assert not holds
    assert depth + 1 == THE_FOUR[fault][1]


def test_the_model_knows_the_four_faults() -> None:
    assert FAULTS.keys() == THE_FOUR.keys()


def test_the_model_has_an_action_for_each_slot_and_kind() -> None:
    scope = load_scope("large")
    model = promela(scope, "aging")
    assert model.count("d_step { kind[") == sum(map(len, scope.slots))
    assert model.count("d_step {") == sum(map(len, scope.slots)) + 1


def test_what_the_model_cannot_say_is_refused() -> None:
    with pytest.raises(KeyError, match="deadline_in"):
        promela(load_scope("default"), "aging")
    with pytest.raises(KeyError, match="fcfs"):
        promela(load_scope("small"), "fcfs")
