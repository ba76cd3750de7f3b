"""How long a policy takes on recorded arrivals, and how much memory: one request a step.

    python tests/bench/bench_compare.py TRACE [--rows N] [--step-ms 1] [--blocks 1024]

For each policy: the steps it took, the CPU seconds, and what a step costs in steps of the plain
scheduler with five requests, which is timed in the same process right before and after: a machine
that is busy slows both. The seconds are wanted below a minute for 12,000 requests of
conversation (2.5 million steps); a number beyond that is only told, because machines differ.

The last column is the most memory that the process ever had, after a quarter of the rows and
after all: numbers are kept for each request and none for a step, so it hardly grows.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "model"), str(ROOT / "invariants")]

from schedproof.compare.loader import Trace, load  # noqa: E402
from schedproof.compare.simulate import policies_of, simulate  # noqa: E402
from schedproof.compare.workload import Setup, make_workload  # noqa: E402
from schedproof.zoo.plain import PlainScheduler  # noqa: E402

WANTED = 60.0
PLAIN_STEPS = 3_000


class Cost(NamedTuple):
    """What a run came to; `ratio` is its step over a step of the plain scheduler."""

    steps: int
    seconds: float
    ratio: float


def plain_step() -> float:
    """CPU seconds of a step of the plain scheduler with five requests."""
    sim: Any = PlainScheduler("aging", 100, 4)
    for number in range(5):
        sim.enqueue(number, prompt_len=3 + number, max_new_tokens=PLAIN_STEPS, priority=number)
    began = time.process_time()
    for _ in range(PLAIN_STEPS):
        sim.step()
    return (time.process_time() - began) / PLAIN_STEPS


def measure(trace: Trace, policy: str, setup: Setup) -> Cost:
    """Run a policy, and the plain scheduler before and after it."""
    workload = make_workload(trace, setup)
    plain = plain_step()
    began = time.process_time()
    record = simulate(workload, policy, lambda _told: None)
    seconds = time.process_time() - began
    plain = (plain + plain_step()) / 2
    return Cost(record.steps, seconds, seconds / max(1, record.steps) / plain)


def peak() -> str:
    """The most memory so far, in MB, where the system tells it."""
    try:
        import resource
    except ImportError:
        return "-"
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{most / (1 << 20 if sys.platform == 'darwin' else 1 << 10):.0f}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Time the policies on recorded arrivals.")
    parser.add_argument("trace", help="a trace file")
    parser.add_argument("--rows", type=int, help="only the first rows")
    parser.add_argument("--step-ms", type=float, default=1.0, help="how long a step lasts")
    parser.add_argument("--blocks", type=int, default=1024, help="KV blocks of the pool")
    parser.add_argument("--policy", help="only this one")
    asked = parser.parse_args(arguments)
    setup = Setup(step=asked.step_ms / 1000, blocks=asked.blocks)
    whole = load(asked.trace, drop=True, rows=asked.rows)
    quarter = load(asked.trace, drop=True, rows=max(1, len(whole) // 4))
    print(
        "policy          requests      steps   CPU s  wanted       plain steps a step  MB at most"
    )
    for policy in [asked.policy] if asked.policy else policies_of(1):
        for trace in (quarter, whole):
            cost = measure(trace, policy, setup)
            verdict = "within" if cost.seconds <= WANTED else "BEYOND"
            print(
                f"{policy:14}  {len(trace):8,}  {cost.steps:9,}  {cost.seconds:6.1f}  "
                f"{WANTED:.0f}: {verdict:7}  {cost.ratio:18.2f}  {peak():>10}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
