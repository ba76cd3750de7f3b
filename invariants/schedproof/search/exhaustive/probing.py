"""Calls that must be refused, for a state.

Rules. Each is a valid enqueue but for one argument: a used id, a size of zero, a deadline that
has passed. In a situation that is new every used id is tried; in the first states, where any
scheduler that takes them would, negative sizes and deadlines long past as well.
"""

from __future__ import annotations

from schedproof.search.exhaustive.scopes import Scope
from schedproof.search.exhaustive.space import CLOCK, ROWS, State
from schedproof.subjects.actions import Enqueue
from schedproof.subjects.observation import Row

SIZES = ("prompt_len", "max_new_tokens", "required_blocks")


class Probes:
    """The calls that must be refused in the states of a scope."""

    def __init__(self, scope: Scope) -> None:
        self._unused_id = len(scope.slots)
        self._known: dict[tuple[str, int], Enqueue] = {}
        self._zeros = [self._wrong(name, 0) for name in SIZES]
        self._negatives = [self._wrong(name, -1) for name in SIZES]

    def of(self, state: State, every_id: bool, widely: bool) -> list[Enqueue]:
        """What must be refused in this state."""
        clock, rows = state[CLOCK], state[ROWS:]
        probes = [*self._zeros, self._wrong("deadline_step", clock)]
        if widely:
            probes += [*self._negatives, self._wrong("deadline_step", clock - 1)]
        if every_id:
            return [*probes, *[self._wrong("request_id", row.request_id) for row in rows]]
        return [*probes, *self._two_ids(rows)]

    def _two_ids(self, rows: tuple[Row, ...]) -> list[Enqueue]:
        """The first id of an unfinished and of a finished request."""
        return [
            self._wrong("request_id", row.request_id)
            for finished in (False, True)
            for row in [row for row in rows if row.finished is finished][:1]
        ]

    def _wrong(self, name: str, value: int) -> Enqueue:
        """An enqueue that is right but for one argument."""
        probe = self._known.get((name, value))
        if probe is None:
            right = {"request_id": self._unused_id, "prompt_len": 1}
            probe = self._known[name, value] = Enqueue(**{**right, name: value})
        return probe
