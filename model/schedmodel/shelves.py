"""Heaps on numbered shelves, and a tournament that knows the least entry of any stretch.

Rules.
1. An entry is a pair (rank, id). A heap holds each id once, with the rank that was put
   last. What was put before stays in it as waste, which is thrown out when it comes to the
   top, and when there is more of it than of the rest: so a heap of n ids takes O(n) room,
   and an operation O(log n) time, averaged over all.
2. Each shelf has a heap, whose least entry plays in a tournament. A node of the tournament
   knows the least entry of the shelves below it, so the least of all shelves up to a number,
   or from a number on, costs O(log m), m being the highest number that was ever used.
3. Only shelves with something on them take room.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from typing import Any

Entry = tuple[Any, int]
WASTE = 16
"""So much waste a heap may hold however small it is."""


class LiveHeap:
    """Ids by rank, least first."""

    __slots__ = ("_heap", "_ranks")

    def __init__(self) -> None:
        self._heap: list[Entry] = []
        self._ranks: dict[int, Any] = {}

    def put(self, number: int, rank: Any) -> None:
        """Give an id a rank; it may have had another one."""
        heap, ranks = self._heap, self._ranks
        ranks[number] = rank
        if heap and heap[0][1] == number:
            heapreplace(heap, (rank, number))
        else:
            heappush(heap, (rank, number))
        if len(heap) > 2 * len(ranks) + WASTE:
            heap[:] = [(rank, number) for number, rank in ranks.items()]
            heapify(heap)

    def drop(self, number: int) -> None:
        """Take an id out."""
        del self._ranks[number]

    def least(self) -> Entry | None:
        """The entry of least rank; of equal ranks, the lowest id."""
        heap, ranks = self._heap, self._ranks
        while heap:
            first = heap[0]
            if ranks.get(first[1]) == first[0]:
                return first
            heappop(heap)
        return None


class Tournament:
    """The least entry of every stretch of shelves that begins or ends at an end.

    Node 1 stands for all shelves, nodes 2n and 2n + 1 for the halves of node n.
    """

    __slots__ = ("_leaves", "_winner")

    def __init__(self) -> None:
        self._leaves = 1
        self._winner: dict[int, Entry] = {}

    def put(self, shelf: int, entry: Entry | None) -> None:
        """Say what the least entry of a shelf is; None if it is empty."""
        if shelf >= self._leaves:
            self._make_room(shelf)
        winner, node = self._winner, shelf + self._leaves
        while winner.get(node) is not entry:
            if entry is None:
                del winner[node]
            else:
                winner[node] = entry
            if node == 1:
                break
            other = winner.get(node ^ 1)
            if entry is None or (other is not None and other < entry):
                entry = other
            node >>= 1

    def _make_room(self, shelf: int) -> None:
        leaves, before = self._leaves, self._winner
        self._leaves, self._winner = 1 << shelf.bit_length(), {}
        for node, entry in before.items():
            if node >= leaves:
                self.put(node - leaves, entry)

    def at(self, shelf: int) -> Entry | None:
        return self._winner.get(shelf + self._leaves)

    def least(self) -> Entry | None:
        return self._winner.get(1)

    def least_up_to(self, shelf: int) -> Entry | None:
        """The least entry of the shelves 0 to `shelf`."""
        if shelf < 0:
            return None
        if shelf >= self._leaves:
            return self._winner.get(1)
        return self._least_beside(shelf + self._leaves, 1)

    def least_from(self, shelf: int) -> Entry | None:
        """The least entry of `shelf` and all after it."""
        if shelf >= self._leaves:
            return None
        return self._least_beside(max(shelf, 0) + self._leaves, 0)

    def _least_beside(self, node: int, side: int) -> Entry | None:
        """The least of a leaf and of all leaves to its left (side 1) or right (side 0)."""
        winner = self._winner
        least = winner.get(node)
        while node > 1:
            if node & 1 == side:
                other = winner.get(node ^ 1)
                if other is not None and (least is None or other < least):
                    least = other
            node >>= 1
        return least

    def last_below(self, bound: tuple[Any, ...]) -> int | None:
        """The highest shelf whose least entry is less than `bound`."""
        winner, node = self._winner, 1
        least = winner.get(node)
        if least is None or not least < bound:
            return None
        while node < self._leaves:
            node = 2 * node + 1
            least = winner.get(node)
            if least is None or not least < bound:
                node -= 1
        return node - self._leaves


class Shelves(Tournament):
    """Ids on shelves, each with a rank."""

    __slots__ = ("_heaps", "_shelf_of")

    def __init__(self) -> None:
        super().__init__()
        self._heaps: dict[int, LiveHeap] = {}
        self._shelf_of: dict[int, int] = {}

    def place(self, number: int, shelf: int, rank: Any) -> None:
        """Put an id on a shelf, from wherever it stood before."""
        before = self._shelf_of.get(number)
        if before is not None and before != shelf:
            self._take(number, before)
        self._shelf_of[number] = shelf
        heap = self._heaps.get(shelf)
        if heap is None:
            heap = self._heaps[shelf] = LiveHeap()
        heap.put(number, rank)
        self.put(shelf, heap.least())

    def shelf_of(self, number: int) -> int:
        """Where an id stands."""
        return self._shelf_of[number]

    def remove(self, number: int) -> None:
        """Take an id away, if it is here."""
        shelf = self._shelf_of.pop(number, None)
        if shelf is not None:
            self._take(number, shelf)

    def _take(self, number: int, shelf: int) -> None:
        heap = self._heaps[shelf]
        heap.drop(number)
        least = heap.least()
        self.put(shelf, least)
        if least is None:
            del self._heaps[shelf]

    def __len__(self) -> int:
        return len(self._shelf_of)
