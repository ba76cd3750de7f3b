"""A fork of nano-vllm whose model runner keeps count of what was computed of a prompt."""

from collections.abc import Mapping
from typing import Any, ClassVar

from schedproof.engines.nano_vllm import NanoVllm


class RunnerCounts(NanoVllm):
    """Prefill in parts; the runner advances the count and hands no token over in between."""

    chunked_prefill = True
    settings: ClassVar[Mapping[str, Any]] = {"enable_chunked_prefill": True, "max_chunk_size": 2}

    def span(self, sequence: Any) -> tuple[int, int]:
        if not self._batch[1]:
            return super().span(sequence)
        start = sequence.num_computed_tokens
        return start, start + min(sequence.num_prompt_tokens - start, 2)

    def deliver(self, tokens: Mapping[int, int]) -> None:
        sequences, prefill = self._batch[:2]
        given: list[int | None] = []
        for sequence in sequences:
            if prefill:
                sequence.num_computed_tokens = self.span(sequence)[1]
                sequence.num_cached_tokens = sequence.num_computed_tokens
            ready = not prefill or sequence.is_prefill_finished
            given.append(tokens[self._ids[id(sequence)]] if ready else None)
        self.engine.postprocess(sequences, given)
