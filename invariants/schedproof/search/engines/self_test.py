"""The self-test of an adapter: planted faults must be caught, and enough must be exercised.

Rules.
1. First the engine as it is: the runs must exercise preemptions and resumes, or the adapter
   never shows what matters most. A violation there is the engine's, or a mistake of the adapter.
2. Then each planted fault: it counts as caught where the first broken claim is one of those that
   name it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schedproof.claims.claim import Claim
from schedproof.engines.adapter import EngineAdapter
from schedproof.engines.planted import FAULTS, Planted
from schedproof.search.engines.engine_search import Within, search_engine
from schedproof.search.pace import Pace, Unhurried
from schedproof.search.results import RunResult

RUNS = 400
EXERCISED = ("REACH-EVICTION", "REACH-RECOMPUTE", "REACH-GROWTH")


@dataclass(frozen=True)
class Tried:
    """One planted fault and the claim that was told first, "" if none was broken."""

    name: str
    told: str
    caught: bool


@dataclass(frozen=True)
class SelfTest:
    """What it came to. `missing` are ids of what the plain runs never reached."""

    plain: RunResult
    missing: tuple[str, ...]
    tried: tuple[Tried, ...]

    @property
    def passed(self) -> bool:
        """Whether every fault was caught."""
        return all(each.caught for each in self.tried)


def self_test(
    adapter: EngineAdapter, claims: Sequence[Claim], pace: Pace | None = None, runs: int = RUNS
) -> SelfTest:
    """Try a loaded adapter; the same faults and runs every time."""
    pace = pace or Unhurried()
    plain = search_engine(adapter, claims, Within(runs, shrink_seconds=0.0), pace)
    counts = {claim.id: claim.exercised for claim in plain.claims}
    missing = tuple(name for name in EXERCISED if not counts.get(name))
    tried = tuple(_tried(adapter, claims, fault, runs, pace) for fault in FAULTS)
    return SelfTest(plain, missing, tried)


def _tried(
    adapter: EngineAdapter, claims: Sequence[Claim], fault: Planted, runs: int, pace: Pace
) -> Tried:
    wanted = [claim for claim in claims if claim.id in fault.claims or claim.id.startswith("R")]
    found = search_engine(fault.plant(adapter), wanted, Within(runs, shrink_seconds=0.0), pace)
    told = found.counterexamples[0].claim if found.counterexamples else ""
    return Tried(fault.name, told, told in fault.claims)
