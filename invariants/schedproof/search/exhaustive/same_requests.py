"""The proved shortest trace with the requests of a trace that was found at random.

Rules.
1. The requests of the trace become a closed scope: one slot and one kind for each, in the
   order of their ids, with deadlines that count from the arrival. That scope is searched
   exhaustively for the same claim.
2. Traces with refused calls, or with more than `REQUESTS_MAX` requests, stay as they are, and
   so does one whose search does not end in time or breaks nothing (an id or a moment of
   arrival may matter).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from schedproof.claims.claim import Claim
from schedproof.search.exhaustive.exhaustive_search import (
    Asked,
    StartChapter,
    search_exhaustively,
)
from schedproof.search.exhaustive.scopes import Kind, Scope
from schedproof.search.pace import Pace, Until
from schedproof.search.results import Counterexample, RunResult
from schedproof.subjects.actions import Enqueue, from_json
from schedproof.subjects.contract import Config

REQUESTS_MAX = 5
SECONDS_MAX = 5.0


def with_proved_shortest(
    result: RunResult, start: StartChapter, config: Config, claims: Sequence[Claim], pace: Pace
) -> RunResult:
    """The result with its counterexample replaced, where a shortest one can be proved."""
    if not result.counterexamples or result.counterexamples[0].before is None:
        return result
    found = result.counterexamples[0]
    scope = scope_of(found, start, config)
    if scope is None:
        return result
    until = Until(pace, min(pace.deadline, time.monotonic() + SECONDS_MAX))
    about = [claim for claim in claims if claim.id == found.claim]
    exact = search_exhaustively(start, config, about, Asked(scope), until)
    if not exact.counterexamples or not exact.counterexamples[0].shortest:
        return result
    shortest = replace(exact.counterexamples[0], found_by="random, then exhaustive")
    values = {"before": found.length, "actions": shortest.length, "states": exact.distinct_states}
    notes = (*result.notes, ("note.same_requests", values))
    return replace(result, counterexamples=(shortest,), notes=notes)


def scope_of(found: Counterexample, start: StartChapter, config: Config) -> Scope | None:
    """The scope of a trace's requests; None where it has refused ones or too many."""
    arrivals: dict[int, Kind] = {}
    subject = start(config)
    for record in found.actions:
        action = from_json(record)
        if isinstance(action, Enqueue):
            arrivals[action.request_id] = _kind(action, subject.observe().clock)
            if not subject.do(action).accepted:
                return None
        else:
            subject.do(action)
    if not 0 < len(arrivals) <= REQUESTS_MAX:
        return None
    kinds = tuple(arrivals[request_id] for request_id in sorted(arrivals))
    slots = tuple((kind,) for kind in kinds)
    return Scope("requests of the trace", config.blocks, config.aging_interval, kinds, slots)


def _kind(action: Enqueue, clock: int) -> Kind:
    due = action.deadline_step
    return Kind(
        name=f"r{action.request_id}",
        prompt_len=action.prompt_len,
        max_new_tokens=action.max_new_tokens,
        required_blocks=action.required_blocks,
        priority=action.priority,
        cache_hit=action.cache_hit,
        preemptible=action.preemptible,
        deadline_in=None if due is None else due - clock,
    )
