"""One trace for each fault of the zoo, in a file: stories of all of them without a search.

The file `fault_traces.json` holds what `check` finds by default under each fault's first
policy, made plain. To renew it after a fault or a search was changed on purpose, run
`python -m tests.telling.fault_traces`; it takes some minutes, and the difference is to be read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from schedproof.api import check
from schedproof.zoo.chapter_faults import CHAPTER_FAULTS
from schedproof.zoo.faults import Fault

FILE = Path(__file__).with_name("fault_traces.json")


def read() -> dict[str, dict[str, Any]]:
    """The traces by the name of their fault."""
    traces: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return traces


def found(fault: Fault) -> dict[str, Any]:
    """What a search finds for a fault now: the first violation, or what it raises."""
    policy = fault.policies[0]
    (run,) = check(f"fault:{fault.name}", policy=policy, time="10m").runs
    about: dict[str, Any] = {"policy": policy, "blocks": run.bounds["blocks"]}
    if run.trouble is not None:
        about |= {"claim": None, "shortest": False}
        return {**about, "actions": list(run.trouble.actions)}
    (example,) = run.counterexamples
    about |= {"claim": example.claim, "shortest": example.shortest}
    return {**about, "actions": list(example.actions)}


def main() -> None:
    """Search for all of them and write the file."""
    traces = {fault.name: found(fault) for fault in CHAPTER_FAULTS}
    lines = (f"{json.dumps(name)}: {json.dumps(trace)}" for name, trace in traces.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    sys.stdout.write(f"{len(traces)} traces in {FILE.name}\n")


if __name__ == "__main__":
    main()
