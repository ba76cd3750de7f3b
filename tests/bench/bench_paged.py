"""How many steps of the paged scheduler a random search checks in a second.

    python tests/bench/bench_paged.py [--runs N] [--repeats N]

A step is one action: an enqueue, a decision, a delivery, or an abort. Each is judged by all claims
that apply. Inputs have up to three requests, half of them two steps in flight. The seconds are
those of the processor, and the best of some repeats: what else the machine does is not what is
measured.
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
from schedproof.engines.paged_model import PagedModel  # noqa: E402
from schedproof.search.engines.engine_runs import judged_on_edges  # noqa: E402
from schedproof.search.engines.engine_search import Within, search_engine  # noqa: E402
from schedproof.search.pace import Unhurried  # noqa: E402

WANTED = 10_000


class Speed(NamedTuple):
    """Checked steps a second, how many there were, how many claims judged them, the verdict."""

    a_second: float
    steps: int
    claims: int
    verdict: str


def measure(policy: str, runs: int, seed: int = 0) -> Speed:
    """Search once."""
    begin = time.process_time()
    found = search_engine(
        PagedModel(policy), judged_on_edges(CLAIMS), Within(runs, seed), Unhurried()
    )
    seconds = time.process_time() - begin
    claims = sum(bool(claim.exercised) for claim in found.claims)
    return Speed(found.transitions / seconds, found.transitions, claims, found.verdict)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Time the random search of the paged scheduler.")
    parser.add_argument("--runs", type=int, default=1_000, help="inputs that are played")
    parser.add_argument("--repeats", type=int, default=5, help="of which the best counts")
    asked = parser.parse_args(arguments)
    clean = True
    print("policy           steps  claims  steps a second  wanted")
    for policy in BATCH_POLICIES:
        speeds = [measure(policy, asked.runs) for _ in range(asked.repeats)]
        best = max(speeds)
        clean &= all(speed.verdict == "no_violation_found" for speed in speeds)
        verdict = "within" if best.a_second >= WANTED else "BELOW"
        print(
            f"{policy:14} {best.steps:7}  {best.claims:6}  {best.a_second:14.0f}  "
            f"{WANTED}: {verdict}" + ("" if clean else "; VIOLATED"),
            flush=True,
        )
    return int(not clean)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
