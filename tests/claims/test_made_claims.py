"""What the decorator makes of a predicate, and what it says of one that it can make nothing of."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.claims.conftest import PREFILL

from schedmodel.policy import KNOWN_POLICIES
from schedproof.claims.claim import GENERAL, Kind
from schedproof.claims.own import OwnClaim, claim, claims_of
from schedproof.subjects.contract import SubjectError

ALL = ", ".join(KNOWN_POLICIES)


def made(answer: Any, **said: Any) -> OwnClaim:
    """A claim whose predicate answers this, or raises it."""

    @claim("MINE-1", "Something holds", **said)
    def predicate(_edge: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return predicate


def failure(answer: Any) -> SubjectError:
    """How judging ends with such an answer."""
    with pytest.raises(SubjectError) as caught:
        made(answer).claim.predicate(PREFILL)
    return caught.value


def test_a_claim_of_ones_own_is_as_general_as_any_and_says_no_more_than_it_was_told() -> None:
    mine = made(True)
    assert (mine.claim.kind, mine.claim.source) == (Kind.ALWAYS, "")
    assert mine.claim.scope == GENERAL
    assert dict(mine.words) == {"title": "Something holds", "why": "", "rule": ""}


@pytest.mark.parametrize("policies", [[*KNOWN_POLICIES], "aging", ()])
def test_a_claim_may_be_limited_to_any_policies(policies: Any) -> None:
    limited = made(True, policies=policies).claim.policies
    one = [policies] if isinstance(policies, str) else policies
    assert limited == (frozenset(one) or None)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"claim_id": "LEDGER-1"}, "the id 'LEDGER-1' is one of ours: choose another"),
        ({"claim_id": "mine"}, "the id 'mine' does not look like HIT-1: choose another"),
        ({"policies": ["b", "a"]}, f"policies are {ALL}, got a, b"),
    ],
)
def test_what_is_wrong_is_said_in_full(words: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(says)}$"):
        claim(**{"claim_id": "MINE-1", "title": "Something holds", **words})


def test_a_predicate_that_raises_is_told_with_what_it_raised() -> None:
    raised = KeyError("wait")
    error = failure(raised)
    assert (error.kind, error.message_id) == ("claim", "error.claim_raised")
    assert error.values == {"claim": "MINE-1", "error": "KeyError: 'wait'"}
    assert error.cause is raised


def test_an_answer_that_is_none_is_told_with_its_type() -> None:
    error = failure(7)
    assert (error.kind, error.message_id) == ("claim", "error.claim_answered")
    assert error.values == {"claim": "MINE-1", "answer": "int"}


def test_claims_of_different_ids_stand_side_by_side() -> None:
    one, other = made(True), claim("MINE-2", "Something else holds")(lambda _edge: True)
    assert claims_of({"one": one, "other": other}) == [one, other]
