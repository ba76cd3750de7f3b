"""The adapter for continuous batching in transformers (5.24): `transformers:fifo`.

Rules.
1. The real batch processor runs, with a random model of one layer that is never called: a step
   is prepared, tokens are put where the forward pass would have left them, the batch is updated.
2. The name behind the colon is one of the library's own scheduling policies.
3. A preempted request comes back as another object with the same id: what was its output is
   then a part of its prompt, and is counted from the prompt that was handed in.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from schedproof.engines.adapter import (
    FINISHED,
    RUNNING,
    WAITING,
    EngineAdapter,
    MissingPackage,
    Pool,
    Request,
    Seen,
    Setup,
    Work,
)

HOW = "python -m pip install torch 'transformers>=5.24' accelerate"
PAGE = 4


class TransformersBatching(EngineAdapter):
    """Blocks of four tokens. It keeps blocks of finished requests that it may give away."""

    name = "transformers"
    block_sizes = (PAGE,)
    smallest_blocks = 2
    chunked_prefill = True
    can_abort = False
    shows_references = False

    def __init__(self, policy: str = "") -> None:
        self._policy = policy or "fifo"

    def load(self) -> None:
        """Import torch and transformers, and make the model."""
        try:
            self._torch = importlib.import_module("torch")
            self._lib = importlib.import_module("transformers")
            self._config_kind = self._lib.ContinuousBatchingConfig
        except (ImportError, AttributeError):
            raise MissingPackage("transformers", HOW) from None
        self._lib.logging.set_verbosity_error()
        self._torch.set_num_threads(1)
        sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
        heads = {"num_attention_heads": 1, "num_key_value_heads": 1, "vocab_size": 8}
        config = self._lib.LlamaConfig(**sizes, **heads, max_position_embeddings=64)
        self._model = self._lib.LlamaForCausalLM(config).eval()
        self._generation = self._lib.GenerationConfig(
            do_sample=False, eos_token_id=-1, pad_token_id=7, max_new_tokens=8
        )

    def start(self, setup: Setup) -> None:
        """A manager and its processor, without its thread."""
        config = self._config_kind(
            page_size=setup.block_size,
            num_blocks=setup.blocks,
            max_batch_tokens=setup.max_num_batched_tokens,
            max_requests_per_batch=setup.max_num_seqs,
            scheduler_type=self._policy,
            safety_margin=0.0,
            use_async_batching=False,
        )
        self.manager = self._model.init_continuous_batching(
            generation_config=self._generation, continuous_batching_config=config
        )
        self.engine: Any = self.manager._create_batch_processor()
        self.scheduler = self.engine.scheduler
        self.io = self.engine.inputs_and_outputs
        (self.allocator,) = self.engine.cache.cache_allocators.values()
        self._asked: dict[int, Request] = {}
        self._last: dict[int, Any] = {}
        self._batch: Sequence[Any] = ()

    def add(self, request: Request) -> None:
        """Into the queue from which the next step takes it."""
        self._asked[request.request_id] = request
        self.manager.add_request(
            list(request.token_ids),
            request_id=str(request.request_id),
            max_new_tokens=request.max_new_tokens,
        )

    def schedule(self) -> Sequence[Work]:
        """Prepare a batch; the position of each request is moved on by then."""
        self._batch = self.io.requests_in_batch if self.engine.prepare_next_batch() else ()
        tables, first = self.allocator.block_table, self._first_block()
        works: list[Work] = []
        for future in self._batch:
            state = future.state
            self._last[int(state.request_id)] = state
            end, table = state.position_offset, tables.get(state.request_id, ())
            blocks = [block - first for block in table]
            works.append(Work(int(state.request_id), end - future.query_length, end, blocks))
        return works

    def _first_block(self) -> int:
        reserved: int = self.engine.cache.pool.num_reserved_sectors
        return reserved * int(self.allocator.blocks_per_sector)

    def deliver(self, tokens: Mapping[int, int]) -> None:
        """Put tokens where the forward pass would, for those whose prefill is complete."""
        given = [tokens[int(f.state.request_id)] for f in self._batch if f.has_new_token]
        self.io.prepare_batch_update = lambda: (self._batch, given, None)
        self.engine.update_batch()

    def requests(self) -> Mapping[int, Seen]:
        """Those that are active, that wait, and that were finished."""
        active, waiting = self.scheduler.active_requests, self.scheduler.waiting_requests
        tables, first = self.allocator.block_table, self._first_block()
        seen: dict[int, Seen] = {}
        for number, request in self._asked.items():
            name = str(number)
            state = active.get(name) or waiting.get(name) or self._last.get(number)
            if state is None:
                seen[number] = Seen(WAITING, (), ())
                continue
            self._last[number] = state
            tokens = [*state.initial_tokens, *state.generated_tokens]
            blocks = [block - first for block in tables.get(name, ())]
            status = RUNNING if name in active and blocks else WAITING
            if name not in active and name not in waiting:
                if state.status.name != "FINISHED":
                    continue
                status = FINISHED
            seen[number] = Seen(status, blocks, tokens[len(request.token_ids) :])
        return seen

    def pool(self) -> Pool:
        """Free sectors, free blocks and those that are only kept because they may be used again."""
        seen, first = self.requests(), self._first_block()
        cached = set(self.allocator.ledger.cached_blocks)
        pool, size = self.engine.cache.pool, int(self.allocator.blocks_per_sector)
        trees = pool._free_blocks[self.allocator.index]
        free = {s * size + i for s in pool.free_sectors for i in range(size)}
        loose = {leaf for leaves in trees.trees.values() for leaf in leaves}
        numbers = sorted(block - first for block in {*free, *loose, *cached})
        ids = {status: [i for i, now in seen.items() if now.status == status] for status in _QUEUES}
        return Pool(numbers, ids[RUNNING], ids[WAITING])


_QUEUES = (RUNNING, WAITING)
