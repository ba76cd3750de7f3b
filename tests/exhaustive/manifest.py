"""The manifest: what each configuration of the exhaustive search comes to, by count.

    python -m pytest tests/exhaustive/slow_searches.py    compare the large ones (minutes)
    python -m tests.exhaustive.manifest                   search all, write the manifest anew

Rules.
1. `manifest.json` names a configuration (target, scope, policy, identity, reductions) and
   what its search came to: verdict, the identity that was used, distinct states,
   transitions, depth.
2. The small configurations are compared on every run of the tests. The large ones take
   minutes; they are compared by the first command, which is to be run after each change to
   what an exhaustive search does.
3. The figures of `GROUND_TRUTH` were agreed on by eight independent tools. No rewrite of
   the manifest may change them, and a test holds the manifest against them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

PATH = Path(__file__).with_name("manifest.json")
ROOT = Path(__file__).resolve().parents[2]
SOURCES = [str(ROOT / name) for name in ("model", "invariants")]
sys.path[:0] = [path for path in SOURCES if path not in sys.path]

from tests.exhaustive.conftest import BOTH, MODEL, search  # noqa: E402

from schedmodel import POLICIES  # noqa: E402
from schedproof.zoo.plain import POLICIES as PLAIN_POLICIES  # noqa: E402
from schedproof.zoo.plain import PlainScheduler  # noqa: E402

TARGETS = {"model": MODEL, "plain": PlainScheduler}
Counts = tuple[int, int, int]
ALL_ROUND = ("clock", "ids", "preemptions")

GROUND_TRUTH: dict[tuple[str, str], Counts] = {
    ("small", "fixed_priority"): (7_321, 8_466, 12),
    ("small", "aging"): (7_464, 8_574, 12),
    ("large", "fixed_priority"): (552_565, 692_998, 18),
    ("large", "aging"): (631_560, 777_356, 18),
}
"""Distinct states, transitions and depth under the peer key."""


class Configuration(NamedTuple):
    """What is searched; `identity` None is the one that a search takes by itself."""

    target: str
    scope: str
    policy: str
    identity: str | None = None
    reduce: tuple[str, ...] = ()
    large: bool = False


def configurations() -> Iterator[Configuration]:
    """Every configuration of the manifest, in its order."""
    for policy in BOTH:
        yield Configuration("model", "small", policy)
        yield Configuration("plain", "small", policy, "peer")
        yield Configuration("plain", "small", policy, large=policy == "aging")
    for reduce in (("arrivals",), ALL_ROUND):
        yield Configuration("model", "small", "aging", reduce=reduce)
    for reduction in ("clock", "finished", "ids", "preemptions"):
        yield Configuration("model", "small", "aging", reduce=(reduction,), large=True)
    for policy in POLICIES:
        yield Configuration("model", "default", policy, large=policy not in ("aging", "fcfs"))
    for policy in PLAIN_POLICIES:
        yield Configuration("plain", "default", policy, large=True)
    for policy in POLICIES:
        for scope in ("medium", "large"):
            yield Configuration("model", scope, policy, "peer", large=True)
        if policy in BOTH:
            yield Configuration("plain", "large", policy, "peer", large=True)
    for target in TARGETS:
        yield Configuration(target, "large", "aging", "peer", ALL_ROUND, large=True)


def record_of(wanted: Configuration) -> dict[str, Any]:
    """One entry of the manifest, searched now."""
    target, scope, policy, identity, reduce, _ = wanted
    result = search(TARGETS[target], scope, policy, identity=identity, reduce=reduce)
    return {
        **wanted._asdict(),
        "reduce": list(reduce),
        "verdict": result.verdict,
        "searched_identity": result.identity,
        "distinct_states": result.distinct_states,
        "transitions": result.transitions,
        "depth": result.depth,
    }


def configuration_of(record: dict[str, Any]) -> Configuration:
    """The configuration of an entry."""
    values = {name: record[name] for name in Configuration._fields}
    return Configuration(**{**values, "reduce": tuple(record["reduce"])})


def read() -> list[dict[str, Any]]:
    """The entries of the manifest."""
    records: list[dict[str, Any]] = json.loads(PATH.read_text("utf-8"))["configurations"]
    return records


def write(records: Iterable[dict[str, Any]]) -> None:
    """Write the manifest: one entry a line."""
    lines = ",\n".join("    " + json.dumps(record) for record in records)
    text = '{\n  "schema_version": 1,\n  "configurations": [\n' + lines + "\n  ]\n}\n"
    PATH.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(map(record_of, configurations()))
