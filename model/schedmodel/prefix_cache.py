"""Blocks that remember what they hold, so that a prompt which begins alike need not be computed.

Rules.
1. A block is known by all tokens from the first one up to its last: what lies in it depends on
   everything before it. It becomes known when all of its tokens are computed, not before.
2. Who is admitted shares the known blocks that its own tokens begin with, never all of them: at
   least its last token is computed, because the next one follows from that.
3. A block that nobody holds any more is free, and stays known until it is handed out again.
   Blocks go out in the order in which they became free, so the ones in use stay known longest.
4. A shared block is full. Nobody ever writes into it again, so nothing has to be copied.
5. What can be granted is asked in exactly the numbers in which it is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Prefix = tuple[int, ...]


class Holder(Protocol):
    """What the pool needs of a request.

    `computed_len` tokens lie in its blocks; `cached_len` of them were found there.
    """

    block_ids: list[int]
    token_ids: list[int]
    computed_len: int
    cached_len: int


class CachingPool:
    """Blocks of `block_size` tokens by number: free or held, and what those that are known hold.

    `references` counts the holders of each block; of `free_ids` the first goes first. `known`
    finds a block by its prefix, `prefixes` has the prefix of each block that is known, else None.
    """

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.block_size = block_size
        self.free_ids = list(range(num_blocks))
        self.references = [0] * num_blocks
        self.known: dict[Prefix, int] = {}
        self.prefixes: list[Prefix | None] = [None] * num_blocks

    def blocks_for(self, tokens: int) -> int:
        """Blocks that so many tokens take."""
        return -(-tokens // self.block_size)

    # -- what the lifecycle asks and does -------------------------------------

    def can_grant(self, request: Holder) -> bool:
        """Whether what all its tokens take is free, beside what somebody holds already."""
        found = self.found(request.token_ids)
        unheld = sum(self.references[block_id] == 0 for block_id in found)
        taken = self.blocks_for(len(request.token_ids)) - len(found)
        return taken + unheld <= len(self.free_ids)

    def grant(self, request: Holder) -> None:
        found = self.found(request.token_ids)
        for block_id in found:
            self._share(block_id)
            request.block_ids.append(block_id)
        for _ in range(self.blocks_for(len(request.token_ids)) - len(found)):
            request.block_ids.append(self._take())
        request.cached_len = len(found) * self.block_size

    def can_grow(self, request: Holder) -> bool:
        return len(self.free_ids) > 0

    def grow(self, request: Holder) -> None:
        request.block_ids.append(self._take())

    def take_back(self, request: Holder) -> None:
        """The last block first: it is of the least use to others."""
        for block_id in reversed(request.block_ids):
            self._release(block_id)
        request.block_ids.clear()

    # -- what is known ----------------------------------------------------------

    def found(self, token_ids: Sequence[int]) -> list[int]:
        """The known blocks that these tokens begin with, without the last token."""
        blocks: list[int] = []
        for end in range(self.block_size, len(token_ids), self.block_size):
            block_id = self.known.get(tuple(token_ids[:end]))
            if block_id is None:
                break
            blocks.append(block_id)
        return blocks

    def remember(self, request: Holder) -> None:
        """Make known what has been computed; the first who computed a prefix stays."""
        full = request.computed_len // self.block_size
        for place in range(full):
            block_id = request.block_ids[place]
            prefix = tuple(request.token_ids[: (place + 1) * self.block_size])
            if self.prefixes[block_id] is None and prefix not in self.known:
                self.known[prefix] = block_id
                self.prefixes[block_id] = prefix

    # -- one block --------------------------------------------------------------

    def _share(self, block_id: int) -> None:
        if self.references[block_id] == 0:
            self.free_ids.remove(block_id)
        self.references[block_id] += 1

    def _take(self) -> int:
        """A free block; what it held is forgotten."""
        block_id = self.free_ids.pop(0)
        prefix = self.prefixes[block_id]
        if prefix is not None:
            del self.known[prefix]
            self.prefixes[block_id] = None
        self.references[block_id] = 1
        return block_id

    def _release(self, block_id: int) -> None:
        self.references[block_id] -= 1
        if self.references[block_id] == 0:
            self.free_ids.append(block_id)
