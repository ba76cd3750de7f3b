"""Finding out about the counterexamples of a result: plainer traces, and their evidence.

Rules.
1. It is done once, after the search, in the child process of the search, and only for a
   result that is told to somebody.
2. Whatever fails here leaves the counterexample as it was: an explanation may be missing,
   but a verdict never changes for it. Each part is left out once the time is up.
3. Of a request that waits for ever there is no forward to play, and nothing is varied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from schedproof.claims.catalogue import BY_ID
from schedproof.claims.claim import Claim, Over
from schedproof.claims.run import StartSubject
from schedproof.search.again import FOR_EVER, Again, OutOfBudget, without_runs
from schedproof.search.evidence import Evidence, Forward, Worse
from schedproof.search.play_forward import play_forward
from schedproof.search.replay import counterexample
from schedproof.search.results import Counterexample, RunResult
from schedproof.search.smallest import smallest
from schedproof.search.vary import other_policies, vary
from schedproof.search.who_wrote import who_wrote
from schedproof.search.worse import worse_of
from schedproof.subjects.actions import Action, from_json
from schedproof.subjects.contract import Config, SubjectError
from schedproof.subjects.places import StopSubject

T = TypeVar("T")


def find_out(
    result: RunResult, start: StartSubject, claims: Sequence[Claim], until: float = FOR_EVER
) -> RunResult:
    """The result with each counterexample made plain and explained, as far as the time goes."""
    told = tuple(explained(each, start, claims, until=until) for each in result.counterexamples)
    return replace(result, counterexamples=told) if told else result


def explained(
    example: Counterexample,
    start: StartSubject,
    claims: Sequence[Claim],
    plain: bool = True,
    until: float = FOR_EVER,
) -> Counterexample:
    """The counterexample with all that was found out about it; made as plain as it gets first."""
    claim = next((each for each in claims if each.id == example.claim), BY_ID.get(example.claim))
    if claim is None or claim.over is Over.ROUNDS:
        return example
    try:
        example = made_plain(example, start, claims, until) if plain else example
        return replace(example, evidence=_evidence(example, start, claim, until))
    except (SubjectError, StopSubject):
        return example


def made_plain(
    example: Counterexample, start: StartSubject, claims: Sequence[Claim], until: float = FOR_EVER
) -> Counterexample:
    """The plainest trace of the same length that breaks the claim in the same way."""
    if example.before is None:
        return example
    actions = [from_json(action) for action in example.actions]
    again = Again(start, without_runs(claims), until=until)
    try:
        found = smallest(again, actions, _config(example))
    except OutOfBudget:
        return example
    if found is None or found.claim.id != example.claim or found.actions == tuple(actions):
        return example
    return counterexample(start, found, example.found_by, example.shortest)


def _config(example: Counterexample) -> Config:
    return Config(example.policy, example.blocks, example.aging_interval, example.limits)


def _evidence(example: Counterexample, start: StartSubject, claim: Claim, until: float) -> Evidence:
    actions = [from_json(action) for action in example.actions]
    config = _config(example)
    again = Again(start, [claim], until=until)
    varied = _as_far(vary(again, actions, config))
    policies = _as_far(other_policies(again, actions, config))
    guilty = () if example.before is None else example.guilty
    writes, unwritten = who_wrote(start, config, actions, guilty)
    forward = _forward(start, config, actions, until)
    worse = None if forward is None else _worse(again, actions, config, example.claim, forward)
    return Evidence(forward, varied, policies, writes, unwritten, worse)


def _forward(
    start: StartSubject, config: Config, actions: list[Action], until: float
) -> Forward | None:
    try:
        return play_forward(start, config, actions, until)
    except OutOfBudget:
        return None


def _worse(
    again: Again, actions: list[Action], config: Config, claim: str, forward: Forward
) -> Worse | None:
    try:
        return worse_of(again, actions, config, claim, forward)
    except (OutOfBudget, SubjectError):
        return None


def _as_far(found: Iterable[T]) -> tuple[T, ...]:
    """All of it, or nothing where the budget does not reach: half a list would mislead."""
    try:
        return tuple(found)
    except OutOfBudget:
        return ()
