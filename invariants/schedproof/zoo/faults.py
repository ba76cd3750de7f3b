"""What a fault is: one named change to the one plain scheduler, and what must catch it.

Rules.
1. A fault is a text that stands exactly once in a correct scheduler, and the text that takes
   its place. Nothing else differs, so whatever is found was put there by the fault. The
   scheduler is `plain.py`, or `schedmodel/batch.py` for faults of batches, `schedmodel/paged.py`
   or the pool that it uses for faults of the paged one.
2. `claim` is what is told first, or the kind of trouble where the fault makes the scheduler
   crash; `length` is the least number of actions that shows it in the default scope, None
   where a claim about whole runs shows it, for which no least number is proved.
3. Claims and policies stand here as names: the zoo knows no claim. That the names are right
   is what a hunt finds out.
4. Title, story and report are told by the message catalogue under the fault's name.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from schedproof.zoo.plain import POLICIES

CHAPTER, BATCH, PAGED, CACHE = "chapter", "batch", "paged", "prefix_cache"
"""What a fault is put into: the plain scheduler, that of batches, the paged one, or its pool."""
OF_PAGED = (PAGED, CACHE)

BATCH_FAMILIES = ("blocks", "growth", "queue", "door")
PAGED_FAMILIES = ("flight", "cache", "room", "parts")
FAMILIES = ("ledger", "lifecycle", "progress", "victim", "order", "wait", "event", "input")
BY_PRIORITY = ("fixed_priority", "aging", "deadline")
IN_CLASSES = ("fixed_priority", "aging")
WITHOUT_AGING = ("fixed_priority", "deadline")
RENAMED = {"PlainScheduler": "DecodeSchedulerSim", "Request": "RequestState"}


class Kill(NamedTuple):
    """What catches a fault: a claim, or a kind of trouble, after so many actions."""

    claim: str
    length: int | None


@dataclass(frozen=True, eq=False)
class Fault:
    """One change. `policies` are those that it shows under, the first is hunted by default.

    `otherwise` names the policies under which something else catches it. `report` is a public
    report of the same mistake, as owner/repository#number. `passes_chapter` tells that all
    tests of the chapter pass with it, `measured` that it was measured with other tools, too.
    `scope` is the one in which it is searched for, "" for the usual one.
    """

    name: str
    family: str
    claim: str
    length: int | None
    old: str
    new: str
    policies: tuple[str, ...] = POLICIES
    otherwise: Mapping[str, Kill] = field(default_factory=dict[str, Kill])
    report: str = ""
    passes_chapter: bool = False
    measured: bool = False
    level: str = CHAPTER
    scope: str = ""

    def kill(self, policy: str) -> Kill:
        """What must catch it under a policy."""
        return self.otherwise.get(policy, Kill(self.claim, self.length))


class Misplaced(ValueError):
    """A fault whose text does not stand exactly once in the scheduler that it changes."""


@cache
def plain_text() -> str:
    """The scheduler without a fault, as it stands in its file."""
    return (files("schedproof.zoo") / "plain.py").read_text(encoding="utf-8")


@cache
def batch_text(module: str = BATCH) -> str:
    """The scheduler of batches without a fault, or another module beside it, as in its file."""
    return (files("schedmodel") / f"{module}.py").read_text(encoding="utf-8")


def text_without(fault: Fault) -> str:
    """The scheduler that a fault is put into, without it."""
    return plain_text() if fault.level == CHAPTER else batch_text(fault.level)


def apply(fault: Fault) -> str:
    """The scheduler's text with the fault in it. Raises `Misplaced`."""
    text = text_without(fault)
    if text.count(fault.old) != 1 or fault.old == fault.new:
        raise Misplaced(f"{fault.name}: its text stands {text.count(fault.old)} times, not once")
    return text.replace(fault.old, fault.new)


def exported(fault: Fault) -> str:
    """The same with the chapter's names, as an exported file has it."""
    text = apply(fault)
    for ours, theirs in RENAMED.items():
        text = re.sub(rf"\b{ours}\b", theirs, text)
    return text


def change(fault: Fault) -> list[str]:
    """The change as lines of a diff: a sign, and the line; with the lines around it."""
    before, after = text_without(fault).splitlines(), apply(fault).splitlines()
    return list(difflib.unified_diff(before, after, n=2, lineterm=""))[2:]
