"""Claims of your own: a predicate, a sentence, and they are judged like ours.

Rules.
1. A file given with `--claims-from` is Python. Every predicate in it that `claim` decorates is
   a claim; its id looks like HIT-1, is none of ours, and stands for one claim only.
2. A predicate is asked about one action at a time (`over` is "step", "preemption", "change" or
   "edge") and answers None (nothing to judge here), True (it holds), or why it does not: a text,
   or `broken(text, (request id, field), ...)`, which marks the guilty fields too. False is for
   those who have nothing more to say.
3. It sees the `Edge` (or the `Change`) and nothing else. Equal edges are judged once and
   remembered, so a predicate must not depend on anything that it is not shown.
4. What such a predicate raises is an error of the check, never a broken claim.
5. Its words are in one language, the author's; everything around them is in the reader's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from schedmodel.policy import KNOWN_POLICIES
from schedproof.claims.catalogue import BY_ID
from schedproof.claims.claim import GENERAL, Claim, Kind, Over
from schedproof.claims.edge import Breach, Judged
from schedproof.subjects.contract import SubjectError
from schedproof.subjects.load_errors import TargetError

OVER = (Over.STEP, Over.PREEMPTION, Over.CHANGE, Over.EDGE)
ID = re.compile(r"[A-Z][A-Z0-9]*-[A-Z0-9]+")
Told = bool | str | Breach | None
Predicate = Callable[[Any], Told]
Words = dict[str, str]
"""A claim's texts by the names `title`, `why` and `rule`; "" for one that is not there."""


@dataclass(frozen=True)
class OwnClaim:
    """A predicate that has been made a claim; it can still be called."""

    claim: Claim
    words: Mapping[str, str]
    told: Predicate

    def __call__(self, about: Any) -> Told:
        return self.told(about)


def claim(
    claim_id: str,
    title: str,
    *,
    over: str = "step",
    why: str = "",
    rule: str = "",
    policies: Iterable[str] = (),
) -> Callable[[Predicate], OwnClaim]:
    """Make a predicate a claim that `--claims-from` finds.

    `title` is one positive sentence that can be false; `why` says what it costs when it is, and
    `rule` what to do. `policies` limits the claim to some policies; it applies to all if empty.
    Raises `ValueError` for an id, a kind of question or a policy that cannot be.
    """
    names = tuple(over_.value for over_ in OVER)
    if not ID.fullmatch(claim_id) or claim_id in BY_ID:
        problem = "is one of ours" if claim_id in BY_ID else "does not look like HIT-1"
        raise ValueError(f"the id {claim_id!r} {problem}: choose another")
    if over not in names:
        raise ValueError(f"over must be one of {', '.join(names)}, got {over!r}")
    limited = frozenset([policies] if isinstance(policies, str) else policies)
    if not limited <= set(KNOWN_POLICIES):
        wrong = ", ".join(sorted(limited - set(KNOWN_POLICIES)))
        raise ValueError(f"policies are {', '.join(KNOWN_POLICIES)}, got {wrong}")
    if not title.strip():
        raise ValueError(f"the claim {claim_id} needs a title: one sentence that can be false")

    def made(told: Predicate) -> OwnClaim:
        value = Claim(
            claim_id,
            Kind.ALWAYS,
            GENERAL,
            Over(over),
            _judging(claim_id, told),
            source="",
            needs=frozenset(),
            policies=limited or None,
        )
        return OwnClaim(value, {"title": title, "why": why, "rule": rule}, told)

    return made


def broken(text: str, *guilty: tuple[int | None, str]) -> Breach:
    """Why a claim of yours is broken, and which fields show it.

    `guilty` are pairs (request id, field); (None, field) is one of the scheduler's own.
    """
    return Breach("own", {"explanation": text}, guilty)


def _judging(claim_id: str, told: Predicate) -> Callable[[Any], Judged]:
    def predicate(about: Any) -> Judged:
        try:
            answer: Any = told(about)
        except Exception as error:
            values = {"claim": claim_id, "error": f"{type(error).__name__}: {error}"}
            raise SubjectError("claim", "error.claim_raised", values, cause=error) from error
        return _judged(claim_id, answer)

    return predicate


def _judged(claim_id: str, answer: Any) -> Judged:
    """What a predicate's answer comes to, whatever its author let it be."""
    if answer is None or answer is True or isinstance(answer, Breach):
        return answer
    if answer is False:
        return Breach("own.unsaid")
    if isinstance(answer, str):
        return broken(answer)
    values = {"claim": claim_id, "answer": type(answer).__name__}
    raise SubjectError("claim", "error.claim_answered", values)


def claims_of(names: Mapping[str, Any]) -> list[OwnClaim]:
    """The claims among a module's names, each once, in their order.

    Raises `TargetError` where two of them have the same id.
    """
    found: dict[str, OwnClaim] = {}
    for value in names.values():
        if isinstance(value, OwnClaim) and found.setdefault(value.claim.id, value) is not value:
            raise TargetError("target.claim_twice", name=value.claim.id)
    return list(found.values())
