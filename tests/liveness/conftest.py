"""Searches for endless waits in this process, and schedulers that let somebody wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from schedmodel import DecodeSchedulerSim
from schedproof.claims.catalogue import select
from schedproof.claims.claim import Claim
from schedproof.search.exhaustive.liveness import search_liveness
from schedproof.search.exhaustive.scopes import Kind, Scope, load_scope, shipped
from schedproof.search.pace import Pace, Unhurried
from schedproof.search.results import RunResult
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config

MODEL = DecodeSchedulerSim
OPEN = tuple(name for name in shipped() if load_scope(name).active)
ALL = tuple(select(()))
NO_CLAIMS: tuple[Claim, ...] = ()


def starter(scheduler: Callable[..., Any]) -> Callable[[Config], ChapterSubject]:
    """How a class with the chapter's constructor becomes a subject."""

    def start(config: Config) -> ChapterSubject:
        return ChapterSubject(from_class(scheduler), config)

    return start


def search(
    scope: str | Scope,
    policy: str,
    active: int | None = None,
    scheduler: Callable[..., Any] = MODEL,
    claims: Sequence[Claim] = NO_CLAIMS,
    pace: Pace | None = None,
) -> RunResult:
    """One search; without claims only LIVE-2 is judged, which is quicker."""
    wanted = load_scope(scope) if isinstance(scope, str) else scope
    wanted = wanted.resized(active, None)
    config = Config(policy, wanted.blocks, wanted.aging_interval)
    return search_liveness(starter(scheduler), config, wanted, pace or Unhurried(), claims)


def worst(result: RunResult) -> dict[str, Any]:
    """The values of the note on the worst wait."""
    ((message, values),) = result.notes
    assert message == "note.worst_wait"
    return values


def scope_of(*kinds: Kind, active: int = 2, blocks: int = 2, interval: int = 2) -> Scope:
    """A small scope with endless arrivals."""
    return Scope("by hand", blocks, interval, kinds, active=active)
