"""An adapter for smol-vllm: groups with one sequence each, and a pool that swaps out.

`schedproof check adapter:examples/engines/smol_vllm.py`
"""

from collections.abc import Mapping, Sequence
from typing import Any

from schedproof.engines import EngineAdapter, Pool, Request, Seen, Setup, Work
from schedproof.engines.finding import folder_of, names_of


class SmolVllm(EngineAdapter):
    """A whole prompt is computed at once, and so is everything after a group was swapped out."""

    package = "smol_vllm"
    limits_tokens = False

    def load(self) -> None:
        """Its scheduler, pool and sequences; its `__init__` would import a model."""
        wanted = ("scheduler:Scheduler", "block_manager:BlockSpaceManager")
        made = ("sequence:Sequence", "sequence:SequenceGroup", "sequence:SequenceStatus")
        self._made = names_of(folder_of(self.package), *wanted, *made)

    def takes(self, setup: Setup, request: Request) -> bool:
        """One block stays free for each that runs, and a pool that is 95 % full swaps out."""
        blocks = -(-(request.longest + 1) // setup.block_size) + 1
        return blocks <= setup.blocks

    def start(self, setup: Setup) -> None:
        scheduler, pool, self._sequence, self._group, self._status = self._made
        self.blocks = pool(setup.blocks, setup.block_size)
        self.engine: Any = scheduler(self.blocks, setup.max_num_seqs)
        self.groups: dict[int, tuple[Any, int]] = {}
        self.computed: dict[int, int] = {}

    def add(self, request: Request) -> None:
        sequence = self._sequence(request.request_id, list(request.token_ids))
        group = self._group(request.request_id, [sequence], {})
        self.groups[request.request_id] = group, request.max_new_tokens
        self.engine.waiting.append(group)

    def schedule(self) -> Sequence[Work]:
        out = self.engine.schedule()
        self._batch = out.scheduled_groups
        for gone in out.blocks_to_swap_out:
            self.computed.pop(gone, None)
        return [self._work(group) for group in self._batch]

    def _work(self, group: Any) -> Work:
        table = self.blocks.get_block_table(group.group_id)
        end = group.sequences[0].num_tokens
        return Work(group.group_id, self.computed.get(group.group_id, 0), end, table)

    def deliver(self, tokens: Mapping[int, int]) -> None:
        """As its engine does: a slot for the token, then the end if it was the last."""
        for group in self._batch:
            sequence, number = group.sequences[0], group.group_id
            self.computed[number] = sequence.num_tokens
            sequence.output_tokens.append(tokens[number])
            self.blocks.append_token(number)
            if len(sequence.output_tokens) >= self.groups[number][1]:
                sequence.status = self._status.FINISHED
                self.blocks.free(number)
                self.engine.running.remove(group)

    def requests(self) -> Mapping[int, Seen]:
        return {number: self._seen(number, group) for number, (group, _) in self.groups.items()}

    def _seen(self, number: int, group: Any) -> Seen:
        sequence, table = group.sequences[0], self.blocks.get_block_table(number)
        status = str(sequence.status.value).replace("swapped", "waiting")
        return Seen(status, table, sequence.output_tokens)

    def pool(self) -> Pool:
        waiting = [group.group_id for group in (*self.engine.waiting, *self.engine.swapped)]
        running = [group.group_id for group in self.engine.running]
        return Pool(list(self.blocks._free_blocks), running, waiting)
