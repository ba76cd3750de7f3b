"""A serving fork of nano-vllm: prefill in parts, an own cache of free blocks."""

from collections.abc import Mapping
from typing import Any

from schedproof.engines import Pool, Seen
from schedproof.engines.nano_vllm import NanoVllm


class OnlineServing(NanoVllm):
    """The scheduler says where the next part begins and ends."""

    chunked_prefill = True
    keeps_order = False
    seats_per_step = False

    def span(self, sequence: Any) -> tuple[int, int]:
        if not self._batch[1]:
            return len(sequence) - 1, len(sequence)
        return sequence.scheduled_prefill_start, sequence.scheduled_prefill_end

    def requests(self) -> Mapping[int, Seen]:
        """Who was let in and has no block yet counts as waiting."""
        return {
            i: seen._replace(status="waiting")
            if seen.status == "running" and not seen.blocks
            else seen
            for i, seen in super().requests().items()
        }

    def pool(self) -> Pool:
        pool = super().pool()
        early = [i for i in pool.running if not self.sequences[i].block_table]
        return Pool(
            [*pool.free_ids, *self.blocks.cached_block_ids],
            [i for i in pool.running if i not in early],
            [*early, *pool.waiting],
            pool.references,
        )
