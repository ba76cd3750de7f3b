"""A descendant of nano-vllm with slots of one token and a tree of cached prefixes."""

from collections.abc import Mapping, Sequence
from typing import Any

from schedproof.engines import EngineAdapter, Pool, Request, Seen, Setup, Work
from schedproof.engines.finding import folder_of, names_of


class Slots(EngineAdapter):
    """Every slot is a block of one token; slots that only the tree holds count as free."""

    block_sizes = (1,)
    limits_tokens = False
    package = "nanovllmx"

    def load(self) -> None:
        wanted = ("core.scheduler:Scheduler", "core.common:Sequence")
        self._scheduler, self._sequence = names_of(folder_of(self.package), *wanted)

    def takes(self, setup: Setup, request: Request) -> bool:
        return request.longest <= setup.blocks

    def start(self, setup: Setup) -> None:
        self.engine: Any = self._scheduler(setup.blocks, setup.max_num_seqs)
        self.known: dict[int, tuple[Any, int]] = {}
        self._batch: Sequence[Any] = ()

    def add(self, request: Request) -> None:
        tokens = list(request.token_ids)
        made = self._sequence(str(request.request_id), token_ids=tokens, prompt_len=len(tokens))
        self.known[request.request_id] = made, request.max_new_tokens
        self.engine.add_sequence(made)

    def schedule(self) -> Sequence[Work]:
        batch = self.engine.schedule()
        self._batch = batch.seqs if batch else ()
        return [
            Work(int(s.seq_id), s.cached_kv_len, len(s.token_ids), s.kv_indices)
            for s in self._batch
        ]

    def deliver(self, tokens: Mapping[int, int]) -> None:
        for s in self._batch:
            self.engine.update_sequence(s, tokens[int(s.seq_id)])
            if len(s.token_ids) - s.prompt_len >= self.known[int(s.seq_id)][1]:
                self.engine.finish_sequence(s)

    def requests(self) -> Mapping[int, Seen]:
        queued = {id(s) for s in (*self.engine.running, *self.engine.waiting)}
        return {
            i: Seen(s.status.name.lower(), s.kv_indices, s.token_ids[s.prompt_len :])
            for i, (s, _) in self.known.items()
            if id(s) in queued or s.status.name == "FINISHED"
        }

    def pool(self) -> Pool:
        held = {slot for s, _ in self.known.values() for slot in s.kv_indices}
        free = self.engine.kv_manager.kv_cache_allocator.free_slots
        cached = [slot for slot in range(self.engine.kv_cache_size) if slot not in {*held, *free}]
        queues = self.engine.running, self.engine.waiting
        return Pool([*free, *cached], *([int(s.seq_id) for s in queue] for queue in queues))
