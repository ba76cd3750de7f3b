"""What states have in common that differ in their clock and their finished requests alone.

Rules.
1. A situation is the free blocks, the scheduler's further attributes, the unfinished requests,
   the ids of the others, and the clock where requests have deadlines. What can be done in a
   state depends on nothing else, so it is worked out once for each situation.
2. A view is a situation without those ids: what claims are shown before an action. `View.led`
   is what the first step from it led to, and how that was judged.
3. Nothing here says what a scheduler does: it is called in every state all the same, and what
   it did there is read and compared. What is kept only saves asking a question twice.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from schedproof.claims.judge import Found
from schedproof.search.exhaustive.scopes import Scope
from schedproof.search.exhaustive.space import CLOCK, EXTRAS, FREE, ROWS, Extras, State
from schedproof.subjects.observation import Row


class Entry:
    """How an edge was judged: as in `Judgement`, whether it drains, and how often it came up."""

    __slots__ = ("broken", "drains", "exercised", "hits")

    def __init__(self, exercised: int, broken: tuple[Found, ...], drains: bool) -> None:
        self.exercised, self.broken, self.drains = exercised, broken, drains
        self.hits = 0

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the claims that the edge breaks."""
        return tuple(claim.id for claim, _ in self.broken)


class Led(Entry):
    """What a step led to: its report, the rows that stand for those in view, and the rest.

    A log that was not kept, and a change of a request out of view, is never among it.
    """

    __slots__ = ("event", "extras", "free", "rows", "ticks")

    def __init__(
        self,
        entry: Entry,
        event: dict[str, Any] | None,
        rows: tuple[Row, ...],
        free: int,
        ticks: int,
        extras: Extras,
    ) -> None:
        super().__init__(entry.exercised, entry.broken, entry.drains)
        self.event, self.rows = event, rows
        self.free, self.ticks, self.extras = free, ticks, extras


class View:
    """All states that look the same to claims, before an action."""

    __slots__ = ("led",)

    def __init__(self) -> None:
        self.led: Led | None = None


class Situation:
    """`codes` of the enqueues that are possible, `places` of the rows in view.

    `works` tells whether any request is unfinished, `probed` whether refused calls were tried.
    """

    __slots__ = ("codes", "places", "probed", "view", "works")

    def __init__(
        self, codes: tuple[int, ...], places: tuple[int, ...], works: bool, view: View
    ) -> None:
        self.codes, self.places, self.works, self.view = codes, places, works, view
        self.probed = False


class Situations:
    """The situations of a scope. `in_id_order` allows the least unused id only."""

    def __init__(self, scope: Scope, in_id_order: bool) -> None:
        self._scope = scope
        self._timed = scope.timed
        self._in_id_order = in_id_order
        self._places_of_kinds = {kind: place for place, kind in enumerate(scope.kinds)}
        self._known: dict[Hashable, Situation] = {}
        self._views: dict[Hashable, View] = {}
        self._codes: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._places: dict[tuple[int, ...], tuple[int, ...]] = {}

    def of(self, state: State) -> Situation:
        """The situation of a state."""
        key = (
            state[FREE],
            state[EXTRAS],
            state[CLOCK] if self._timed else 0,
            *[row if row.shown else row.request_id for row in state[ROWS:]],
        )
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._new(state)
        return known

    def _new(self, state: State) -> Situation:
        rows: tuple[Row, ...] = state[ROWS:]
        places = tuple(place for place, row in enumerate(rows) if row.shown)
        shown = [rows[place] for place in places]
        clock = state[CLOCK] if self._timed else 0
        left_out = len(shown) < len(rows)
        key = (state[FREE], state[EXTRAS], clock, left_out, *shown)
        return Situation(
            self._codes_for(tuple(row.request_id for row in rows)),
            self._places.setdefault(places, places),
            any(not row.finished for row in shown),
            self._views.setdefault(key, View()),
        )

    def _codes_for(self, used: tuple[int, ...]) -> tuple[int, ...]:
        """Codes of the enqueues that are possible: one for each unused slot and kind."""
        codes = self._codes.get(used)
        if codes is None:
            kinds = len(self._scope.kinds)
            slots = [slot for slot in range(len(self._scope.slots)) if slot not in used]
            codes = self._codes[used] = tuple(
                1 + slot * kinds + self._places_of_kinds[kind]
                for slot in (slots[:1] if self._in_id_order else slots)
                for kind in self._scope.slots[slot]
            )
        return codes
