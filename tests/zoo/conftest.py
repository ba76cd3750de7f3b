"""One hunt over the whole zoo, each fault under its first policy, for all tests of this folder."""

from __future__ import annotations

import pytest

from schedproof.hunt import Prey, hunt, prey_of
from schedproof.zoo.chapter_faults import CHAPTER_FAULTS
from schedproof.zoo.hunted import Hunted


@pytest.fixture(scope="session")
def hunted() -> list[Hunted]:
    """What became of every fault under its first policy."""
    return hunt(prey_of(CHAPTER_FAULTS), nobody_listens)


def nobody_listens(_index: int, _prey: Prey) -> None:
    """Hears of a hunt's progress."""
