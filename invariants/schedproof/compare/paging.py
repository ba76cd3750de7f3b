"""Tokens and blocks for simulated requests, of which a trace tells lengths and hashes only.

Rules.
1. What a trace does not tell is different for each request. Of the tokens in a block only the
   last is told apart from others: it stands for all up to it. Where the trace has hashes it
   follows from the hash of the part of the prompt that it lies in, which stands for all before
   it too; everywhere else from the request and the position.
2. So two blocks hold the same exactly if their last tokens are equal, and what a block holds is
   looked up by one number instead of a whole prompt.
3. The pool does what `CachingPool` does, block for block; only finding and freeing take less
   time. A test leads both through the same runs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import cast

from schedmodel.paged import PagedScheduler
from schedmodel.prefix_cache import CachingPool, Holder
from schedproof.compare.workload import Workload

POSITIONS = 2**40
"""More than any request has."""


class Naming:
    """Gives the tokens of a workload's requests their numbers."""

    def __init__(self, workload: Workload) -> None:
        self._trace = workload.trace
        self._size = workload.setup.block_size

    def prompt(self, place: int) -> list[int]:
        """The tokens of a request's prompt."""
        tokens = [0] * self._trace.prompts[place]
        for position in range(self._size - 1, len(tokens), self._size):
            tokens[position] = self.token(place, position)
        return tokens

    def token(self, place: int, position: int) -> int:
        """The token of a request at a position, from 0; 0 where none is told apart."""
        if (position + 1) % self._size:
            return 0
        hashes, part = self._trace.hashes_of(place), self._trace.format.block_tokens
        if position < self._trace.prompts[place] and part and position // part < len(hashes):
            return 2 * (hashes[position // part] * part + position % part) + 2
        return 2 * (place * POSITIONS + position) + 1


class FreeList:
    """Free blocks in the order in which they became free; what is asked of a list takes no time."""

    def __init__(self, num_blocks: int) -> None:
        self._blocks: OrderedDict[int, None] = OrderedDict.fromkeys(range(num_blocks))

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[int]:
        return iter(self._blocks)

    def append(self, block_id: int) -> None:
        """A block became free."""
        self._blocks[block_id] = None

    def remove(self, block_id: int) -> None:
        """A free block is held again."""
        del self._blocks[block_id]

    def pop(self, _first: int) -> int:
        """Hand out the block that has been free for longest."""
        return self._blocks.popitem(last=False)[0]


class NamedBlocks(CachingPool):
    """Blocks that are known by the number of their last token.

    `_known_up_to` has how many blocks of a request, from the first on, are known as its own.
    """

    def __init__(self, num_blocks: int, block_size: int) -> None:
        super().__init__(num_blocks, block_size)
        self.free_ids = cast("list[int]", FreeList(num_blocks))
        self._known_up_to: dict[int, int] = {}

    def found(self, token_ids: Sequence[int]) -> list[int]:
        blocks: list[int] = []
        for end in range(self.block_size, len(token_ids), self.block_size):
            block_id = self.known.get((token_ids[end - 1],))
            if block_id is None:
                break
            blocks.append(block_id)
        return blocks

    def remember(self, request: Holder) -> None:
        full = request.computed_len // self.block_size
        first = self._known_up_to.get(id(request), 0)
        if first >= full:
            return
        known, prefixes, in_order = self.known, self.prefixes, True
        for place in range(first, full):
            block_id = request.block_ids[place]
            if prefixes[block_id] is None:
                prefix = (request.token_ids[(place + 1) * self.block_size - 1],)
                if prefix not in known:
                    known[prefix] = block_id
                    prefixes[block_id] = prefix
            in_order = in_order and prefixes[block_id] is not None
            first += in_order
        self._known_up_to[id(request)] = first

    def take_back(self, request: Holder) -> None:
        self._known_up_to.pop(id(request), None)
        super().take_back(request)


class SimulatedPagedScheduler(PagedScheduler):
    """Our paged scheduler over such blocks."""

    make_pool = NamedBlocks
