"""What is kept of the runs: `results.json`, the numbers, and `survivors.json`, the reasons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.mutation.scratch import Came

RESULTS = Path(__file__).with_name("results.json")
SURVIVORS = Path(__file__).with_name("survivors.json")


def results() -> dict[str, dict[str, Any]]:
    """What came of each module that was run, by package."""
    found: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text("utf-8"))
    return found


def explained() -> dict[str, str]:
    """The survivors that need no test, and why."""
    found: dict[str, str] = json.loads(SURVIVORS.read_text("utf-8"))
    return found


def keep(package: str, module: str, came: Came) -> None:
    """Write down what came of a module."""
    known = results()
    known.setdefault(package, {})[module] = came.to_json()
    told = {name: dict(sorted(known[name].items())) for name in sorted(known)}
    fresh = RESULTS.with_suffix(".new")
    fresh.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    fresh.replace(RESULTS)
