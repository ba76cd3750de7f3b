"""The larger engines, where they are installed: `pytest tests/engines/slow_libraries.py`.

transformers needs `pip install torch "transformers>=5.24" accelerate`, vLLM what
`tests/engines/vllm.sh` sets up.
What is not installed is skipped and says so.
"""

from __future__ import annotations

import pytest

import schedproof
from schedproof.subjects.load_errors import TargetError


@pytest.mark.parametrize(
    "target", ["transformers:fifo", "transformers:prefill_first", "vllm:fcfs", "vllm:priority"]
)
def test_nothing_is_found_in_a_current_release(target: str) -> None:
    try:
        result = schedproof.check(target, profile="quick", time="10m", seed=0, memory=4096)
    except TargetError as missing:
        pytest.skip(str(missing))
    assert result.verdict in ("no_violation_found", "incomplete"), result.explain("en")
    assert result.runs[0].transitions > 1000
