"""A hunt under every policy; no test runner collects this file unless it is named.

python -m pytest tests/zoo/slow_hunts.py
"""

from __future__ import annotations

from tests.zoo import manifest
from tests.zoo.conftest import nobody_listens

from schedproof.hunt import hunt, prey_of
from schedproof.zoo.chapter_faults import CHAPTER_FAULTS
from schedproof.zoo.hunted import Fate
from schedproof.zoo.plain import POLICIES


def test_every_fault_is_killed_under_every_policy_that_it_shows_under() -> None:
    hunted = hunt(prey_of(CHAPTER_FAULTS, POLICIES), nobody_listens)
    assert [one.to_json() for one in hunted if one.fate is not Fate.KILLED] == []
    assert [manifest.record_of(one) for one in hunted] == manifest.read()
