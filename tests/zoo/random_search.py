"""How often the Hypothesis machine alone finds each fault: twenty seeds, the profile quick.

    python -m tests.zoo.random_search --write

It takes some twenty minutes. The figures are committed, because the documents set them beside
those of the exhaustive search; no test repeats them, since they depend on the release of
Hypothesis. What is counted is what a reader of the machine's failure sees: the trace after
shrinking, and nothing that the exhaustive search has made shorter.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import hypothesis

from schedproof.claims.catalogue import select
from schedproof.search.isolation import Channel, Finished, JsonValue, Limits, run_parallel
from schedproof.search.profiles import PROFILES, QUICK, Bounds
from schedproof.search.random_search import search_randomly
from schedproof.subjects.chapter import ChapterSubject
from schedproof.subjects.contract import Config
from schedproof.zoo.chapter_faults import CHAPTER_FAULTS
from schedproof.zoo.faults import Fault
from schedproof.zoo.loading import source_of_fault

PATH = Path(__file__).with_name("random_search.json")
SEEDS = range(20)
LIMITS = Limits(seconds=120.0)


def main() -> None:
    """Measure every fault under its first policy; write the figures with `--write`."""
    records = [measured(fault) for fault in CHAPTER_FAULTS]
    about = {"profile": QUICK, "seeds": len(SEEDS), "hypothesis": hypothesis.__version__}
    text = json.dumps({**about, "faults": records}, indent=1) + "\n"
    if "--write" in sys.argv:
        PATH.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


def measured(fault: Fault) -> dict[str, Any]:
    """In how many seeds a fault is found, and by how many actions, shrunk."""
    outcomes = run_parallel([_job(fault, seed) for seed in SEEDS], LIMITS)
    values: list[Any] = [o.value for o in outcomes if isinstance(o, Finished)]
    lengths = sorted(value["length"] for value in values if value["length"] is not None)
    record = {
        "fault": fault.name,
        "policy": fault.policies[0],
        "found": len(lengths),
        "least": lengths[0] if lengths else None,
        "median": median(lengths) if lengths else None,
        "most": lengths[-1] if lengths else None,
        "claims": sorted({value["claim"] for value in values if value["claim"]}),
    }
    sys.stderr.write(f"{record}\n")
    return record


def _job(fault: Fault, seed: int) -> Callable[[Channel], JsonValue]:
    def job(channel: Channel) -> JsonValue:
        loaded = source_of_fault(fault).load(channel.begin)

        def start(config: Config) -> ChapterSubject:
            return ChapterSubject(loaded.make, config, loaded.strict_types, channel)

        bounds = Bounds()
        config = Config(fault.policies[0], bounds.blocks, aging_interval=2)
        result = search_randomly(
            start, config, select(()), bounds, PROFILES[QUICK], seed, channel
        )
        found = next(iter(result.counterexamples), None)
        if found is not None:
            return {"claim": found.claim, "length": found.length}
        if result.trouble is not None:
            return {"claim": result.trouble.kind, "length": len(result.trouble.actions)}
        return {"claim": None, "length": None}

    return job


def read() -> dict[str, Any]:
    """The figures as they were committed."""
    figures: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return figures


if __name__ == "__main__":
    main()
