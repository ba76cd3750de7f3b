"""The forward pass, played: who wrote which slot of the cache, and what is read again.

Rules.
1. A slot is a place for one token in a block. Computing a token writes "the prefix that this
   slot was computed for" into its slot, as a number that stands for all tokens up to it.
2. All of a step is written before anything is read: in each layer an engine stores the keys and
   values of the whole batch, then attends.
3. A request attends to every position from 0 up to the end of its span, and each of them must
   hold the request's own prefix, whoever computed it.
4. The next token follows from the prefix alone. So scheduling can change when a token comes,
   and never which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from schedproof.engines.adapter import Work
from schedproof.subjects.observation import Foreign

_MANY = 2**64 - 1
START = 0x9E3779B97F4A7C15
EMPTY, SPOILT = 0, -1


def extended(prefix: int, token: int) -> int:
    """The number that stands for a prefix and one more token."""
    mixed = (prefix ^ (token + 1)) * 0xBF58476D1CE4E5B9 & _MANY
    return (mixed ^ (mixed >> 29)) or 1


def next_token(prefix: int) -> int:
    """The token that follows on a prefix: 0, and 1 once in four."""
    return 1 if prefix >> 17 & 3 == 0 else 0


@lru_cache(maxsize=1 << 14)
def prefixes_of(ids: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers that stand for all prefixes; searches that go back ask for the same ones."""
    return tuple(Tokens(ids).prefixes)


class Tokens:
    """A request's tokens, and the number that stands for each prefix of them."""

    def __init__(self, prompt: Sequence[int]) -> None:
        self.prompt_len = len(prompt)
        self.ids: list[int] = []
        self.prefixes: list[int] = []
        for token in prompt:
            self.append(token)

    @classmethod
    def again(cls, prompt_len: int, ids: tuple[int, ...]) -> Tokens:
        """Tokens that were there before."""
        made: Tokens = object.__new__(cls)
        made.prompt_len, made.ids, made.prefixes = prompt_len, list(ids), list(prefixes_of(ids))
        return made

    def append(self, token: int) -> None:
        """Add a token."""
        last = self.prefixes[-1] if self.prefixes else START
        self.ids.append(token)
        self.prefixes.append(extended(last, token))

    def cut(self, output: int) -> None:
        """Keep only so many output tokens."""
        del self.ids[self.prompt_len + output :]
        del self.prefixes[self.prompt_len + output :]

    @property
    def following(self) -> int:
        """The token that must come next."""
        return next_token(self.prefixes[-1])


class Cache:
    """All slots of a pool."""

    def __init__(self, blocks: int, block_size: int) -> None:
        self._size = block_size
        self._slots = [EMPTY] * (blocks * block_size)
        self._writers: list[tuple[int, int] | None] = [None] * (blocks * block_size)

    def copy(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Copy whole blocks, one pair after the other."""
        size = self._size
        for source, target in pairs:
            here, there = slice(source * size, (source + 1) * size), target * size
            self._slots[there : there + size] = self._slots[here]
            self._writers[there : there + size] = self._writers[here]

    def run_for_nobody(self, work: Work, prefixes: Sequence[int]) -> None:
        """Write for a request that is gone; what follows on tokens that were dropped is spoilt."""
        for position in range(work.start, work.end):
            index, offset = divmod(position, self._size)
            if index < len(work.blocks):
                slot = work.blocks[index] * self._size + offset
                known = position < len(prefixes)
                self._slots[slot] = prefixes[position] if known else SPOILT
                self._writers[slot] = (work.request_id, position)

    def taken_down(self) -> tuple[tuple[int, ...], tuple[tuple[int, int] | None, ...]]:
        """What lies in all slots, and who wrote it."""
        return tuple(self._slots), tuple(self._writers)

    def write_back(self, slots: Sequence[int], writers: Sequence[tuple[int, int] | None]) -> None:
        """Have lie there just that again."""
        self._slots, self._writers = list(slots), list(writers)

    def run(
        self, batch: Sequence[Work], tokens: Mapping[int, Tokens]
    ) -> tuple[int, Foreign | None]:
        """Play one step: how many positions were read, and the first that was wrong."""
        wrong: Foreign | None = None
        for work in batch:
            wrong = self._write(work, tokens[work.request_id].prefixes) or wrong
        if wrong is not None:
            return 0, wrong
        attended = 0
        for work in batch:
            foreign = self._read(work, tokens[work.request_id].prefixes)
            if foreign is not None:
                return attended, foreign
            attended += work.end
        return attended, None

    def _write(self, work: Work, prefixes: list[int]) -> Foreign | None:
        request_id, start, end, blocks = work
        if end > len(prefixes):
            return Foreign("past_end", request_id, len(prefixes))
        size, slots, writers = self._size, self._slots, self._writers
        for position in range(start, end):
            index, offset = divmod(position, size)
            if index >= len(blocks):
                return Foreign("no_block", request_id, position)
            slot = blocks[index] * size + offset
            slots[slot] = prefixes[position]
            writers[slot] = (request_id, position)
        return None

    def _read(self, work: Work, prefixes: list[int]) -> Foreign | None:
        request_id, _, end, blocks = work
        size, slots = self._size, self._slots
        for first in range(0, end, size):
            index = first // size
            if index >= len(blocks):
                return Foreign("no_block", request_id, first)
            last = min(first + size, end)
            place = blocks[index] * size
            if slots[place : place + last - first] != prefixes[first:last]:
                return self._wrong(request_id, first, last, blocks[index], prefixes)
        return None

    def _wrong(
        self, request_id: int, first: int, last: int, block: int, prefixes: list[int]
    ) -> Foreign:
        """The first position of a block that holds something else."""
        place = block * self._size
        position = next(
            p for p in range(first, last) if self._slots[place + p - first] != prefixes[p]
        )
        offset = position - first
        writer = self._writers[place + offset]
        if writer is None:
            return Foreign("empty", request_id, position, block, offset)
        return Foreign("foreign", request_id, position, block, offset, *writer)
