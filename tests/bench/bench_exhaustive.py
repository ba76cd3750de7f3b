"""How fast an exhaustive search is, beside two others that explore the same states: ratios.

    python tests/bench/bench_exhaustive.py [--scope NAME] [--policy NAME] [--only PART]

The part `searches`: four in one process, in turn, each in seconds of CPU. Ours, with all claims
and refused calls, on the built-in model; ours with finished requests, the clock, ids and
preemptions left out of the key, its gate included; a search over tuples, run twice since
machines get slow and fast again; and one over deep copies of real objects. Copies
are slow, so they are made on the small scope and compared by states a second. MiB per million
states are those of our full search alone, over what the process had before it.

The part `first`: the whole command, interpreter starts and all, until it has told the first
counterexample of each of four planted faults, in the small and in the named scope.

Counts must be equal and lengths the true ones, or the command fails; times are only told.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [str(ROOT / "model"), str(ROOT / "invariants")]
sys.path[:0] = [*SOURCES, str(ROOT)]

from tests.bench.commands import run  # noqa: E402
from tests.bench.plain_searches import Counts, copies, tuples  # noqa: E402

from schedmodel import DecodeSchedulerSim  # noqa: E402
from schedproof.claims.catalogue import select  # noqa: E402
from schedproof.search.exhaustive.exhaustive_search import (  # noqa: E402
    Asked,
    search_exhaustively,
)
from schedproof.search.exhaustive.names import IDS, NO_CLOCK, PEER, PREEMPTIONS  # noqa: E402
from schedproof.search.exhaustive.scopes import Scope, load_scope  # noqa: E402
from schedproof.search.pace import Unhurried  # noqa: E402
from schedproof.search.results import RunResult  # noqa: E402
from schedproof.subjects.chapter import ChapterSubject, from_class  # noqa: E402
from schedproof.subjects.contract import Config  # noqa: E402

POLICIES = ("fixed_priority", "aging")
PARTS = ("searches", "first")
REDUCED = frozenset({NO_CLOCK, IDS, PREEMPTIONS})
FAULTS = {
    "finish-keeps-blocks": 3,
    "protected-victim": 4,
    "preempt-forgets-tokens": 5,
    "second-preemption-leaks": 8,
}
"""Planted faults and the true lengths of their shortest counterexamples, in actions."""


class Figures(NamedTuple):
    """What a search came to; `counts` are distinct states, transitions and depth."""

    counts: Counts
    cpu_seconds: float

    @property
    def states_per_second(self) -> float:
        return self.counts[0] / self.cpu_seconds


def timed(search: Callable[[Scope, str], Counts], scope: Scope, policy: str) -> Figures:
    begin = time.process_time()
    counts = search(scope, policy)
    return Figures(counts, time.process_time() - begin)


def ours(scope: Scope, policy: str) -> Counts:
    """The search that is shipped, with all claims and refused calls."""
    return counts_of(searched(scope, policy, frozenset()))


def reduced(scope: Scope, policy: str) -> Counts:
    """The same under a reduced key, after its gate."""
    found = searched(scope, policy, REDUCED)
    assert [message for message, _ in found.notes] == ["note.gate_passed"]
    return counts_of(found)


def searched(scope: Scope, policy: str, reduce: frozenset[str]) -> RunResult:
    config = Config(policy, scope.blocks, scope.aging_interval)
    first = ChapterSubject(from_class(DecodeSchedulerSim), config, strict_types=True)

    def start(wanted: Config) -> ChapterSubject:
        if wanted == config:
            return first.fresh()
        return ChapterSubject(from_class(DecodeSchedulerSim), wanted, strict_types=True)

    asked = Asked(scope, identity=PEER, reduce=reduce)
    found = search_exhaustively(start, config, select(()), asked, Unhurried())
    assert found.verdict in ("holds_within_bounds", "no_violation_reduced"), found.verdict
    return found


def counts_of(found: RunResult) -> Counts:
    return found.distinct_states or 0, found.transitions, found.depth


def mib() -> float:
    """The most memory that this process has had, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def told(name: str, figures: Figures, least: Figures) -> str:
    ratio = figures.cpu_seconds / least.cpu_seconds
    return (
        f"{name:14}  {figures.counts[0]:>9,}  {figures.cpu_seconds:>8.2f}  "
        f"{figures.states_per_second:>9,.0f}  {ratio:>6.2f}"
    )


def searches(name: str, policy: str) -> bool:
    """Time the searches and tell; whether the counts are equal."""
    scope, small = load_scope(name), load_scope("small")
    before = mib()
    mine = timed(ours, scope, policy)  # first, so that its memory is its own
    used = (mib() - before) / mine.counts[0] * 1e6
    earlier, short = timed(tuples, scope, policy), timed(reduced, scope, policy)
    later, copied = timed(tuples, scope, policy), timed(copies, small, policy)
    mean = Figures(later.counts, (earlier.cpu_seconds + later.cpu_seconds) / 2)
    print(f"{name}, {policy}; copies on small")
    print("search             states     CPU s   states/s  times tuples")
    rows = {"ours": mine, "tuples": earlier, "ours reduced": short, "tuples again": later}
    for title, figures in {**rows, "copies": copied}.items():
        print(told(title, figures, mean))
    print(f"ours: {used:,.0f} MiB per million states", flush=True)
    return mine.counts == earlier.counts == later.counts


class First(NamedTuple):
    """The first counterexample of a fault: its length, and what the whole command took."""

    length: int
    cpu_seconds: float
    wall_seconds: float


def first_counterexample(fault: str, scope: str, policy: str) -> First:
    """Run the command on a fault of the zoo, in processes of its own."""
    words = ["check", f"fault:{fault}", "--scope", scope, "--policy", policy]
    ran = run(*words, "--json", "--no-save")
    document: dict[str, Any] = json.loads(ran.printed)
    lengths = [int(found["length"]) for found in document["counterexamples"]]
    return First(min(lengths, default=0), ran.cpu_seconds, ran.wall_seconds)


def firsts(name: str, policy: str) -> bool:
    """Time the command on each fault and tell; whether the lengths are the true ones."""
    print(f"first counterexample, {policy}, all processes from their start")
    print("fault                     scope   actions   CPU s  wall s")
    right = True
    for scope in dict.fromkeys(("small", name)):
        for fault, length in FAULTS.items():
            found = first_counterexample(fault, scope, policy)
            right = right and found.length == length
            print(
                f"{fault:24}  {scope:7} {found.length:>7}  {found.cpu_seconds:>6.2f}  "
                f"{found.wall_seconds:>6.2f}",
                flush=True,
            )
    return right


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Time an exhaustive search beside two others.")
    parser.add_argument("--scope", default="large", help="a closed scope without deadlines")
    parser.add_argument("--policy", default="aging", choices=POLICIES)
    parser.add_argument("--only", choices=PARTS, help="one part instead of both")
    asked = parser.parse_args(arguments)
    parts = [asked.only] if asked.only else list(PARTS)
    right = [{"searches": searches, "first": firsts}[p](asked.scope, asked.policy) for p in parts]
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
