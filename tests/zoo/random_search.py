"""How often random runs alone find each fault: twenty seeds, the profile quick.

    python -m tests.zoo.random_search           measure what was not measured yet
    python -m tests.zoo.random_search NAME ...  measure these anew

All of it takes the better part of an hour. The figures are committed, because the documents set
them beside those of the exhaustive search; no test repeats them, since they depend on the release
of Hypothesis. What is counted is what a reader of the failure sees: the trace after shrinking for
a second, and nothing that the exhaustive search has made shorter. Faults of the chapter's shape
and of batches are left to the Hypothesis machine, those of the paged scheduler to the random runs
that engines get.
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
from schedproof.search import random_search
from schedproof.search.engines.engine_search import ENGINE_RUNS_EACH, Within, search_engine
from schedproof.search.isolation import Channel, Finished, JsonValue, Limits, run_parallel
from schedproof.search.policy_runs import IN_RANDOM_RUNS, starter
from schedproof.search.profiles import PROFILES, QUICK, Bounds
from schedproof.search.random_search import search_randomly
from schedproof.search.results import RunResult
from schedproof.subjects.contract import Config
from schedproof.zoo.all_faults import ALL_FAULTS, BY_NAME
from schedproof.zoo.faults import Fault
from schedproof.zoo.loading import source_of_fault

PATH = Path(__file__).with_name("random_search.json")
SEEDS = range(20)
SHRINK_SECONDS = 1.0
LIMITS = Limits(seconds=120.0)


def main() -> None:
    """Measure the faults of these names, or all that were not measured; write each at once."""
    known = {record["fault"]: record for record in read()["faults"]} if PATH.exists() else {}
    wanted = sys.argv[1:] or [f.name for f in ALL_FAULTS if f.name not in known]
    for name in wanted:
        known[name] = measured(BY_NAME[name])
        write([known[fault.name] for fault in ALL_FAULTS if fault.name in known])


def write(records: list[dict[str, Any]]) -> None:
    """Write the figures: one fault a line."""
    about = {"profile": QUICK, "seeds": len(SEEDS), "shrink_seconds": SHRINK_SECONDS}
    about |= {"hypothesis": hypothesis.__version__}
    lines = ",\n".join("    " + json.dumps(record) for record in records)
    head = json.dumps({"schema_version": 1, **about})[:-1]
    PATH.write_text(f'{head},\n  "faults": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


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
    sys.stderr.write(f"{fault.name}: {len(lengths)} of {len(SEEDS)}\n")
    return record


def _job(fault: Fault, seed: int) -> Callable[[Channel], JsonValue]:
    def job(channel: Channel) -> JsonValue:
        result = _searched(fault, seed, channel)
        found = next(iter(result.counterexamples), None)
        if found is not None:
            return {"claim": found.claim, "length": found.length}
        if result.trouble is not None:
            return {"claim": result.trouble.kind, "length": len(result.trouble.actions)}
        return {"claim": None, "length": None}

    return job


def _searched(fault: Fault, seed: int, channel: Channel) -> RunResult:
    """What random runs come to, with a second for shrinking."""
    random_search.SHRINK_SECONDS = SHRINK_SECONDS  # in this child alone
    source = source_of_fault(fault)
    start = starter(source.load(channel.begin), channel)
    bounds, profile = Bounds(), PROFILES[QUICK]
    limits = IN_RANDOM_RUNS if source.batches else None
    config = Config(fault.policies[0], bounds.blocks, aging_interval=2, limits=limits)
    if not source.paged:
        return search_randomly(start, config, select(()), bounds, profile, seed, channel)
    runs = profile.examples * ENGINE_RUNS_EACH
    within = Within(runs, seed, bounds.requests, bounds.blocks, shrink_seconds=SHRINK_SECONDS)
    return search_engine(start(config).adapter, select(()), within, channel)


def read() -> dict[str, Any]:
    """The figures as they were committed."""
    figures: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return figures


if __name__ == "__main__":
    main()
