"""Prefills first, then one token for everybody; the last to come gives way."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from tiny.config import Config  # type: ignore[import-not-found]
from tiny.engine.sequence import Sequence, Status  # type: ignore[import-not-found]


@dataclass
class Block:
    """Who holds it, and the whole prefix that it is good for."""

    ref_count: int = 0
    prefix: tuple[int, ...] = ()


@dataclass
class BlockManager:
    """A pool of blocks that are found again by the prefix that they hold."""

    num_blocks: int
    size: int
    blocks: list[Block] = field(default_factory=list)
    known: dict[tuple[int, ...], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.blocks = [Block() for _ in range(self.num_blocks)]
        self.free_block_ids: deque[int] = deque(range(self.num_blocks))

    def take(self) -> int:
        """A free block, forgotten by those who knew it."""
        number = self.free_block_ids.popleft()
        block = self.blocks[number]
        if self.known.get(block.prefix) == number:
            del self.known[block.prefix]
        self.blocks[number] = Block(ref_count=1)
        return number

    def hits(self, seq: Sequence) -> list[int]:
        """Blocks that hold the beginning of it, less the last token."""
        found: list[int] = []
        for end in range(self.size, len(seq), self.size):
            number = self.known.get(tuple(seq.token_ids[:end]))
            if number is None:
                break
            found.append(number)
        return found

    def allocate(self, seq: Sequence) -> bool:
        """Give it all its blocks, or nothing."""
        hits = self.hits(seq)
        needed = -(-len(seq) // self.size) - len(hits)
        unused = sum(self.blocks[number].ref_count == 0 for number in hits)
        if needed + unused > len(self.free_block_ids):
            return False
        for number in hits:
            if self.blocks[number].ref_count == 0:
                self.free_block_ids.remove(number)
            self.blocks[number].ref_count += 1
        seq.num_cached_tokens = len(hits) * self.size
        seq.block_table = hits + [self.take() for _ in range(needed)]
        return True

    def grow(self, seq: Sequence) -> bool:
        """Room for its last token."""
        if len(seq) <= len(seq.block_table) * self.size:
            return True
        if not self.free_block_ids:
            return False
        seq.block_table.append(self.take())
        return True

    def computed(self, seq: Sequence) -> None:
        """Its full blocks can be found from now on."""
        for place in range(len(seq) // self.size):
            prefix = tuple(seq.token_ids[: (place + 1) * self.size])
            number = seq.block_table[place]
            if prefix not in self.known:
                self.blocks[number].prefix = prefix
                self.known[prefix] = number

    def release(self, seq: Sequence) -> None:
        """Take all its blocks back."""
        for number in reversed(seq.block_table):
            self.blocks[number].ref_count -= 1
            if self.blocks[number].ref_count == 0:
                self.free_block_ids.append(number)
        seq.block_table = []
        seq.num_cached_tokens = 0


class Scheduler:
    """Two queues and a pool."""

    def __init__(self, config: Config | Any) -> None:
        self.config = config
        self.block_manager = BlockManager(config.num_kvcache_blocks, config.kvcache_block_size)
        self.waiting: deque[Sequence] = deque()
        self.running: deque[Sequence] = deque()

    def add(self, seq: Sequence) -> None:
        """To the back of the queue."""
        self.waiting.append(seq)

    def schedule(self) -> tuple[list[Sequence], bool]:
        """Who is served, and whether these are prefills."""
        batch = self.prefills()
        if batch:
            return batch, True
        return self.decodes(), False

    def prefills(self) -> list[Sequence]:
        """Who can be let in."""
        batch: list[Sequence] = []
        tokens = 0
        while self.waiting and len(batch) < self.config.max_num_seqs:
            seq = self.waiting[0]
            if tokens + len(seq) > self.config.max_num_batched_tokens:
                break
            if not self.block_manager.allocate(seq):
                break
            self.waiting.popleft()
            seq.status = Status.RUNNING
            self.running.append(seq)
            tokens += len(seq) - seq.num_cached_tokens
            batch.append(seq)
        return batch

    def decodes(self) -> list[Sequence]:
        """Who can go on, from the first to come; the last gives way."""
        batch: list[Sequence] = []
        for seq in list(self.running):
            if seq not in self.running or len(batch) == self.config.max_num_seqs:
                continue
            while not self.block_manager.grow(seq):
                victim = self.running[-1]
                self.preempt(victim)
                if victim is seq:
                    break
            else:
                batch.append(seq)
        return batch

    def preempt(self, seq: Sequence) -> None:
        """Back to the head of the queue; all of it is computed again."""
        self.running.remove(seq)
        self.block_manager.release(seq)
        seq.status = Status.WAITING
        self.waiting.appendleft(seq)

    def postprocess(self, batch: list[Sequence], token_ids: list[int]) -> None:
        """Take the tokens, and end who has all of them."""
        for seq, token in zip(batch, token_ids, strict=True):
            self.block_manager.computed(seq)
            seq.token_ids.append(token)
            if len(seq) - seq.num_prompt_tokens >= seq.max_tokens:
                self.running.remove(seq)
                self.block_manager.release(seq)
                seq.status = Status.FINISHED
