"""What a hunt for a fault came to, as plain data: a record for each fault and policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from schedproof.zoo.faults import Kill


class Fate(str, Enum):
    """What became of a fault. Only the first is as it should be.

    A fault that another claim tells, or that more or fewer actions show, is found; but then
    something has changed that the zoo does not know of yet.
    """

    KILLED = "killed"
    KILLED_OTHERWISE = "killed_otherwise"
    SURVIVED = "survived"
    STOPPED = "stopped"

    __str__ = str.__str__


@dataclass(frozen=True)
class Hunted:
    """One fault under one policy: what should catch it, what did, and what it took.

    `claim` None: nothing did. `also_broken` are claims broken by the same action. `shortest`
    is whether the length was proved to be the least. `verdict` is the search's own.
    """

    fault: str
    policy: str
    expected: Kill
    verdict: str
    claim: str | None
    length: int | None
    also_broken: tuple[str, ...]
    shortest: bool
    transitions: int
    seconds: float

    @property
    def fate(self) -> Fate:
        """What became of the fault."""
        if self.verdict == "incomplete":
            return Fate.STOPPED
        if self.claim is None:
            return Fate.SURVIVED
        length = None if self.expected.length is None else self.length
        as_expected = (self.claim, length) == self.expected
        return Fate.KILLED if as_expected else Fate.KILLED_OTHERWISE

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        expected = {"claim": self.expected.claim, "length": self.expected.length}
        return {**asdict(self), "expected": expected, "fate": self.fate.value}


def all_killed(hunted: Iterable[Hunted]) -> bool:
    """Whether every fault was caught as the zoo says."""
    return all(one.fate is Fate.KILLED for one in hunted)
