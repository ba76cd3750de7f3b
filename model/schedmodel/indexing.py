"""Requests in order, so that the next one is found without asking all of them.

Rules.
1. What is stored of a request changes only when the request is served, admitted or
   preempted: `weakness`, `shelf`, `order`. The clock then says what these come to now.
2. Under aging the effective priority is (clock + weakness) // interval, weakness being
   priority * interval less the clock value since which it waits. Of two requests on one
   shelf, those of equal remainders, the order never changes with the clock; those on shelves
   from `split` on have passed a multiple of the interval more than the others. Under
   deadline the requests with a deadline are one shelf and the others another one.
3. Requests are compared by what the clock adds to one shelf and not to another; what it adds
   to all alike is left out (`Sorting.key`, `Sorting.rank`).
4. `Holders` have their blocks and are all admissible. A victim is looked for by size: a
   tournament over sizes knows the weakest preemptible holder of at least so many blocks.
5. `Waiting` are those without blocks, in lanes: by phase and cache hit, those with a deadline
   under deadline by priority. Who in a lane is admissible, of the highest rank that can be?
   The most urgent one of all tells the largest victim that anybody may hope for. Whoever needs
   more than that and the free blocks is left out, the most urgent one of the rest is asked
   again, and so on: each round leaves a size of the holders behind.
6. Requests larger than the pool are in neither: they are never served.

Cost. With n unfinished requests, i the aging interval (1 under the other policies), p the
number of lanes (at most 4, under deadline 4 and the number of distinct priorities) and h the
number of distinct sizes held: to find the first holder and to move a request cost
O(i + log n), to find who waits and is admissible O(p * (h + i) * log n) at worst, of which h
is the number of rounds and rarely more than 2. Without aging, a lane in which nobody is
admissible is not searched again until somebody comes or blocks change hands.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from schedmodel.choice import Choice
from schedmodel.policy import Key, Policy
from schedmodel.request import RequestState
from schedmodel.shelves import Entry, LiveHeap, Shelves, Tournament

RANK = "-effective_priority"


class Ticks:
    """The clock that a scheduler shares with its requests, and whether one was assigned to.

    All are equal: what the clock says is the scheduler's to tell, a request only reads it.
    """

    __slots__ = ("assigned", "now")

    def __init__(self) -> None:
        self.now = 0
        self.assigned = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ticks)

    def __hash__(self) -> int:
        return hash(Ticks)


class Sorting:
    """Where requests stand under a policy, in values that time does not change."""

    def __init__(self, policy: Policy, ticks: Ticks) -> None:
        self.policy, self._ticks = policy, ticks
        self.interval = policy.aging_interval if policy.ages else 1
        self._column = policy.columns.index(RANK) if RANK in policy.columns else None

    def weakness(self, request: RequestState) -> int:
        """The lower, the lower is the effective priority, at all times."""
        if not self.policy.ages:
            return self.policy.effective_priority(request)
        since = self._ticks.now - request.wait_steps
        return request.priority * self.interval - since

    def shelf(self, request: RequestState) -> int:
        """Requests of one shelf keep their order."""
        if self.policy.ages:
            return self.weakness(request) % self.interval
        return int(self.has_slack(request))

    def has_slack(self, request: RequestState) -> bool:
        return self.policy.by_slack and request.deadline_step is not None

    def lane(self, request: RequestState) -> Hashable:
        """Within a lane and a shelf nobody has a higher rank than those before it."""
        if self.has_slack(request):
            return request.priority
        return request.phase, request.cache_hit

    def order(self, request: RequestState) -> Key:
        """The key that the request would have at clock 0, had it come as long before that."""
        ticks = self._ticks
        now, ticks.now = ticks.now, 0
        try:
            return self.policy.key(request, 0)
        finally:
            ticks.now = now

    def head(self, request: RequestState) -> Key | None:
        """What stands before the effective priority in the key, if time does not change it."""
        if self._column is None or self.policy.by_slack:
            return None
        return self.order(request)[: self._column]

    def split(self) -> int:
        """The first shelf for which the clock has moved something that others wait for."""
        return self.interval - self._ticks.now % self.interval if self.policy.ages else 1

    def key(self, order: Key, shelf: int, split: int) -> Key:
        """The key now, less what the clock adds to all alike."""
        if self.policy.ages and shelf >= split:
            column = self._column or 0
            return (*order[:column], order[column] - 1, *order[column + 1 :])
        if self.policy.by_slack and not shelf:
            return (order[0] + self._ticks.now, *order[1:])
        return order

    def rank_in(self, key: Key) -> int:
        """The effective priority in such a key, less what the clock adds to all alike."""
        return 0 if self._column is None else -key[self._column]

    def rank(self, weakness: int) -> int:
        """The effective priority of that weakness, less what the clock adds to all alike."""
        return (self._ticks.now % self.interval + weakness) // self.interval

    def least_of(self, rank: int) -> int:
        """The least weakness that has this rank now."""
        return rank * self.interval - self._ticks.now % self.interval


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

    def place(self, request: RequestState, newcomer: bool) -> None:
        """Put a holder that was just served, or is new, where it belongs now."""
        number, sorting, before = request.request_id, self._sorting, self._served
        if before is not request:
            if before is not None:
                shelf, order = sorting.shelf(before), sorting.order(before)
                self._order.place(before.request_id, shelf, order)
            self._order.remove(number)
            self._served = request
        if request.preemptible and (newcomer or sorting.policy.ages):
            self._moved.add(number)

    def remove(self, number: int) -> None:
        if self._served is not None and self._served.request_id == number:
            self._served = None
        else:
            self._order.remove(number)
        self._victims.remove(number)
        self._moved.discard(number)

    def first(self, split: int) -> tuple[Key, int] | None:
        """The holder with the least key: that key, and its id."""
        order, sorting, served = self._order, self._sorting, self._served
        first = None
        if served is not None:
            shelf, its_order = sorting.shelf(served), sorting.order(served)
            first = sorting.key(its_order, shelf, split), served.request_id
        if not len(order):
            return first
        before, after = order.least_up_to(split - 1), order.least_from(split)
        for entry, shelf in ((before, 0), (after, split)):
            if entry is not None:
                other = sorting.key(entry[0], shelf, split), entry[1]
                if first is None or other < first:
                    first = other
        return first

    def _settled(self) -> Victims:
        while self._moved:
            request = self._requests[self._moved.pop()]
            weakness = self._sorting.weakness(request)
            self._victims.place(request.request_id, request.required_blocks, weakness)
        return self._victims

    def most_below(self, rank: int) -> int:
        """The most blocks that one victim of a lower rank has."""
        return self._settled().last_below((self._sorting.least_of(rank),)) or 0

    def victim(self, missing: int) -> RequestState:
        """Who gives up at least so many blocks: the weakest, the largest, the lowest id."""
        victims, sorting = self._settled(), self._sorting
        weakest = victims.least_from(missing)
        assert weakest is not None
        rank = sorting.rank(weakest[0])
        firsts = victims.firsts(self.most_below(rank + 1))
        chosen: RequestState = self._requests[min(n for w, n in firsts if sorting.rank(w) == rank)]
        return chosen


class Lane:
    """Waiting requests of one lane, by the size of what they need."""

    __slots__ = ("_asked", "_by_weakness", "_found", "head", "hopeless_since", "shelves")

    def __init__(self, head: Key | None) -> None:
        self.head = head
        """What stands before the effective priority in all keys of the lane, if that is known."""
        self.hopeless_since = -1
        self.shelves: dict[int, Shelves] = {}
        self._by_weakness = Shelves()
        self._asked = -1
        self._found: Entry | None = None

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
        """Counts whatever may make somebody admissible who was not, without aging."""

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
        split = self._sorting.split()
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
        found = None
        for lane in self._lanes.values():
            if lane.hopeless_since == self.changes or self._all_after(bound, lane, split):
                continue
            within = self._admissible_within(lane, free, bound)
            if within is not None:
                first = lane.first_within(within, split, self._sorting)
                if bound is None or first[0] < bound:
                    bound, found = first
        return found

    def _all_after(self, bound: Key | None, lane: Lane, split: int) -> bool:
        """Whether all of a lane come after `bound`; under aging that is asked by rank."""
        if bound is None or self._sorting.policy.ages:
            return False
        return lane.first(split, self._sorting)[0] > bound

    def _admissible_within(self, lane: Lane, free: int, bound: Key | None) -> int | None:
        """The most blocks that the admissible ones of highest rank need at most.

        None if nobody is admissible, or all who are come after `bound`.
        """
        sorting = self._sorting
        entry: Entry | None = lane.most_urgent()
        while entry is not None:
            rank = sorting.rank(-entry[0])
            if bound is not None and lane.head is not None and (*lane.head, -rank) > bound:
                return None
            within = free + self._holders.most_below(rank)
            if self._requests[entry[1]].required_blocks <= within:
                return within
            entry = lane.most_urgent_within(within)
        if not sorting.policy.ages:
            lane.hopeless_since = self.changes
        return None
