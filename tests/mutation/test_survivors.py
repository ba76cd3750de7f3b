"""Mutants that are known to survive: each is of a module that there is, and has its reason."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KNOWN = json.loads(Path(__file__).with_name("survivors.json").read_text("utf-8"))


@pytest.mark.parametrize("name", KNOWN)
def test_a_survivor_has_a_reason(name: str) -> None:
    found = re.fullmatch(r"schedproof\.(\w+)\.(\w+)\.(\S+)__mutmut_\d+", name)
    assert found is not None
    module = ROOT / "invariants" / "schedproof" / found[1] / f"{found[2]}.py"
    function = re.sub(r"^xǁ\w+?ǁ|^x_", "", found[3])
    assert f"def {function}(" in module.read_text("utf-8")
    assert KNOWN[name].endswith(".")
