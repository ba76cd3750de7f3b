"""The tiny engine as it is, and with a fault in its text."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from schedproof.claims.catalogue import CLAIMS
from schedproof.engines import EngineAdapter
from schedproof.engines.nano_vllm import NanoVllm
from schedproof.search.engines.engine_runs import judged_on_edges
from schedproof.search.engines.engine_search import Within, search_engine
from schedproof.search.pace import Unhurried
from schedproof.search.results import RunResult

TINY = Path(__file__).parent / "tiny"
MakeTiny = Callable[[str, str], NanoVllm]
ALL = judged_on_edges(CLAIMS)


@pytest.fixture
def tiny() -> NanoVllm:
    """The tiny engine, loaded."""
    adapter = NanoVllm(str(TINY))
    adapter.load()
    return adapter


@pytest.fixture
def broken(tmp_path: Path) -> MakeTiny:
    """The tiny engine with one text replaced by another."""

    def make(old: str, new: str) -> NanoVllm:
        folder = tmp_path / "tiny"
        shutil.copytree(TINY, folder)
        file = folder / "engine" / "scheduler.py"
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")
        adapter = NanoVllm(str(folder))
        adapter.load()
        return adapter

    return make


def searched(adapter: EngineAdapter, runs: int, **within: object) -> RunResult:
    """A search with all claims and a short time for making things smaller."""
    asked = Within(runs, **{"seed": 0, "shrink_seconds": 0.5, **within})  # type: ignore[arg-type]
    return search_engine(adapter, ALL, asked, Unhurried())
