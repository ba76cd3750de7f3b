"""The gate before a reduction: it must be exact on the same scope with one slot fewer.

Three slots stay three: two requests cannot even show a second preemption of one of them.

Rules.
1. A key passes if states that it takes for equal have equal futures: the same actions lead
   to states with equal keys and break the same claims. All states of the smaller scope are
   compared, under the full key.
2. Arrival in the order of ids passes if the smaller scope has, ids left out, the same
   states with it as without it, and breaks the same claims.
3. Passing is evidence and no proof: a fault that needs one request more than the smaller
   scope has passes every gate.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from schedproof.search.exhaustive.bfs import Outcome, Search, Watch
from schedproof.search.exhaustive.identity import reduced_key
from schedproof.search.exhaustive.names import ARRIVALS, IDS, NO_CLOCK
from schedproof.search.exhaustive.scopes import Scope
from schedproof.search.exhaustive.space import State

LEAST_SLOTS = 3
MakeSearch = Callable[[Scope, Watch | None, bool], Search]
"""A full search of a scope, told of every edge; the last argument: in the order of ids only."""


def smaller(scope: Scope) -> Scope:
    """The scope with one slot fewer, if three are left."""
    return replace(scope, slots=scope.slots[: max(LEAST_SLOTS, len(scope.slots) - 1)])


def passes(names: frozenset[str], scope: Scope, make_search: MakeSearch) -> bool:
    """Whether the reductions pass on `scope`, which is the smaller one already."""
    key_of = reduced_key(scope, names)
    if key_of is not None and not _equal_futures(key_of, scope, make_search):
        return False
    return ARRIVALS not in names or _same_without_ids(scope, make_search)


def _equal_futures(
    key_of: Callable[[State], Hashable], scope: Scope, make_search: MakeSearch
) -> bool:
    numbers: dict[Hashable, int] = {}
    known: dict[State, int] = {}
    futures: dict[State, set[Hashable]] = {}

    def number(state: State) -> int:
        found = known.get(state)
        if found is None:
            found = known[state] = numbers.setdefault(key_of(state), len(numbers))
        return found

    def watch(state: State, what: Hashable, after: State, broken: tuple[str, ...]) -> None:
        futures.setdefault(state, set()).add((what, number(after), broken))

    outcome = make_search(scope, watch, False).run()
    first: dict[int, set[Hashable]] = {}
    return outcome.complete and all(
        first.setdefault(number(state), future) == future for state, future in futures.items()
    )


def _same_without_ids(scope: Scope, make_search: MakeSearch) -> bool:
    unlabelled = reduced_key(scope, frozenset({IDS, NO_CLOCK}))
    assert unlabelled is not None

    def reached(ordered: bool) -> tuple[set[Hashable], set[tuple[str, ...]], Outcome]:
        states: set[Hashable] = set()
        verdicts: set[tuple[str, ...]] = set()

        def watch(_state: State, _what: Hashable, after: State, broken: tuple[str, ...]) -> None:
            states.add(tuple(sorted(map(repr, unlabelled(after)))))
            verdicts.add(broken)

        return states, verdicts, make_search(scope, watch, ordered).run()

    all_states, all_verdicts, outcome = reached(ordered=False)
    in_order, verdicts, _ = reached(ordered=True)
    return outcome.complete and all_states == in_order and all_verdicts == verdicts
