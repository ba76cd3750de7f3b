"""From what a search knows to the fields of its result; the same for every kind of search.

Rules.
1. A claim that was not exercised is not reported as holding, and one that is not applicable
   is reported as that.
2. A run that served nobody, or exercised no claim that can be broken, is vacuous.
3. A scheduler that failed as a program is told with the place in the user's file and the
   actions that led there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from schedproof.claims.claim import Claim, Kind
from schedproof.claims.judge import Judge
from schedproof.search.replay import plain
from schedproof.search.results import ClaimResult, ClaimVerdict, RunResult, Trouble, Verdict
from schedproof.subjects.actions import Action, to_json
from schedproof.subjects.contract import PolicyRefused, SubjectError
from schedproof.subjects.places import StopSubject, locate
from schedproof.subjects.todos import is_open_todo

CLEAN = (
    Verdict.HOLDS_WITHIN_BOUNDS.value,
    Verdict.NO_VIOLATION_REDUCED.value,
    Verdict.NO_VIOLATION_FOUND.value,
)


def refused(blank: RunResult, error: PolicyRefused) -> RunResult:
    """The result where the scheduler does not have the policy."""
    note = ("note.policy_refused", {"policy": blank.policy, "text": plain(error.args[1])})
    return replace(blank, verdict=Verdict.NOT_APPLICABLE.value, notes=(note,))


def not_vacuous(result: RunResult, judge: Judge, steps_served: int) -> RunResult:
    """The result, or vacuous where a clean run served nobody or judged nothing."""
    if result.verdict not in CLEAN or (steps_served and not judge.nothing_was_judged()):
        return result
    return replace(result, verdict=Verdict.VACUOUS.value)


def trouble_of(error: SubjectError | StopSubject, taken: Sequence[Action] = ()) -> Trouble:
    """What a person is told about a scheduler that failed as a program after these actions."""
    actions = tuple(to_json(action) for action in taken)
    if not isinstance(error, SubjectError):
        return Trouble("hung", "error.hung", {}, _place(error), _plain_actions(actions))
    values = dict(error.values)
    actions = tuple(values.pop("actions", actions))
    kind, text = error.kind, error.message_id
    if error.cause is not None and is_open_todo(error.cause):
        kind, text = "open_todo", "error.open_todo"
    values = {name: plain(value) for name, value in values.items()}
    return Trouble(kind, text, values, _place(error.cause), _plain_actions(actions))


def _place(error: BaseException | None) -> dict[str, Any] | None:
    place = None if error is None else locate(error)
    return None if place is None else place.to_json()


def _plain_actions(actions: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {**action, "args": {name: plain(value) for name, value in action["args"].items()}}
        if "args" in action
        else action
        for action in actions
    )


def claim_results(
    claims: Sequence[Claim],
    judge: Judge,
    result: RunResult,
    weaker: Mapping[str, ClaimVerdict] | None = None,
) -> tuple[ClaimResult, ...]:
    """What the run came to for each of the claims that were asked for.

    `weaker` names claims for which less was shown than for the rest of a complete search.
    """
    counts = judge.exercised()
    broken = {i for c in result.counterexamples for i in (c.claim, *c.also_broken)}
    if result.trouble is not None and result.trouble.kind == "not_deterministic":
        broken.add("REPLAY-1")
    return tuple(
        ClaimResult(
            claim.id,
            _claim_verdict(claim, counts, broken, result, weaker or {}),
            counts.get(claim.id, 0),
        )
        for claim in claims
    )


def _claim_verdict(
    claim: Claim,
    counts: dict[str, int],
    broken: set[str],
    result: RunResult,
    weaker: Mapping[str, ClaimVerdict],
) -> str:
    if claim.id not in counts:
        return ClaimVerdict.NOT_APPLICABLE.value
    if claim.id in broken:
        return ClaimVerdict.VIOLATED.value
    if claim.kind is Kind.SOMETIMES:
        reached = counts[claim.id] > 0
        return ClaimVerdict.REACHED.value if reached else ClaimVerdict.NOT_REACHED.value
    if not counts[claim.id]:
        return ClaimVerdict.NOT_EXERCISED.value
    if result.verdict not in CLEAN:
        return ClaimVerdict.NO_VIOLATION_FOUND.value
    shown = weaker.get(claim.id)
    return result.verdict if shown is None else str(shown.value)
