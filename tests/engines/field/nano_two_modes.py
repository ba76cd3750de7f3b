"""A fork of nano-vllm with an option for prefill in parts, kept in a module's global."""

import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from schedproof.engines import Setup
from schedproof.engines.nano_vllm import NanoVllm


class TwoModes(NanoVllm):
    """The option is on."""

    chunked_prefill = True

    def start(self, setup: Setup) -> None:
        module = sys.modules[self._scheduler.__module__.replace("engine.scheduler", "config")]
        module.cfg = SimpleNamespace(chunked_prefill=True)  # type: ignore[attr-defined]
        super().start(setup)

    def span(self, sequence: Any) -> tuple[int, int]:
        if sequence.is_prefill_finished:
            return len(sequence) - 1, len(sequence)
        return sequence.num_computed_tokens, sequence.num_computed_tokens + sequence.cur_chunk_size

    def deliver(self, tokens: Mapping[int, int]) -> None:
        sequences = self._batch[0]
        self.engine.postprocess_chunked(sequences, [tokens[self._ids[id(s)]] for s in sequences])
