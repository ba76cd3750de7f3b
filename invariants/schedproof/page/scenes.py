"""What the player shows after each action: frames with all that is worked out, not looked up.

Rules.
1. A scene is a whole state: the requests in the order of their arrival with their stored
   fields, the effective priority and the slack, and what the action did to them.
2. The page gets scenes as differences, as frames are kept; the first is the state before
   any action.
3. Of a loop that can be repeated for ever the way into it and one round are shown.
4. Fields that no column shows are left out unless they are guilty: they may be anything, and
   of any size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from schedmodel.policy import KNOWN_POLICIES, make_policy, remaining_steps
from schedproof.page.moves import Way, way_between
from schedproof.search.frames import Frame, frame_after, states_of
from schedproof.search.results import Counterexample
from schedproof.subjects.observation import STORED_FIELDS

Requests = dict[str, dict[str, Any]]
Flight = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Scene:
    """The state after one action.

    `requests` by id as text; `ways` the moves along the lifecycle, by id; `frame` has what the
    action did; `free` and `capacity` in KV blocks. `flights` are the steps that are not delivered,
    oldest first, each with its parts (request, first token, last token).
    """

    clock: int
    free: int
    capacity: int
    requests: Requests
    ways: Mapping[str, Way]
    frame: Frame
    flights: tuple[Flight, ...] = ()

    @property
    def held(self) -> dict[str, int]:
        """The blocks of those who hold any, by id."""
        blocks = {i: fields.get("held_blocks") for i, fields in self.requests.items()}
        return {i: n for i, n in blocks.items() if type(n) is int and n}

    @property
    def missing(self) -> int:
        """Blocks that the books do not account for; negative if there are too many."""
        return self.capacity - self.free - sum(self.held.values())


def scenes_of(example: Counterexample, actions: int) -> list[Scene]:
    """The scenes of a trace: the start, and one after each of the first `actions`."""
    scenes: list[Scene] = []
    before: Requests = {}
    frames = example.frames[: actions + 1]
    flights = flights_of(example)
    shown = {
        "state",
        "block_ids",
        "computed_len",
        *STORED_FIELDS,
        *(name for _, name in example.guilty),
    }
    for frame, state in zip(frames, states_of(frames), strict=True):
        kept = {i: {n: v for n, v in row.items() if n in shown} for i, row in state.items()}
        requests = {i: _worked_out(example, fields, frame.clock) for i, fields in kept.items()}
        ways = {i: way_between(before.get(i), fields) for i, fields in requests.items()}
        moved = {i: way for i, way in ways.items() if way is not None}
        flying = flights[len(scenes)] if len(scenes) < len(flights) else ()
        scenes.append(
            Scene(frame.clock, frame.free, example.blocks, requests, moved, frame, flying)
        )
        before = requests
    return scenes


def flights_of(example: Counterexample) -> list[tuple[Flight, ...]]:
    """The steps in flight at the start and after each action; none where steps are not apart."""
    flying: list[Flight] = []
    seen: list[tuple[Flight, ...]] = [()]
    if not any(action["op"] == "deliver" for action in example.actions):
        return seen
    for action, step in zip(example.actions, example.trail, strict=False):
        if action["op"] == "step" and step.parts:
            flying.append(tuple((part.request, part.start, part.end - 1) for part in step.parts))
        elif action["op"] == "deliver":
            del flying[:1]
        seen.append(tuple(flying))
    return seen


def _worked_out(example: Counterexample, fields: Mapping[str, Any], clock: int) -> dict[str, Any]:
    """A request with its effective priority and slack, where its values allow them."""
    more: dict[str, Any] = {}
    row: Any = SimpleNamespace(**fields)
    try:
        if example.policy in KNOWN_POLICIES:
            policy = make_policy(example.policy, example.aging_interval)
            more["effective_priority"] = int(policy.effective_priority(row))
        if fields.get("deadline_step") is not None:
            more["slack"] = int(fields["deadline_step"]) - clock - remaining_steps(row)
    except (AttributeError, KeyError, TypeError, ValueError):
        pass  # a scheduler that keeps something else there shows just that
    return {**fields, **more}


def told(scenes: list[Scene]) -> list[dict[str, Any]]:
    """The scenes as the page's script reads them: differences, short and in plain JSON."""
    records: list[dict[str, Any]] = []
    before: Requests = {}
    for scene in scenes:
        change = frame_after(before, scene.requests, scene.clock, scene.free)
        record: dict[str, Any] = {"clock": scene.clock, "free": scene.free}
        optional = {
            "changed": change.changed,
            "removed": {i: list(names) for i, names in change.removed.items()},
            "gone": list(change.gone),
            "served": [str(i) for i in scene.frame.served],
            "preempted": [str(i) for i in scene.frame.preempted],
            "ways": {i: [list(way.states), way.legal] for i, way in scene.ways.items()},
            "flights": scene.flights,
        }
        records.append({**record, **{name: part for name, part in optional.items() if part}})
        before = scene.requests
    return records
