"""How many steps of an engine's scheduler a random search checks in a second.

    python tests/bench/bench_engines.py [--runs N] [--repeats N] [--package FOLDER]

Our paged scheduler under each policy, and one like nano-vllm: a small one of ours, or the package
in that folder. A plain count of numbers, timed in between, tells how fast the machine is. A step
is one action: an enqueue, a decision, a delivery, or an abort. Each is judged by all claims that
apply. Inputs have up to three requests; of our paged scheduler half of them have two steps in
flight. The seconds are those of the processor, and the best of some repeats: what else the machine
does is not what is measured.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "model"), str(ROOT / "invariants")]

from schedmodel.batch import BATCH_POLICIES  # noqa: E402
from schedproof.claims.catalogue import CLAIMS  # noqa: E402
from schedproof.engines.adapter import EngineAdapter  # noqa: E402
from schedproof.engines.nano_vllm import NanoVllm  # noqa: E402
from schedproof.engines.paged_model import PagedModel  # noqa: E402
from schedproof.search.engines.engine_runs import judged_on_edges  # noqa: E402
from schedproof.search.engines.engine_search import Within, search_engine  # noqa: E402
from schedproof.search.pace import Unhurried  # noqa: E402

WANTED = 10_000
TINY = ROOT / "tests" / "engines" / "tiny"


class Speed(NamedTuple):
    """Checked steps a second, how many there were, how many claims judged them, the verdict."""

    a_second: float
    steps: int
    claims: int
    verdict: str


def measure(adapter: EngineAdapter, runs: int, seed: int = 0) -> Speed:
    """Search once."""
    begin = time.process_time()
    found = search_engine(adapter, judged_on_edges(CLAIMS), Within(runs, seed), Unhurried())
    seconds = time.process_time() - begin
    claims = sum(bool(claim.exercised) for claim in found.claims)
    return Speed(found.transitions / seconds, found.transitions, claims, found.verdict)


def counted() -> float:
    """Millions of numbers that this machine counts in a second."""
    begin = time.process_time()
    total = 0
    for number in range(2_000_000):
        total += number
    return 2 / (time.process_time() - begin)


def like_nano_vllm(package: str) -> EngineAdapter:
    """The scheduler of a package that is made like nano-vllm."""
    adapter = NanoVllm(package)
    adapter.load()
    return adapter


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Time the random search of engines' schedulers.")
    parser.add_argument("--runs", type=int, default=1_000, help="inputs that are played")
    parser.add_argument("--repeats", type=int, default=5, help="of which the best counts")
    parser.add_argument("--package", default=str(TINY), help="made like nano-vllm")
    asked = parser.parse_args(arguments)
    engines: dict[str, EngineAdapter] = {
        f"paged, {policy}": PagedModel(policy) for policy in BATCH_POLICIES
    }
    engines["like nano-vllm"] = like_nano_vllm(asked.package)
    clean = True
    print("scheduler               steps  claims  steps a second  wanted  million numbers a second")
    for name, adapter in engines.items():
        speeds = [measure(adapter, asked.runs) for _ in range(asked.repeats)]
        best = max(speeds)
        clean &= all(speed.verdict == "no_violation_found" for speed in speeds)
        verdict = "VIOLATED" if not clean else "within" if best.a_second >= WANTED else "BELOW"
        print(
            f"{name:22} {best.steps:7} {best.claims:7}  {best.a_second:14,.0f}  "
            f"{WANTED:,}: {verdict}  {counted():.1f}",
            flush=True,
        )
    return int(not clean)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
