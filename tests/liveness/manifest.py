"""The manifest: who starves in which shipped scope under which policy, and who does not.

    python -m tests.liveness.manifest     search all, write the manifest anew

Rules.
1. `manifest.json` has an entry for every shipped scope with endless arrivals, every policy,
   and two and three active requests: the counts of the search, and either the lasso's stem
   and loop or the worst wait.
2. The test beside it compares every entry with a search of today; `docs/liveness.md` is made
   from the entries.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("manifest.json")
ROOT = Path(__file__).resolve().parents[2]
SOURCES = [str(ROOT / name) for name in ("model", "invariants")]
sys.path[:0] = [path for path in SOURCES if path not in sys.path]

from tests.liveness.conftest import OPEN, search, worst  # noqa: E402

from schedmodel import KNOWN_POLICIES  # noqa: E402

SIZES = (2, 3)
Configuration = tuple[str, str, int]


def configurations() -> Iterator[Configuration]:
    """Every (scope, policy, active requests) of the manifest, in its order."""
    for scope in OPEN:
        for policy in KNOWN_POLICIES:
            for active in SIZES:
                yield scope, policy, active


def record_of(scope: str, policy: str, active: int) -> dict[str, Any]:
    """One entry of the manifest, searched now."""
    result = search(scope, policy, active)
    record: dict[str, Any] = {"scope": scope, "policy": policy, "active": active}
    record |= {"verdict": result.verdict, "states": result.distinct_states}
    record |= {"transitions": result.transitions, "depth": result.depth}
    if result.counterexamples:
        values = result.counterexamples[0].values
        return {**record, **{name: values[name] for name in ("kind", "stem", "loop", "each")}}
    values = worst(result)
    return {**record, **{name: values[name] for name in ("kind", "steps", "way")}}


def read() -> list[dict[str, Any]]:
    """The entries of the manifest."""
    records: list[dict[str, Any]] = json.loads(PATH.read_text("utf-8"))["configurations"]
    return records


def write(records: list[dict[str, Any]]) -> None:
    """Write the manifest: one entry a line."""
    lines = ",\n".join("    " + json.dumps(record) for record in records)
    text = '{\n  "schema_version": 1,\n  "configurations": [\n' + lines + "\n  ]\n}\n"
    PATH.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write([record_of(*wanted) for wanted in configurations()])
