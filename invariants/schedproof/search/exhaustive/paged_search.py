"""The same search for a scheduler that keeps decision and result apart.

Rules.
1. The actions are: enqueue any kind of the next slot, under an id of its own or, while steps are
   in flight, that of somebody who has ended; decide a step while fewer are in flight than may be;
   deliver the oldest; and abort anybody who is not finished.
2. In every state the abort of each finished request is tried as well, and must change nothing.
3. States are told apart by all that the scheduler stores, by what lies in the blocks, and by what
   the claims remember. Who wrote what lies there is not part of it: only the telling uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from schedproof.search.exhaustive.batch_search import BatchSearch
from schedproof.search.exhaustive.scopes import Scope
from schedproof.subjects.actions import DELIVER, STEP, Action
from schedproof.subjects.observation import Observation


class PagedSearch(BatchSearch):
    """One search of one scope with one paged scheduler."""

    @staticmethod
    def _all_enqueues(scope: Scope) -> list[list[Any]]:
        return [
            [kind.engine_enqueue(slot, reuses) for reuses in (None, *range(slot)) for kind in kinds]
            for slot, kinds in enumerate(scope.slots)
        ]

    @staticmethod
    def _onward(seen: Observation) -> Action:
        return DELIVER if seen.in_flight else STEP

    def _possible(self, mark: Any) -> Iterator[Action]:
        slot = len(mark.known)
        if slot < len(self._enqueues):
            again = set(mark.free_names) if mark.in_flight else set[int]()
            for enqueue in self._enqueues[slot]:
                if enqueue.reuses is None or enqueue.reuses in again:
                    yield enqueue
        live = mark.live
        if live and mark.in_flight < self._scope.in_flight:
            yield STEP
        if mark.in_flight:
            yield DELIVER
        for request_id in live:
            yield self._aborts[request_id]

    def _try_idle(self, mark: Any, seen: Observation, index: int) -> None:
        ended: list[int] = mark.free_names
        aborts = [self._aborts[request_id] for request_id in ended]
        for abort in aborts:
            self._subject.do(abort)
        if aborts and self._subject.mark() != mark:
            for abort in aborts:
                self._judged(mark, seen, index, abort)
        elif aborts:
            self._judge.count("ABORT-1")
