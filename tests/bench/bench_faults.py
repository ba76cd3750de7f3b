"""How long a check takes to find each fault of the chapter, from the start of the interpreter.

    python tests/bench/bench_faults.py [--all] [FAULT ...]

Each fault is checked as a reader would check it, with no option but its name, by a command of
its own; nothing is kept. Told are the claim, its length, and seconds: those of the clock, and of
the processor in all its processes. With `--all` the hunt over the whole zoo is timed as well, as
`schedproof faults hunt --all` does it. Times are only told; a fault that is not found fails.
"""

# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "model"), str(ROOT / "invariants"), str(ROOT)]

from tests.bench.commands import run  # noqa: E402

from schedproof.zoo.chapter_faults import BY_NAME  # noqa: E402


class Check(NamedTuple):
    """What a command came to: the claim and length of its first story, "" and 0 without one."""

    claim: str
    length: int
    wall_seconds: float
    cpu_seconds: float


def checked(fault: str) -> Check:
    """Check one fault with the defaults."""
    ran = run("check", f"fault:{fault}", "--json", "--no-save")
    document: dict[str, Any] = json.loads(ran.printed)
    found: list[dict[str, Any]] = document["counterexamples"]
    claim, length = (found[0]["claim"], found[0]["length"]) if found else ("", 0)
    if not found and document["verdict"] == "error":
        claim = "crash"  # what one fault is
    return Check(claim, length, ran.wall_seconds, ran.cpu_seconds)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Time a check of each fault of the chapter.")
    parser.add_argument("faults", nargs="*", metavar="FAULT", help="these, and no others")
    parser.add_argument("--all", action="store_true", help="time the hunt over the whole zoo, too")
    asked = parser.parse_args(arguments)
    slowest, found = 0.0, True
    print(f"{'fault':40} {'claim':12} actions  wall s  CPU s")
    for fault in asked.faults or BY_NAME:
        check = checked(fault)
        slowest, found = max(slowest, check.wall_seconds), found and bool(check.claim)
        seconds = f"{check.wall_seconds:6.2f} {check.cpu_seconds:6.2f}"
        print(f"{fault:40} {check.claim or '-':12} {check.length:7}  {seconds}", flush=True)
    print(f"slowest: {slowest:.2f} s")
    if asked.all:
        ran = run("faults", "hunt", "--all")
        last = ran.printed.strip().splitlines()[-1]
        print(f"{last}   wall {ran.wall_seconds:.1f} s, CPU {ran.cpu_seconds:.1f} s")
    return int(not found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
