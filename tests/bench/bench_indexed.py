"""How much faster a step of the indexed scheduler is than sorting all candidates.

    python tests/bench/bench_indexed.py [--active N]

Both schedulers stand in the same state, take the same steps in one process, and must report
the same events, or the command fails. The plain scheduler is the one that sorts every
unfinished request in each step (`schedproof.zoo.plain`). Under fcfs and reserved_aging it is
the model, because the plain one takes even longer there, or does not have the policy. Times
depend on the machine; how little they depend on the number of active requests shows with other
values of `--active`.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "model"), str(ROOT / "invariants")]

from schedmodel import KNOWN_POLICIES, DecodeSchedulerSim  # noqa: E402
from schedmodel.indexed import IndexedSchedulerSim  # noqa: E402
from schedproof.zoo.plain import PlainScheduler  # noqa: E402

STEPS = 6
"""Steps of the plain scheduler; the indexed one takes `MORE` times as many."""
MORE = 100
WANTED = 50.0
SORTED = ("fixed_priority", "aging", "deadline")


class Ratio(NamedTuple):
    """Seconds a step of the plain scheduler over the indexed one's."""

    ratio: float
    indexed: float
    equal: bool


def prepared(make: Callable[..., Any], policy: str, active: int, tight: bool) -> Any:
    """A scheduler with so many requests in decode, far from their limits."""
    sim = make(policy, 4 if tight else 3 * active, 4)
    for number in range(active):
        sim.enqueue(
            request_id=number,
            prompt_len=1 + 7 * number % 11,
            max_new_tokens=1_000_000,
            priority=number % 4,
            cache_hit=number % 2 == 0,
            required_blocks=1 + number % 3,
            deadline_step=2_000_000 + 13 * number if number % 3 else None,
            preemptible=number % 5 != 0,
        )
        sim.queue[-1].phase = "decode"
    return sim


def seconds_a_step(sim: Any, steps: int) -> float:
    begin = time.process_time()
    sim.run(steps)
    return (time.process_time() - begin) / steps


def compare(policy: str, active: int, tight: bool) -> Ratio:
    """Step both schedulers from the same state and compare times and events."""
    make = PlainScheduler if policy in SORTED else DecodeSchedulerSim
    indexed, plain = (prepared(kind, policy, active, tight) for kind in (IndexedSchedulerSim, make))
    for sim in (indexed, plain):
        sim.run(2)
    slow = seconds_a_step(plain, STEPS)
    fast = seconds_a_step(indexed, STEPS * MORE)
    events = plain.timeline
    return Ratio(slow / fast, fast, indexed.timeline[: len(events)] == events)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Time indexed steps against sorting.")
    parser.add_argument("--active", type=int, default=10_000, help="active requests")
    active = parser.parse_args(arguments).active
    different = False
    print("active  pool   policy          sorting/indexed  wanted       microseconds a step")
    for tight in (False, True):
        for policy in KNOWN_POLICIES:
            found = compare(policy, active, tight)
            different |= not found.equal
            verdict = "within" if found.ratio >= WANTED else "BELOW"
            pool = "tight" if tight else "ample"
            print(
                f"{active:6}  {pool}  {policy:14}  {found.ratio:15.0f}  "
                f"{WANTED:.0f}: {verdict:7} {found.indexed * 1e6:12.1f}"
                + ("" if found.equal else "; EVENTS DIFFER"),
                flush=True,
            )
    return int(different)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
