"""The ledger as sums that can be checked by hand: what the books said, and should say.

Rules.
1. The sums before and after the action are told with the holders by name.
2. What the free count should be is worked out from what the step did: the blocks of every
   victim and of a finished request come back, those of an admitted one are taken.
3. What went wrong is named only where the numbers leave one reading: the newcomer's number
   instead of the victim's, nothing, twice, or nothing taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedproof.search.results import Counterexample, Moment
from schedproof.telling.batches import blocks_text, flights_text
from schedproof.telling.messages import Say, join

TOLD_BY_BOOKS = frozenset({"LEDGER-1", "LEDGER-2"})


@dataclass(frozen=True)
class Sum:
    """One line of the books: a label, the sum, a mark behind it, and what it comes from."""

    label: str
    text: str
    mark: str = ""
    note: str = ""
    guilty: bool = False


@dataclass(frozen=True)
class Flow:
    """What a step gave back and took, as (request id, blocks) pairs."""

    back: tuple[tuple[int, int], ...]
    taken: tuple[tuple[int, int], ...]

    @property
    def change(self) -> int:
        return sum(n for _, n in self.back) - sum(n for _, n in self.taken)


def books_of(say: Say, example: Counterexample) -> tuple[Sum, ...]:
    """The lines of the books; none unless the free blocks are what is wrong."""
    before, after = example.before, example.after
    if before is None or after is None:
        return ()
    if example.claim not in TOLD_BY_BOOKS:
        return _rows_of_blocks(say, example, before, after)
    off = after.free + after.held - example.blocks
    wrong = f"✗   {_difference(say, off)}" if off else "✗"
    lines = (
        Sum(say("ledger.before"), _sum(say, before), "✓"),
        Sum(say("ledger.after"), _sum(say, after), wrong, guilty=True),
    )
    blocks = _rows_of_blocks(say, example, before, after)
    return lines + _should_be(say, example, before, after) + blocks


def _rows_of_blocks(
    say: Say, example: Counterexample, before: Moment, after: Moment
) -> tuple[Sum, ...]:
    """Whose each block is, before and after, where blocks have numbers; and the steps in flight."""
    if after.paged is None:
        return ()
    slot = wrong_slot(example)
    first, second = blocks_text(say, before, slot), blocks_text(say, after)
    rows: tuple[Sum, ...] = ()
    if first != second:
        rows = Sum(say("ledger.before"), first), Sum(say("ledger.after"), second)
    flying = flights_text(say, before)
    return (*rows, Sum(say("blocks.in_flight"), flying)) if flying else rows


def wrong_slot(example: Counterexample) -> tuple[int, int] | None:
    """The slot in which something else lies than should."""
    block, offset = (example.values.get(name) for name in ("block", "offset"))
    return (block, offset) if type(block) is int and type(offset) is int else None


def _sum(say: Say, moment: Moment) -> str:
    held = {i: r["held_blocks"] for i, r in moment.requests.items() if r["held_blocks"]}
    several = len(held) > 1
    names = [f"r{i} {n}" if several else f"r{i}" for i, n in held.items()]
    holders = say("ledger.holders", names=join(say, "comma", names)) if names else ""
    total = moment.free + moment.held
    return say("ledger.sum", free=moment.free, held=moment.held, holders=holders, sum=total)


def _difference(say: Say, off: int) -> str:
    if off < 0:
        return say("ledger.missing", missing=-off)
    return say("ledger.too_many", extra=off)


def _should_be(say: Say, example: Counterexample, before: Moment, after: Moment) -> tuple[Sum, ...]:
    flow = flow_of(example, before)
    if flow is None or before.free + flow.change == after.free:
        return ()
    parts = [say("ledger.back", number=n, request=i) for i, n in flow.back]
    parts += [say("ledger.to", number=n, request=i) for i, n in flow.taken]
    right = f"{before.free} {' '.join(parts)} = {before.free + flow.change}"
    note = _reading(say, flow, after.free - before.free, before)
    return (
        Sum(say("ledger.should"), right),
        Sum(say("ledger.is"), str(after.free), note=note, guilty=True),
    )


def flow_of(example: Counterexample, before: Moment) -> Flow | None:
    """What the last action should have moved; None unless it is a step that moved blocks."""
    step = example.trail[-1]
    if example.actions[-1]["op"] != "step" or example.limits is not None:
        return None
    back = [(i, _held(before, i)) for i in step.preempted]
    taken: list[tuple[int, int]] = []
    if step.served is not None:
        needed = before.requests.get(str(step.served), {}).get("required_blocks", 0)
        if step.admitted:
            taken.append((step.served, needed))
        if step.finished:
            back.append((step.served, needed))
    return Flow(tuple(back), tuple(taken)) if back or taken else None


def _held(moment: Moment, request_id: int) -> int:
    request: dict[str, Any] = moment.requests.get(str(request_id), {})
    return int(request.get("held_blocks", 0))


def _reading(say: Say, flow: Flow, change: int, before: Moment) -> str:
    """What went wrong, if the numbers say so clearly."""
    came_back = change + sum(n for _, n in flow.taken)
    should = sum(n for _, n in flow.back)
    if flow.back and came_back == 0:
        return say("ledger.nothing_back")
    if flow.taken and not flow.back:
        return say("ledger.nothing_taken", request=flow.taken[0][0]) if change == 0 else ""
    if len(flow.back) == len(flow.taken) == 1 and flow.back[0][0] != flow.taken[0][0]:
        (victim, right), (challenger, needed) = flow.back[0], flow.taken[0]
        if came_back == needed:
            values = {"challenger": challenger, "victim": victim, "right": right}
            return say("ledger.instead", number=needed, **values)
    return say("ledger.twice_back") if should and came_back == 2 * should else ""
