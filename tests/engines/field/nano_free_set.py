"""A fork of nano-vllm that keeps its free blocks in a set, beside a queue with leftovers."""

from schedproof.engines import Pool
from schedproof.engines.nano_vllm import NanoVllm


class FreeSet(NanoVllm):
    """The set is what counts."""

    def pool(self) -> Pool:
        return super().pool()._replace(free_ids=sorted(self.blocks._free_set))
