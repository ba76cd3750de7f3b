"""A teaching engine with queues of request groups and a cache of prompt blocks."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from schedproof.engines import EngineAdapter, Pool, Request, Seen, Setup, Work
from schedproof.engines.finding import folder_of, names_of


class Lab(EngineAdapter):
    """One sequence in each group; blocks are taken when the forward pass needs them."""

    package = "mini_vllm"
    chunked_prefill = True
    parts = (
        "scheduler.scheduler:Scheduler",
        "sequence.sequence_group:RequestQueue",
        "sequence.sequence_group:SequenceGroup",
        "sequence.sampling_params:SamplingParams",
        "cache.manager:BlockManager",
        "cache.allocator:BlockAllocator",
        "config:Config",
    )

    def load(self) -> None:
        self._parts = SimpleNamespace(
            **{
                where.partition(":")[2]: thing
                for where, thing in zip(
                    self.parts, names_of(folder_of(self.package), *self.parts), strict=True
                )
            }
        )

    def start(self, setup: Setup) -> None:
        make, tokens = self._parts, setup.max_num_batched_tokens
        self.chunk = min(4, tokens)
        self.allocator = make.BlockAllocator(setup.blocks)
        self.blocks = make.BlockManager(setup.block_size, self.allocator)
        self.queue = make.RequestQueue()
        config = SimpleNamespace(
            chunked_prefill_enabled=True,
            static_batch_mode=False,
            max_num_seqs=setup.max_num_seqs,
            max_num_batched_tokens=tokens,
            max_num_prefill_tokens=tokens,
            max_prefill_chunk_size=self.chunk,
            block_size=setup.block_size,
            num_gpu_blocks=setup.blocks,
        )
        self.engine: Any = make.Scheduler(config, self.blocks, self.queue)
        self.groups: dict[int, Any] = {}
        self._spans: list[tuple[Any, int, int]] = []

    def takes(self, setup: Setup, request: Request) -> bool:
        """A prompt that is longer than a step is rejected, in parts or not."""
        whole = len(request.token_ids) <= setup.max_num_batched_tokens
        return whole and super().takes(setup, request)

    def add(self, request: Request) -> None:
        params = self._parts.SamplingParams(max_tokens=request.max_new_tokens)
        group = self._parts.SequenceGroup(
            str(request.request_id), "", params, list(request.token_ids)
        )
        self.groups[request.request_id] = group
        self.queue.add(group)

    def schedule(self) -> Sequence[Work]:
        result = self.engine.schedule()
        self._spans = []
        for group in result.scheduled_prefill_groups:
            for s in group.get_unfinished_seqs():
                end = min(s.prefill_cursor + self.chunk, len(s.prompt_token_ids))
                self._spans.append((s, s.prefill_cursor, end))
        for group in result.scheduled_decode_groups:
            for s in group.get_unfinished_seqs():
                end = len(s.prompt_token_ids) + s.num_generated_tokens
                self._spans.append((s, end - 1, end))
        for s, start, end in self._spans:
            for position in range(start, end):
                self.blocks.ensure_block(s, position)
        return [
            Work(int(s.group_id), start, end, self.blocks.get_block_table(s.seq_id))
            for s, start, end in self._spans
        ]

    def deliver(self, tokens: Mapping[int, int]) -> None:
        status = type(self._spans[0][0].status)
        for s, _, end in self._spans:
            if end >= len(s.prompt_token_ids):
                s.output_token_ids.append(tokens[int(s.group_id)])
                s.num_generated_tokens += 1
                s.status = status.RUNNING
            s.prefill_cursor = max(s.prefill_cursor, min(end, len(s.prompt_token_ids)))

    def requests(self) -> Mapping[int, Seen]:
        seen: dict[int, Seen] = {}
        for i, group in self.groups.items():
            s: Any = group.seqs[0] if group.seqs else None
            done = s is not None and s.num_generated_tokens >= s.sampling_params.max_tokens
            if done:  # it is called finished in the next step only
                seen[i] = Seen("finished", (), s.output_token_ids)
            elif str(i) in self.queue._running:
                table = self.blocks.get_block_table(s.seq_id)
                seen[i] = Seen("running", table, s.output_token_ids)
            else:
                seen[i] = Seen("waiting", (), ())
        return seen

    def pool(self) -> Pool:
        queues = self.queue.running, self.queue.waiting
        ids = [[int(group.request_id) for group in queue] for queue in queues]
        seen = self.requests()
        running = [i for i in ids[0] if seen[i].status == "running"]
        free = self.allocator.dump_free_list()
        over = {b for i in ids[0] if i not in running for b in self._table(i)}
        kept = {b for i in running for b in seen[i].blocks}
        return Pool([*free, *sorted(over - kept)], running, ids[1])

    def _table(self, request_id: int) -> Sequence[int]:
        table: Sequence[int] = self.blocks.get_block_table(f"{request_id}-seq-0")
        return table
