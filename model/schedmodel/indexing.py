"""Requests in order, so that the next one is found without asking all of them.

Rules.
1. `Holders` have their blocks and are all admissible. A victim is looked for by size: a
   tournament over sizes knows the weakest preemptible holder of at least so many blocks.
2. `Waiting` are those without blocks, in lanes: by phase and cache hit, those with a deadline
   under deadline by priority. Who in a lane is admissible, of the highest rank that can be?
   The most urgent one of all tells the largest victim that anybody may hope for. Whoever needs
   more than that and the free blocks is left out, the most urgent one of the rest is asked
   again, and so on: each round leaves a size of the holders behind.
3. Those of a lane before whom nobody was admissible need not be asked again at clock values of
   the same remainder by the interval, until somebody comes or blocks change hands: ranks move
   alike. But not that of the request that is served: it stands beside the victims and is asked
   apart, and when another one is served it joins them and the remainders it spoils are
   forgotten.
4. Requests larger than the pool are in neither: they are never served.

Cost. With n unfinished requests, i the aging interval (1 under the other policies), p the
number of lanes (at most 4, under deadline 4 and the number of distinct priorities) and h the
number of distinct sizes held: to find the first holder and to move a request cost
O(i + log n), to find who waits and is admissible O(p * (h + i) * log n) at worst, of which h
is the number of rounds and rarely more than 2; by rule 3 it is seldom asked again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from schedmodel.choice import Choice
from schedmodel.policy import Key
from schedmodel.request import RequestState
from schedmodel.shelves import Entry, LiveHeap, Shelves, Tournament
from schedmodel.sorting import Sorting


class Victims(Tournament):
    """Preemptible holders by weakness; a shelf for each size, with a heap for each remainder."""

    __slots__ = ("_heaps", "_interval", "_place_of")

    def __init__(self, interval: int) -> None:
        super().__init__()
        self._interval = interval
        self._heaps: dict[int, dict[int, LiveHeap]] = {}
        self._place_of: dict[int, tuple[int, int]] = {}

    def place(self, number: int, blocks: int, weakness: int) -> None:
        """Put a holder where it belongs, from wherever it was before."""
        remainder = weakness % self._interval
        before = self._place_of.get(number)
        if before is not None and before[1] != remainder:
            self._drop(number, *before)
        self._place_of[number] = blocks, remainder
        heaps = self._heaps.setdefault(blocks, {})
        if remainder not in heaps:
            heaps[remainder] = LiveHeap()
        heaps[remainder].put(number, weakness)
        self.put(blocks, min(self.firsts(blocks)))

    def remove(self, number: int) -> None:
        """Take a holder away, if it is here."""
        place = self._place_of.pop(number, None)
        if place is not None:
            self._drop(number, *place)
            self.put(place[0], min(self.firsts(place[0]), default=None))

    def _drop(self, number: int, blocks: int, remainder: int) -> None:
        heaps = self._heaps[blocks]
        heaps[remainder].drop(number)
        if heaps[remainder].least() is None:
            del heaps[remainder]

    def firsts(self, blocks: int) -> list[Entry]:
        """The weakest of a size, one for each remainder."""
        return [entry for h in self._heaps[blocks].values() if (entry := h.least()) is not None]


class Holders:
    """The requests that hold blocks: who of them is first, and who the next victim."""

    def __init__(self, sorting: Sorting, requests: dict[int, Any]) -> None:
        self._sorting, self._requests = sorting, requests
        self._order = Shelves()
        self._victims = Victims(sorting.interval)
        self._moved: set[int] = set()
        """Preemptible holders that are not yet where they belong among the victims."""
        self._served: RequestState | None = None
        """Who was served last: often it is served again, so it stands beside the order."""
        self.beside: RequestState | None = None
        """The same, if its rank changes and it is preemptible: it is not among the victims."""

    def place(self, request: RequestState, newcomer: bool) -> RequestState | None:
        """Put a holder that was just served, or is new, where it belongs now.

        Answers who stood beside the victims and has joined them.
        """
        before, joined = self._served, None
        if before is not request:
            joined = self._stand_aside(request, before)
        if request.preemptible and newcomer:
            self._moved.add(request.request_id)
        return joined

    def _stand_aside(
        self, request: RequestState, before: RequestState | None
    ) -> RequestState | None:
        sorting, number, joined = self._sorting, request.request_id, self.beside
        if before is not None:
            shelf, order = sorting.shelf(before), sorting.order(before)
            self._order.place(before.request_id, shelf, order)
        self._order.remove(number)
        self._served = request
        if sorting.policy.ages:
            if joined is not None:
                self._moved.add(joined.request_id)
            if request.preemptible:
                self._moved.add(number)
                self.beside = request
            else:
                self.beside = None
        return joined

    def _settled(self) -> Victims:
        victims, beside = self._victims, self.beside
        while self._moved:
            request = self._requests[self._moved.pop()]
            number = request.request_id
            if request is beside:
                victims.remove(number)
            else:
                victims.place(number, request.required_blocks, self._sorting.weakness(request))
        return victims

    def remove(self, number: int) -> None:
        if self._served is not None and self._served.request_id == number:
            self._served = self.beside = None
        else:
            self._order.remove(number)
        self._victims.remove(number)
        self._moved.discard(number)

    def first(self, split: int) -> tuple[Key, int] | None:
        """The holder with the least key: that key, and its id."""
        order, sorting, served = self._order, self._sorting, self._served
        first = None
        if served is not None:
            first = sorting.key_now(served), served.request_id
        entry = order.least()
        if entry is None:
            return first
        shelf = order.shelf_of(entry[1])
        other = sorting.key(entry[0], shelf, split), entry[1]
        if first is None or other < first:
            first = other
        if shelf >= split:
            return first  # the clock has moved these ahead, or the others back
        entry = order.least_from(split)
        if entry is not None:
            other = sorting.key(entry[0], split, split), entry[1]
            if other < first:
                return other
        return first

    def most_below(self, rank: int) -> int:
        """The most blocks that one victim of a lower rank has."""
        sorting, beside = self._sorting, self.beside
        most = self._settled().last_below((sorting.least_of(rank),)) or 0
        if beside is not None and beside.required_blocks > most and self.rank_beside() < rank:
            return beside.required_blocks
        return most

    def rank_beside(self) -> int:
        """The rank of who stands beside the victims."""
        return self._sorting.rank(self._sorting.weakness(self.beside))

    def victim(self, missing: int) -> RequestState:
        """Who gives up at least so many blocks: the weakest, the largest, the lowest id."""
        victims, sorting, beside = self._settled(), self._sorting, self.beside
        places: list[tuple[int, int, int]] = []
        weakest = victims.least_from(missing)
        if weakest is not None:
            rank = sorting.rank(weakest[0])
            most = victims.last_below((sorting.least_of(rank + 1),)) or 0
            equal = [number for w, number in victims.firsts(most) if sorting.rank(w) == rank]
            places.append((rank, -most, min(equal)))
        if beside is not None and beside.required_blocks >= missing:
            places.append((self.rank_beside(), -beside.required_blocks, beside.request_id))
        chosen: RequestState = self._requests[min(places)[2]]
        return chosen


class Lane:
    """Waiting requests of one lane, by the size of what they need."""

    __slots__ = ("_asked", "_by_weakness", "_found", "_rest", "_since", "head", "shelves")

    def __init__(self, head: Key | None) -> None:
        self.head = head
        """What stands before the effective priority in all keys of the lane, if that is known."""
        self._rest: dict[int, Entry | None] = {}
        self._since = -1
        self.shelves: dict[int, Shelves] = {}
        self._by_weakness = Shelves()
        self._asked = -1
        self._found: Entry | None = None

    def rest(self, remainder: int, changes: int) -> Entry | None:
        """The most urgent one that may be admissible at this remainder; None: nobody may be."""
        if self._since == changes and remainder in self._rest:
            return self._rest[remainder]
        return self.most_urgent()

    def give_up(self, remainder: int, changes: int, rest: Entry | None) -> None:
        """Nobody who is more urgent is admissible at this remainder until something changes."""
        if self._since != changes:
            self._since = changes
            self._rest.clear()
        self._rest[remainder] = rest

    def hope_again(self, blocks: int, weakness: int, interval: int) -> None:
        """A victim joined; whoever fits into so many blocks may take its place."""
        first = self.most_urgent_within(blocks) if self._rest else None
        if first is not None and -first[0] > weakness:
            self._rest = {
                remainder: rest
                for remainder, rest in self._rest.items()
                if (remainder - first[0]) // interval <= (remainder + weakness) // interval
            }

    def place(self, request: RequestState, sorting: Sorting) -> None:
        number, blocks = request.request_id, request.required_blocks
        shelf = sorting.shelf(request)
        if shelf not in self.shelves:
            self.shelves[shelf] = Shelves()
        self.shelves[shelf].place(number, blocks, sorting.order(request))
        self._by_weakness.place(number, blocks, -sorting.weakness(request))
        self._asked = -1

    def remove(self, number: int, shelf: int) -> bool:
        """Whether the lane is empty now."""
        self.shelves[shelf].remove(number)
        if not len(self.shelves[shelf]):
            del self.shelves[shelf]
        self._by_weakness.remove(number)
        self._asked = -1
        return not self.shelves

    def most_urgent(self) -> Entry:
        """Minus the weakness of the most urgent one, and its id."""
        first = self._by_weakness.least()
        assert first is not None
        return first

    def most_urgent_within(self, blocks: int) -> Entry | None:
        """The same of those who need at most so many blocks; the last answer is kept."""
        if blocks != self._asked:
            self._found = self._by_weakness.least_up_to(blocks)
            self._asked = blocks
        return self._found

    def first_within(self, blocks: int, split: int, sorting: Sorting) -> tuple[Key, int]:
        """Key and id of the first who needs at most so many blocks; there must be one."""
        return min(
            (sorting.key(first[0], shelf, split), first[1])
            for shelf, by_size in self.shelves.items()
            if (first := by_size.least_up_to(blocks)) is not None
        )

    def first(self, split: int, sorting: Sorting) -> tuple[Key, int]:
        """Key and id of the first of all."""
        return min(
            (sorting.key(first[0], shelf, split), first[1])
            for shelf, by_size in self.shelves.items()
            if (first := by_size.least()) is not None
        )


class Waiting:
    """The requests without blocks that fit the pool, and whom of them a step may serve."""

    def __init__(self, sorting: Sorting, requests: dict[int, Any], holders: Holders) -> None:
        self._sorting, self._requests, self._holders = sorting, requests, holders
        self._lanes: dict[Hashable, Lane] = {}
        self._place_of: dict[int, tuple[Hashable, int]] = {}
        self.changes = 0
        """Counts whatever may make somebody admissible who was not, but for the clock."""
        self._free = 0

    def place(self, request: RequestState) -> None:
        """Take in a request; its number is not here yet."""
        name = self._sorting.lane(request)
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = Lane(self._sorting.head(request))
        lane.place(request, self._sorting)
        self._place_of[request.request_id] = name, self._sorting.shelf(request)

    def remove(self, number: int) -> None:
        name, shelf = self._place_of.pop(number)
        if self._lanes[name].remove(number, shelf):
            del self._lanes[name]

    def choose(self, free: int) -> Choice | None:
        """Whom a step serves, and the victim."""
        split, self._free = self._sorting.split(), free
        holder = self._holders.first(split)
        chosen = None
        if self._lanes:
            bound = None if holder is None else holder[0]
            find = self._first_of_all if self._sorting.policy.reserves else self._first_admissible
            chosen = find(free, bound, split)
        if chosen is None:
            return None if holder is None else (self._requests[holder[1]], None)
        request = self._requests[chosen]
        missing = request.required_blocks - free
        return request, None if missing <= 0 else self._holders.victim(missing)

    def _first_of_all(self, free: int, bound: Key | None, split: int) -> int | None:
        """The first of all, if it comes before `bound` and is admissible; it reserves if not."""
        key, number = min(lane.first(split, self._sorting) for lane in self._lanes.values())
        if bound is not None and key > bound:
            return None
        most = self._holders.most_below(self._sorting.rank_in(key))
        return number if self._requests[number].required_blocks <= free + most else None

    def _first_admissible(self, free: int, bound: Key | None, split: int) -> int | None:
        """The first admissible one that comes before `bound`."""
        found, sorting, beside = None, self._sorting, self._holders.beside
        remainder, interval = sorting.remainder(), sorting.interval
        blocks = rank_beside = 0
        if beside is not None:
            blocks, rank_beside = free + beside.required_blocks, self._holders.rank_beside()
        for lane in self._lanes.values():
            if self._all_after(bound, lane, split):
                continue
            asked = lane.rest(remainder, self.changes)
            if beside is not None:
                fits = lane.most_urgent_within(blocks)
                if fits is not None and (remainder - fits[0]) // interval > rank_beside:
                    asked = lane.most_urgent()
            if asked is None:
                continue
            within = self._admissible_within(lane, asked, free, bound)
            if within is not None:
                first = lane.first_within(within, split, sorting)
                if bound is None or first[0] < bound:
                    bound, found = first
        return found

    def joined(self, victim: RequestState) -> None:
        """A holder that stood beside the victims is one of them again."""
        sorting, blocks = self._sorting, self._free + victim.required_blocks
        for lane in self._lanes.values():
            lane.hope_again(blocks, sorting.weakness(victim), sorting.interval)

    def _all_after(self, bound: Key | None, lane: Lane, split: int) -> bool:
        """Whether all of a lane come after `bound`; under aging that is asked by rank."""
        if bound is None or self._sorting.policy.ages:
            return False
        return lane.first(split, self._sorting)[0] > bound

    def _admissible_within(
        self, lane: Lane, asked: Entry, free: int, bound: Key | None
    ) -> int | None:
        """The most blocks that the admissible ones of highest rank need at most, from `asked` on.

        None if nobody is admissible, or all who are come after `bound`.
        """
        sorting = self._sorting
        entry: Entry | None = asked
        while entry is not None:
            rank = sorting.rank(-entry[0])
            if bound is not None and lane.head is not None and (*lane.head, -rank) > bound:
                break
            within = free + self._holders.most_below(rank)
            if self._requests[entry[1]].required_blocks <= within:
                return within
            entry = lane.most_urgent_within(within)
        lane.give_up(sorting.remainder(), self.changes, entry)
        return None
