"""The run in a real engine says what it needs where the engine is not installed."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("in_an_engine.py")


@pytest.mark.parametrize("name", ["torch", "transformers"])
def test_without_the_engine_it_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden: Any = None
    for module in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, module, object() if module < name else hidden)
    with pytest.raises(SystemExit, match=r"schedproof\[transformers\]") as ended:
        runpy.run_path(str(SCRIPT))
    assert name in str(ended.value)
