"""Where requests stand under a policy, in values that time does not change.

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
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from schedmodel.policy import Key, Policy
from schedmodel.request import RequestState

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

    def weakness(self, request: Any) -> int:
        """The lower, the lower is the effective priority, at all times."""
        if not self.policy.ages:
            return self.policy.effective_priority(request)
        weakness: int = request.priority * self.interval - request._since
        return weakness

    def remainder(self) -> int:
        """Of the clock by the interval; ranks change when it does."""
        return self._ticks.now % self.interval

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

    def key_now(self, request: RequestState) -> Key:
        """What `key` makes of the request's order, in one call of the policy."""
        policy, now = self.policy, self._ticks.now
        key = policy.key(request, now)
        if policy.ages:
            column = self._column or 0
            return (*key[:column], key[column] + now // self.interval, *key[column + 1 :])
        return (key[0] + now, *key[1:]) if policy.by_slack else key

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
