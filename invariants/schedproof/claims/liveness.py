"""Liveness: what must happen in the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedproof.claims.claim import GENERAL, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Edge, Judged
from schedproof.claims.run import Run
from schedproof.subjects.contract import Feature
from schedproof.subjects.observation import Observation, Row


def fitting(observation: Observation) -> list[Row]:
    """Unfinished requests that fit the pool when they are alone in it."""
    rows = observation.rows
    return [r for r in rows if _is_open(r) and r.required_blocks <= observation.capacity]


def drain_bound(observation: Observation) -> int:
    """Steps within which all that fits is served: one for each unit of work.

    Where prefills are repeated there may be one before each token, so twice as many.
    """
    times = 1 if observation.paged is None else 2
    return times * _work(observation.rows, observation.capacity)


def step_drains(edge: Edge) -> bool:
    """Whether a step brings the pool nearer to being drained, or had nothing to drain.

    If every step does, then once arrivals stop all that fits finishes within `drain_bound`:
    each step takes one from a sum that cannot fall below zero.
    """
    if not edge.stepped:
        return True
    before = _work(edge.before, edge.capacity)
    return before == 0 or _work(edge.after, edge.capacity) < before


def _work(rows: Iterable[Row], capacity: int) -> int:
    return sum(r.remaining for r in rows if _is_open(r) and r.required_blocks <= capacity)


def _is_open(row: Row) -> bool:
    """Whether there is work left, and nobody ended it early."""
    return not row.done and not row.finished


def all_that_fits_finishes(run: Run) -> Judged:
    if run.at_drain is None or not fitting(run.at_drain):
        return None
    left = fitting(run.final)
    if not left:
        return True
    values = {
        "request": left[0].request_id,
        "generated": left[0].generated_len,
        "limit": left[0].max_new_tokens,
        "steps": run.drain_steps,
        "bound": drain_bound(run.at_drain),
    }
    return Breach("LIVE-1", values, ((left[0].request_id, "generated_len"),))


@dataclass(frozen=True)
class Rounds:
    """One request while a loop of actions is taken again and again, on a real scheduler.

    `kind` is the request's kind by name, `needs` its blocks; the loop of `loop` actions begins
    after the `stem` first ones. `before` and `waits` (one after each round) count the steps that
    served others since the request came or was last served; `advanced` tells whether it was
    served in any round.
    """

    request: int
    kind: str
    needs: int
    capacity: int
    stem: int
    loop: int
    before: int
    waits: tuple[int, ...]
    advanced: bool = False


def is_served_again(seen: Rounds) -> Judged:
    if not seen.waits or seen.needs > seen.capacity:
        return None
    if seen.advanced:
        return True
    values = {
        "request": seen.request,
        "kind": seen.kind,
        "needs": seen.needs,
        "stem": seen.stem,
        "loop": seen.loop,
        "rounds": len(seen.waits),
        "before": seen.before,
        "each": seen.waits[0] - seen.before,
        "last": seen.waits[-1],
        "waits": list(seen.waits),
        "first": list(seen.waits[:5]),
    }
    grows = seen.waits[-1] > seen.before
    guilty = ((seen.request, "wait_steps"),)
    return Breach("LIVE-2" if grows else "LIVE-2.idle", values, guilty)


CLAIMS = (
    Claim(
        "LIVE-1",
        Kind.EVENTUALLY,
        GENERAL,
        Over.RUN,
        all_that_fits_finishes,
        "chapter, step 2, completion; deepspeedai/DeepSpeed-MII#274",
        needs(Feature.LIFECYCLE, Feature.LEDGER, Feature.DRAIN_BOUND),
    ),
    Claim(
        "LIVE-2",
        Kind.EVENTUALLY,
        GENERAL,
        Over.ROUNDS,
        is_served_again,
        "chapter, steps 2 and 3: aging against endless waits",
        needs(Feature.LIFECYCLE, Feature.LEDGER, Feature.ENDLESS_ARRIVALS),
    ),
)
