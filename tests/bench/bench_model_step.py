"""How long a step of the model takes, measured against the plain scheduler: ratios only.

    python tests/bench/bench_model_step.py [--rounds N]

Both schedulers get the same requests and take the same steps, turn about, in one process.
A round's ratio is the model's time over the plain scheduler's for the same steps, and what
is told is the median over the rounds: a machine that is busy for a while slows both.

Five active requests show what a step costs in itself, a thousand what the order costs.
With room for all, nobody is refused; in the tight pool of four blocks most do not fit, so
that a step passes over them and looks for victims. The events of both must be equal, or
the command fails; a ratio beyond its limit is only told, because machines differ.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "model"), str(ROOT / "invariants")]

from schedmodel import POLICIES, DecodeSchedulerSim  # noqa: E402
from schedproof.zoo.plain import PlainScheduler  # noqa: E402


class Load(NamedTuple):
    """How many requests are active, whether they all fit, and how long a round is."""

    active: int
    tight: bool
    steps: int
    limit: float


LOADS = (
    Load(active=5, tight=False, steps=300, limit=1.5),
    Load(active=5, tight=True, steps=300, limit=1.5),
    Load(active=1_000, tight=False, steps=2, limit=1.0),
    Load(active=1_000, tight=True, steps=2, limit=1.0),
)
ROUNDS = 31


class Ratio(NamedTuple):
    """What a comparison found; `ratio` is the model's time over the plain scheduler's."""

    ratio: float
    steps: int
    equal: bool


def prepared(make: Callable[..., Any], policy: str, load: Load) -> Any:
    """A scheduler with `load.active` requests in decode, far from their limits."""
    blocks = [1 + number % 3 for number in range(load.active)]
    pool = 4 if load.tight else sum(blocks)
    sim = make(policy, pool, 4)
    for number in range(load.active):
        sim.enqueue(
            request_id=number,
            prompt_len=1 + 7 * number % 11,
            max_new_tokens=1_000_000,
            priority=number % 4,
            cache_hit=number % 2 == 0,
            required_blocks=blocks[number],
            deadline_step=2_000_000 + 13 * number if number % 3 else None,
            preemptible=number % 5 != 0,
        )
        sim.queue[-1].phase = "decode"
    sim.run(load.steps)
    return sim


def seconds(sim: Any, steps: int) -> float:
    begin = time.perf_counter()
    sim.run(steps)
    return time.perf_counter() - begin


def compare(policy: str, load: Load, rounds: int) -> Ratio:
    """Step both schedulers, turn about, and compare their times and their events."""
    model, plain = (prepared(make, policy, load) for make in (DecodeSchedulerSim, PlainScheduler))
    ratios: list[float] = []
    collected = gc.isenabled()
    gc.disable()
    try:
        for number in range(rounds):
            pair = (model, plain) if number % 2 else (plain, model)
            times = {id(sim): seconds(sim, load.steps) for sim in pair}
            ratios.append(times[id(model)] / times[id(plain)])
    finally:
        if collected:
            gc.enable()
    ratio = statistics.median(ratios)
    return Ratio(ratio, len(model.timeline), model.timeline == plain.timeline)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Time a step of the model over the plain one's.")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of each comparison")
    rounds = parser.parse_args(arguments).rounds
    print("active  pool   policy          model/plain  limit")
    different = False
    for load in LOADS:
        for policy in POLICIES:
            found = compare(policy, load, rounds)
            different |= not found.equal
            pool = "tight" if load.tight else "ample"
            verdict = "within" if found.ratio <= load.limit else "BEYOND"
            print(
                f"{load.active:6}  {pool}  {policy:14}  {found.ratio:11.2f}  "
                f"limit {load.limit}: {verdict}" + ("" if found.equal else "; EVENTS DIFFER"),
                flush=True,
            )
    return int(different)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
