"""A fork of nano-vllm whose prefills have a budget of their own in every step."""

from typing import Any

from schedproof.engines import Request, Setup
from schedproof.engines.nano_vllm import NanoVllm


class ChunkedBudget(NanoVllm):
    """What is left of a step's tokens beside one for each request."""

    keeps_order = False

    def make(self, settings: dict[str, Any]) -> Any:
        chunk = settings["max_num_batched_tokens"] - settings["max_num_seqs"]
        return super().make({**settings, "chunk_size": chunk})

    def takes(self, setup: Setup, request: Request) -> bool:
        room = setup.max_num_batched_tokens > setup.max_num_seqs
        return room and super().takes(setup, request)
