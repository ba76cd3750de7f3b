"""The recorded arrivals, small workloads made by hand, and runs of them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from schedproof.compare.formats import FORMATS
from schedproof.compare.loader import Trace, load
from schedproof.compare.metrics import Measured, measure
from schedproof.compare.simulate import simulate
from schedproof.compare.workload import Setup, Workload, make_workload

TRACES = Path(__file__).resolve().parents[1] / "data" / "traces"
AZURE = TRACES / "azure_llm_2023_conv_rows_00001_00600.csv"
CODE = TRACES / "azure_llm_2023_code_rows_00001_00400.csv"
MOONCAKE = TRACES / "mooncake_fast25_conversation_rows_00001_00150.jsonl"
BURST = TRACES / "burstgpt_1_rows_00001_00400.csv"

Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of this name and text; its path."""

    def written(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8"))
        return str(path)

    return written


def made_up(requests: Sequence[tuple[float, int, int]]) -> Trace:
    """A trace of (arrival in seconds, prompt tokens, output tokens)."""
    arrivals, prompts, outputs = zip(*requests, strict=True)
    return Trace(
        "made up",
        FORMATS["vidur"],
        array("d", arrivals),
        array("q", prompts),
        array("q", outputs),
        bytearray(len(requests)),
        rows_read=len(requests),
    )


def workload_of(requests: Sequence[tuple[float, int, int]], setup: Setup) -> Workload:
    return make_workload(made_up(requests), setup)


def measured(workload: Workload, policy: str, until: float | None = None) -> Measured:
    return measure(workload, simulate(workload, policy, lambda _data: None, until))


def azure(rows: int, setup: Setup) -> Workload:
    return make_workload(load(str(AZURE), rows=rows), setup)
