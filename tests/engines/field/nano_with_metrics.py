"""A fork of nano-vllm whose scheduler reports to a collector of metrics."""

from types import SimpleNamespace
from typing import Any

from schedproof.engines.nano_vllm import NanoVllm


class Ignored:
    """Takes every report."""

    def __getattr__(self, _name: str) -> Any:
        return lambda *_reported: None


class WithMetrics(NanoVllm):
    """Its `Scheduler` takes a second argument."""

    def make(self, settings: dict[str, Any]) -> Any:
        return self._scheduler(SimpleNamespace(**settings), Ignored())
