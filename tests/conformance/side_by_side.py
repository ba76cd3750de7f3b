"""The indexed scheduler beside the plain model, on every edge of a whole scope.

    python -m tests.conformance.side_by_side small default     search these scopes, all policies
    python -m tests.conformance.side_by_side large/aging       one policy

Rules.
1. The graph is the model's, with real `enqueue` and `step` on every edge. Two states count as
   one under the peer key: all but the order in which requests came, which only fcfs looks at.
2. Every edge is taken by an indexed scheduler that came the shortest way and has kept its
   index since the first request; its report and all it stores must be the model's. Of a way
   that is the beginning of a longer one, the longer one is taken.
3. Every step is taken also by one that was put into the state, with an index made anew.
4. A step that serves nobody is taken by both. It is a transition, as in the searches, where
   somebody is there who is not served, and leads back to where it came from.
5. An index that keeps something of the way can be wrong on a longer way to the same state.
   That is what the random scripts look for.
6. No request of `small` and `large` has a deadline: there `deadline` does what `fixed_priority`
   does, and nothing is learned of deadlines. Those are in `default`.
"""

# ruff: noqa: T201

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [p for p in (str(ROOT / "model"), str(ROOT / "invariants")) if p not in sys.path]

from schedmodel import KNOWN_POLICIES, DecodeSchedulerSim  # noqa: E402
from schedmodel.indexed import IndexedSchedulerSim  # noqa: E402
from schedmodel.lifecycle import State  # noqa: E402
from schedmodel.scheduler import Snapshot  # noqa: E402
from schedproof.search.exhaustive.scopes import Scope, load_scope  # noqa: E402

PATH = Path(__file__).with_name("side_by_side.json")
STEP = None
Action = Any
Way = tuple[Any, ...]


class Counts(NamedTuple):
    """What a search came to; `ways` were walked by the scheduler that keeps its index."""

    states: int
    transitions: int
    depth: int
    ways: int


class Differ(AssertionError):
    """The two schedulers did not do the same."""


class SideBySide:
    """One policy in one scope. `faulty` stands for the indexed scheduler in a test."""

    def __init__(self, policy: str, scope: Scope, faulty: Any = IndexedSchedulerSim) -> None:
        self._asked = policy, scope.blocks, scope.aging_interval
        self._scope, self._faulty = scope, faulty
        self._model = DecodeSchedulerSim(*self._asked)
        self._anew = faulty(*self._asked)
        self._keeps_order = policy == "fcfs"
        self._rows: dict[Any, Any] = {}
        self.transitions = self.ways = 0

    def run(self) -> Counts:
        """Search until nothing is left. Raises `Differ`."""
        start = self._snapshot()
        seen = {self._key(start)}
        layer: list[tuple[Snapshot, Way]] = [(start, ())]
        depth = -1
        while layer:
            depth += 1
            following: list[tuple[Snapshot, Way]] = []
            for state, way in layer:
                went_on = False
                for action in self._actions(state):
                    after = self._lead(state, action)
                    self.transitions += after is not state or self._somebody_waits()
                    key = self._key(after)
                    if key in seen:
                        self._walk((*way, action), after)
                    else:
                        went_on = True
                        seen.add(key)
                        following.append((after, (*way, action)))
                if not went_on:
                    self._walk(way, state)
            layer = following
        return Counts(len(seen), self.transitions, depth, self.ways)

    def _snapshot(self) -> Snapshot:
        model = self._model
        rows = self._rows
        requests = tuple(rows.setdefault(row, row) for row in (r.to_row() for r in model.queue))
        return Snapshot(model._policy, model.clock, model.ledger.free, requests, ())

    def _key(self, state: Snapshot) -> Any:
        if self._keeps_order:
            return state.clock, state.free, state.requests
        return state.clock, state.free, frozenset(row[:-1] for row in state.requests)

    def _actions(self, state: Snapshot) -> Iterator[Action]:
        yield STEP
        used = {row[11] for row in state.requests}
        for slot, kinds in enumerate(self._scope.slots):
            if slot not in used:
                for kind in kinds:
                    yield kind.enqueue(slot, state.clock).arguments()

    def _lead(self, state: Snapshot, action: Action) -> Snapshot:
        """Take the edge with the model, and a step also with an index made anew."""
        model, anew = self._model, self._anew
        model.restore(state)
        if action is not STEP:
            model.enqueue(**action)
            return self._snapshot()
        event = model.step()
        model.timeline.clear()
        after = self._snapshot()
        anew.restore(state)
        if anew.step() != event or not self._agree(anew, after):
            raise Differ("an index made anew", state)
        return state if event is None else after

    def _somebody_waits(self) -> bool:
        """Whether the step that served nobody left somebody unserved."""
        return any(request.state is not State.FINISHED for request in self._model.queue)

    def _walk(self, way: Way, expected: Snapshot) -> None:
        """Go a way with one scheduler; it must report what the model does, and end there."""
        self.ways += 1
        model, indexed = self._model, self._faulty(*self._asked)
        model.restore(Snapshot(expected.policy, 0, self._scope.blocks, (), ()))
        for action in way:
            for sim in (model, indexed):
                if action is STEP:
                    sim.step()
                else:
                    sim.enqueue(**action)
        same = indexed.timeline == model.timeline and self._key(self._snapshot()) == self._key(
            expected
        )
        if not same or not self._agree(indexed, self._snapshot()):
            raise Differ("an index that was kept", way)

    @staticmethod
    def _agree(sim: Any, state: Snapshot) -> bool:
        rows = tuple(request.to_row() for request in sim.queue)
        return (sim.clock, sim.ledger.free, rows) == (state.clock, state.free, state.requests)


def read() -> dict[str, list[int]]:
    """The counts that are kept, by scope and policy."""
    found: dict[str, list[int]] = json.loads(PATH.read_text("utf-8"))["counts"]
    return found


def main(scopes: list[str]) -> None:
    """Search these scopes, SCOPE or SCOPE/POLICY, and write down what they come to."""
    for asked in scopes:
        scope, _, one = asked.partition("/")
        for policy in (one,) if one else KNOWN_POLICIES:
            began = time.process_time()
            found = SideBySide(policy, load_scope(scope)).run()
            print(scope, policy, *found, f"{time.process_time() - began:.0f} CPU s", flush=True)
            counts = read() if PATH.exists() else {}
            counts[f"{scope} {policy}"] = list(found)
            text = json.dumps(
                {"schema_version": 1, "counts": dict(sorted(counts.items()))}, indent=1
            )
            PATH.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
