"""An adapter for mini-infer, which decides half in its scheduler and half in its engine.

`schedproof check adapter:examples/engines/mini_infer.py`
"""

from collections.abc import Mapping, Sequence
from typing import Any

from schedproof.engines import EngineAdapter, Pool, Request, Seen, Setup, Work
from schedproof.engines.finding import folder_of, names_of

CHUNK = 4


class MiniInfer(EngineAdapter):
    """Its blocks are for 16 tokens, and a prompt is computed in parts."""

    package = "mini_infer"
    block_sizes = (16,)
    chunked_prefill = True
    limits_tokens = False
    seats_per_step = False

    def load(self) -> None:
        """The scheduler and the pool, which never computes anything here."""
        wanted = ("scheduler.continuous:ContinuousScheduler", "scheduler.continuous:Sequence")
        self._made = names_of(folder_of(self.package), *wanted, "cache.block_pool:BlockPool")

    def start(self, setup: Setup) -> None:
        scheduler, self._sequence, pool = self._made
        self.blocks: Any = object.__new__(pool)  # its constructor makes tensors
        self.blocks.free_list = list(range(setup.blocks))
        self.blocks.ref_counts = dict.fromkeys(range(setup.blocks), 0)
        self.engine: Any = scheduler(self.blocks, setup.max_num_seqs)
        self.sequences: dict[int, Any] = {}

    def add(self, request: Request) -> None:
        made = self._sequence(
            list(request.token_ids), request.max_new_tokens, request_id=str(request.request_id)
        )
        self.sequences[request.request_id] = made
        self.engine.add_sequence(made)

    def schedule(self) -> Sequence[Work]:
        """As its engine does: parts of prompts, then decodes; the newest gives way."""
        prefill, decode = self.engine.schedule()
        self._batch: list[tuple[Any, int, int]] = []
        for s in prefill:
            end = min(s.prompt_tokens_processed + CHUNK, s.num_prompt_tokens)
            self._batch.append((s, s.prompt_tokens_processed, end))
        for s, start, end in self._batch:
            for _ in range(start, end):
                s.block_table.append_slot(self.blocks)
        while self.blocks.num_free < len(decode) > 1:
            self.engine.preempt(decode.pop())
        for s in decode:
            s.block_table.append_slot(self.blocks)
            self._batch.append((s, s.total_tokens - 1, s.total_tokens))
        return [
            Work(int(s.request_id), start, end, s.block_table.physical_block_ids)
            for s, start, end in self._batch
        ]

    def deliver(self, tokens: Mapping[int, int]) -> None:
        for s, _, end in self._batch:
            s.prompt_tokens_processed = max(
                s.prompt_tokens_processed, min(end, s.num_prompt_tokens)
            )
            if s.is_prefill_complete:
                s.append_token(tokens[int(s.request_id)])

    def requests(self) -> Mapping[int, Seen]:
        """A finished one keeps its blocks until the next step cleans up."""
        return {
            i: Seen(
                "waiting"
                if s in self.engine.running and not s.block_table.physical_block_ids
                else s.status.value.lower(),
                () if s.status.value == "FINISHED" else s.block_table.physical_block_ids,
                s.output_token_ids,
            )
            for i, s in self.sequences.items()
        }

    def pool(self) -> Pool:
        seen = self.requests()
        free = list(self.blocks.free_list)
        for s in self.engine.running:
            if s.status.value == "FINISHED":
                free += s.block_table.physical_block_ids
        running = [i for i, now in seen.items() if now.status == "running"]
        waiting = [i for i, now in seen.items() if now.status == "waiting"]
        return Pool(free, running, waiting)
