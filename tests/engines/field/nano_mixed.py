"""A fork of nano-vllm that mixes prefills and decodes, and keeps freed blocks for their content."""

from collections.abc import Mapping
from typing import Any, ClassVar

from schedproof.engines import Pool
from schedproof.engines.nano_vllm import NanoVllm


class MixedBatches(NanoVllm):
    """A step is one list; its `postprocess` is told for whom there is a token."""

    settings: ClassVar[Mapping[str, Any]] = {"chunked_prefill": True, "max_model_len": 64}
    chunked_prefill = True
    seats_per_step = False
    keeps_order = False

    def span(self, sequence: Any) -> tuple[int, int]:
        return sequence.num_cached_tokens, sequence.num_cached_tokens + sequence.num_new_tokens

    def deliver(self, tokens: Mapping[int, int]) -> None:
        batch = self._batch[0]
        ready = [i for i, s in enumerate(batch) if self.span(s)[1] == len(s)]
        self.engine.postprocess(batch, [tokens[self.id_of(batch[i])] for i in ready], ready)

    def pool(self) -> Pool:
        pool = super().pool()
        return pool._replace(free_ids=[*pool.free_ids, *self.blocks.cached_blocks.values()])
