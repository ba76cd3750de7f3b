"""Exhaustive search of a scheduler of batches, from a scope to a result.

Rules.
1. A violation counts only as replayed from the start on a new scheduler; one that comes only
   where states were written back means that something is hidden, and is an error.
2. A complete search under the full key `holds within bounds`. LIVE-1 is decided over all states
   of it: whether steps alone bring every request to its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from schedproof.claims.catalogue import applicable
from schedproof.claims.claim import Claim
from schedproof.claims.judge import Judge
from schedproof.search.exhaustive.batch_search import BatchSearch, Hidden, Outcome
from schedproof.search.exhaustive.bfs import Options
from schedproof.search.exhaustive.exhaustive_search import Asked, replay_last_edge
from schedproof.search.exhaustive.names import EXHAUSTIVE, FULL
from schedproof.search.pace import Pace
from schedproof.search.replay import attempt, counterexample, insist_on_repeating, not_deterministic
from schedproof.search.results import Counterexample, RunResult, Verdict
from schedproof.search.session import Violation
from schedproof.search.summing_up import claim_results, not_vacuous, refused, trouble_of
from schedproof.subjects.batch import NotPlain
from schedproof.subjects.contract import Config, PolicyRefused, SubjectError
from schedproof.subjects.places import StopSubject

StartBatch = Callable[[Config], Any]
"""Starts a `BatchSubject`, or another that can be gone back with in the same way."""
LIVE = "LIVE-1"


def search_batches(
    start: StartBatch,
    config: Config,
    claims: Sequence[Claim],
    asked: Asked,
    pace: Pace,
    make_search: type[BatchSearch] = BatchSearch,
) -> RunResult:
    """Search one policy in one scope until nothing is left or something ends it."""
    began = time.monotonic()
    blank = RunResult.blank(config.policy, EXHAUSTIVE, asked.scope.to_bounds(), FULL)
    search: BatchSearch | None = None
    try:
        subject = start(config)
        judge = Judge(applicable(claims, subject))
        search = make_search(subject, asked.scope, judge, pace, _options(asked))
        outcome = search.run()
        found = _violations(start, config, judge, outcome)
        result = _told(blank, start, outcome, found)
    except PolicyRefused as error:
        return refused(blank, error)
    except (SubjectError, StopSubject) as error:
        taken = () if search is None else search.taken
        seconds = time.monotonic() - began
        return replace(blank, trouble=trouble_of(error, taken), seconds=seconds)
    except (Hidden, NotPlain) as error:
        hidden = SubjectError("contract", "contract.hidden", {"kind": type(error).__name__})
        return replace(blank, trouble=trouble_of(hidden), seconds=time.monotonic() - began)
    result = not_vacuous(result, judge, outcome.steps_served)
    result = replace(result, seconds=time.monotonic() - began)
    return replace(result, claims=claim_results(claims, judge, result))


def _options(asked: Asked) -> Options:
    return Options(
        all_shortest=asked.all_shortest,
        keep_going=asked.keep_going,
        memory_mib=asked.memory_mib,
    )


def _violations(
    start: StartBatch, config: Config, judge: Judge, outcome: Outcome
) -> list[Violation]:
    """What was found, on new schedulers."""
    violations: list[Violation] = []
    for hit in outcome.hits:
        violation = replay_last_edge(start, config, judge, hit)
        if violation is None:
            raise not_deterministic(len(hit.actions), hit.actions)
        insist_on_repeating(start, violation)
        violations.append(violation)
    if outcome.complete and not violations:
        judge.count(LIVE, outcome.distinct_states)
        live = [claim for claim in judge.claims if claim.id == LIVE]
        if outcome.endless is not None and live:
            found = attempt(start, config, Judge(live), outcome.endless)
            violations += [found] if found else []
    return violations


def _told(
    blank: RunResult, start: StartBatch, outcome: Outcome, found: list[Violation]
) -> RunResult:
    result = replace(
        blank,
        distinct_states=outcome.distinct_states,
        transitions=outcome.transitions,
        depth=outcome.depth,
        restore="in_place",
    )
    if found:
        return replace(
            result,
            verdict=Verdict.VIOLATED.value,
            counterexamples=tuple(_counterexample(start, violation) for violation in found),
            notes=_certificate(found[0], outcome),
        )
    if not outcome.complete:
        stopped = outcome.stopped_by
        return replace(
            result,
            verdict=Verdict.INCOMPLETE.value,
            stopped_by=stopped,
            interrupted=stopped == "interrupt",
        )
    return replace(result, verdict=Verdict.HOLDS_WITHIN_BOUNDS.value)


def _counterexample(start: StartBatch, violation: Violation) -> Counterexample:
    return counterexample(start, violation, EXHAUSTIVE, violation.edge is not None)


def _certificate(violation: Violation, outcome: Outcome) -> tuple[tuple[str, dict[str, int]], ...]:
    """That nothing shorter breaks anything, and how many states say so."""
    if violation.edge is None:
        return ()
    length = len(violation.actions) - 1
    return (("note.certificate", {"actions": length, "states": outcome.certified_states}),)
