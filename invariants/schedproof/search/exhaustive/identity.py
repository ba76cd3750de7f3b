"""When two states count as the same: the full key, the peer key, and reductions of them.

Rules.
1. `full` holds everything: the queue in its order, every attribute, free blocks, clock.
2. `peer` leaves the order of the queue out. That is exact where each key ends in a unique
   id, as the built-in model's does under fixed_priority, aging and deadline. Under fcfs the
   order is in every row (its place of arrival), so that nothing is lost.
3. A reduction leaves more out. It is exact for a scheduler that does not look at what was
   left out, and unsound for one that does, so it is only ever evidence:
   `finished`     finished requests, of which only the used id stays;
   `clock`        the clock; deadlines count from now;
   `ids`          the ids, of which only the order stays; finished requests go with them;
   `preemptions`  how often a request was preempted;
   `arrivals`     not a key: requests arrive in the order of their ids only. That leaves
                  states out where ids decide between equals; under fcfs they do not.
4. An unused slot is always part of the key, with what it may still become.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from schedproof.search.exhaustive.names import ARRIVALS, FINISHED, IDS, NO_CLOCK, PREEMPTIONS
from schedproof.search.exhaustive.scopes import Scope
from schedproof.search.exhaustive.space import CLOCK, EXTRAS, FREE, ROWS, State
from schedproof.subjects.observation import Row

Key = tuple[Hashable, ...]
KeyOf = Callable[[State], Key]


def reduced_key(scope: Scope, names: frozenset[str]) -> KeyOf | None:
    """What stands for a state under these reductions; None if they leave states alone."""
    if not names - {ARRIVALS}:
        return None
    tell = _row_teller(names)
    keep_clock, drop_finished = NO_CLOCK not in names, bool(names & {FINISHED, IDS})
    menus = dict(enumerate(scope.slots))

    def key_of(state: State) -> Key:
        clock = state[CLOCK]
        parts: list[Any] = [state[FREE], clock if keep_clock else None, state[EXTRAS]]
        unused = menus.copy()
        told: list[tuple[int, Any]] = []
        for row in state[ROWS:]:
            unused.pop(row.request_id, None)
            if row.shown or not drop_finished:
                told.append((row.request_id, tell(row, clock)))
        if IDS not in names:
            return (*parts, *told, *unused)
        in_order = sorted([*told, *unused.items()], key=_slot)
        return (*parts, *(what for _, what in in_order))

    return key_of


def _slot(pair: tuple[int, Any]) -> int:
    return pair[0]


def _row_teller(names: frozenset[str]) -> Callable[[Row, int], Hashable]:
    """What stands for a row: the row itself, or its values less what is left out."""
    left_out = {"request_id"} if IDS in names else set[str]()
    left_out |= {"preemptions"} if PREEMPTIONS in names else set[str]()
    memo: dict[Row, Hashable] = {}

    def tell(row: Row, clock: int) -> Hashable:
        slack = None
        if NO_CLOCK in names and row.deadline_step is not None:
            slack = row.deadline_step - clock
        elif not left_out:
            return row
        known = memo.get(row)
        if known is None:
            without = left_out if slack is None else left_out | {"deadline_step"}
            pairs = zip(row.names, row.raw, strict=True)
            stays = tuple(pair for pair in pairs if pair[0] not in without)
            known = memo[row] = (stays, row.advanced)
        return (known, slack)

    return tell
