"""The kill matrix: what catches each fault under each policy that it shows under.

    python -m tests.zoo.manifest           hunt everything, write the manifests (some minutes)
    python -m tests.zoo.manifest batch     only those of batches; or `paged`, of the paged one

Rules.
1. `manifest.json` has an entry for every fault and policy, `batch_manifest.json` for those of
   batches, `paged_manifest.json` for those of the paged scheduler: the claim that is told, the
   number of actions (null where no least one is proved), and the claims broken beside it.
2. The tests beside it compare the entries of each fault's first policy with a hunt of today,
   `slow_hunts.py` compares all; the tables in `docs/faults.md` are made from the entries.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from schedmodel.batch import BATCH_POLICIES
from schedproof.hunt import Prey, hunt, prey_of
from schedproof.zoo.batch_faults import BATCH_FAULTS
from schedproof.zoo.chapter_faults import CHAPTER_FAULTS
from schedproof.zoo.faults import BATCH, CHAPTER, PAGED
from schedproof.zoo.hunted import Hunted
from schedproof.zoo.paged_faults import PAGED_FAULTS
from schedproof.zoo.plain import POLICIES

PATH = Path(__file__).with_name("manifest.json")
BATCH_PATH = Path(__file__).with_name("batch_manifest.json")
PAGED_PATH = Path(__file__).with_name("paged_manifest.json")
LEVELS = {
    CHAPTER: (CHAPTER_FAULTS, POLICIES, PATH),
    BATCH: (BATCH_FAULTS, BATCH_POLICIES, BATCH_PATH),
    PAGED: (PAGED_FAULTS, BATCH_POLICIES, PAGED_PATH),
}


def record_of(hunted: Hunted) -> dict[str, Any]:
    """One entry of the manifest."""
    proved = None if hunted.expected.length is None else hunted.length
    record = {"fault": hunted.fault, "policy": hunted.policy, "claim": hunted.claim}
    return {**record, "length": proved, "also_broken": list(hunted.also_broken)}


def read(path: Path = PATH) -> list[dict[str, Any]]:
    """The entries of a manifest."""
    records: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["kills"]
    return records


def write(records: list[dict[str, Any]], path: Path = PATH) -> None:
    """Write a manifest: one entry a line."""
    lines = ",\n".join("    " + json.dumps(record) for record in records)
    path.write_text('{\n  "schema_version": 1,\n  "kills": [\n' + lines + "\n  ]\n}\n", "utf-8")


def tell(index: int, prey: Prey) -> None:
    """Say how far the hunt is."""
    sys.stderr.write(f"{index + 1} {prey[0].name} {prey[1]}\n")


if __name__ == "__main__":
    for level, (faults, policies, path) in LEVELS.items():
        if level in (sys.argv[1:] or LEVELS):
            write([record_of(one) for one in hunt(prey_of(faults, policies), tell)], path)
