"""A hunt under every policy; no test runner collects this file unless it is named.

python -m pytest tests/zoo/slow_hunts.py
"""

from __future__ import annotations

from tests.zoo import manifest
from tests.zoo.conftest import nobody_listens

from schedmodel.batch import BATCH_POLICIES
from schedproof.hunt import hunt, prey_of
from schedproof.zoo.batch_faults import BATCH_FAULTS
from schedproof.zoo.chapter_faults import CHAPTER_FAULTS
from schedproof.zoo.hunted import Fate
from schedproof.zoo.paged_faults import PAGED_FAULTS
from schedproof.zoo.plain import POLICIES


def test_every_fault_is_killed_under_every_policy_that_it_shows_under() -> None:
    hunted = hunt(prey_of(CHAPTER_FAULTS, POLICIES), nobody_listens)
    assert [one.to_json() for one in hunted if one.fate is not Fate.KILLED] == []
    assert [manifest.record_of(one) for one in hunted] == manifest.read()


def test_every_fault_of_the_paged_scheduler_is_killed_under_both_policies() -> None:
    hunted = hunt(prey_of(PAGED_FAULTS, BATCH_POLICIES), nobody_listens)
    assert [one.to_json() for one in hunted if one.fate is not Fate.KILLED] == []
    assert [manifest.record_of(one) for one in hunted] == manifest.read(manifest.PAGED_PATH)


def test_every_fault_of_batches_is_killed_under_every_policy_that_it_shows_under() -> None:
    hunted = hunt(prey_of(BATCH_FAULTS, BATCH_POLICIES), nobody_listens)
    assert [one.to_json() for one in hunted if one.fate is not Fate.KILLED] == []
    assert [manifest.record_of(one) for one in hunted] == manifest.read(manifest.BATCH_PATH)
