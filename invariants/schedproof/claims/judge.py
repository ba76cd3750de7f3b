"""Judging edges: every applicable claim on every edge, each question answered once.

Rules. An edge holds all that predicates may see, so equal edges are judged once and
remembered; the same goes for changes below them. What is counted is exact all the same:
a remembered edge counts its hits, and the counts are added up at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from schedproof.claims.catalogue import in_telling_order
from schedproof.claims.claim import Claim, Kind, Over
from schedproof.claims.edge import Breach, Change, Edge

REMEMBERED_MAX = 500_000
Found = tuple[Claim, Breach]


class Judgement(NamedTuple):
    """Which claims an edge exercised (bit i: `Judge.claims[i]`), and which it broke."""

    exercised: int
    broken: tuple[Found, ...]


Question = tuple[int, Callable[[Any], Any], Claim]
"""A claim's bit, its predicate, and the claim."""


def _answers(questions: Sequence[Question], about: Edge | Change) -> Judgement:
    exercised = 0
    broken: tuple[Found, ...] = ()
    for bit, predicate, claim in questions:
        answer = predicate(about)
        if answer is not None:
            exercised |= bit
            if answer is not True:
                broken += ((claim, answer),)
    return Judgement(exercised, broken)


class Judge:
    """Judges edges by the given claims and counts how often each was exercised.

    Claims over runs are left to their own searches; `count` takes their results in.
    """

    def __init__(self, claims: Sequence[Claim]) -> None:
        self.claims = in_telling_order(claims)
        self._bits = {claim.id: 1 << i for i, claim in enumerate(self.claims)}
        self._of_any_edge = self._questions(Over.EDGE)
        self._of_steps = self._of_any_edge + self._questions(Over.STEP)
        self._of_preemptions = self._of_steps + self._questions(Over.PREEMPTION)
        self._of_changes = self._questions(Over.CHANGE)
        self._changes: dict[Change, Judgement] = {}
        self._edges: dict[Hashable, Judgement] = {}
        self._hits: dict[int, int] = {}
        self._counts = dict.fromkeys(self._bits, 0)

    def _questions(self, over: Over) -> list[Question]:
        return [(self._bits[c.id], c.predicate, c) for c in self.claims if c.over is over]

    def judge(self, edge: Edge) -> Judgement:
        """The judgement of one edge, broken claims in telling order."""
        judgement = self._remembered(edge)
        self.count_mask(judgement.exercised)
        return judgement

    def judge_once(self, edge: Edge) -> Judgement:
        """The same for an edge that hardly comes again; it is not remembered."""
        if len(self._changes) > REMEMBERED_MAX:
            self._changes.clear()
        judgement = self.ask(edge)
        self.count_mask(judgement.exercised)
        return judgement

    def _remembered(self, edge: Edge) -> Judgement:
        try:
            known = self._edges.get(edge)
        except TypeError:  # a probe of wrong types may hold what cannot be hashed
            return self.ask(edge)
        if known is None:
            if len(self._edges) > REMEMBERED_MAX:
                self._edges.clear()
            known = self._edges[edge] = self.ask(edge)
        return known

    def ask(self, edge: Edge) -> Judgement:
        """The judgement of an edge, neither remembered nor counted."""
        questions = self._of_any_edge
        if edge.stepped:
            questions = self._of_preemptions if edge.victims else self._of_steps
        exercised, broken = _answers(questions, edge)
        for change in edge.changes:
            below = self._changes.get(change)
            if below is None:
                below = self._changes[change] = _answers(self._of_changes, change)
            exercised |= below.exercised
            broken += below.broken
        return Judgement(exercised, self._in_order(broken) if broken else ())

    def _in_order(self, broken: tuple[Found, ...]) -> tuple[Found, ...]:
        """One breach for each claim, most specific claim first."""
        first: dict[str, Found] = {}
        for claim, breach in broken:
            first.setdefault(claim.id, (claim, breach))
        return tuple(first[claim.id] for claim in self.claims if claim.id in first)

    def count_mask(self, exercised: int, times: int = 1) -> None:
        """Count a judgement's exercises that many times."""
        self._hits[exercised] = self._hits.get(exercised, 0) + times

    def count(self, claim_id: str, times: int = 1) -> None:
        """Count exercises of a claim that is judged elsewhere; nothing for other claims."""
        if claim_id in self._counts:
            self._counts[claim_id] += times

    def exercised(self) -> dict[str, int]:
        """How often each claim was exercised, by id."""
        totals = dict(self._counts)
        for exercised, hits in self._hits.items():
            for claim_id, bit in self._bits.items():
                if exercised & bit:
                    totals[claim_id] += hits
        return totals

    def names(self, exercised: int) -> list[str]:
        """The ids behind a set of bits, in telling order."""
        return [claim_id for claim_id, bit in self._bits.items() if exercised & bit]

    def nothing_was_judged(self) -> bool:
        """Whether no claim that can be broken was exercised at all."""
        totals = self.exercised()
        return not any(
            totals[claim.id] for claim in self.claims if claim.kind is not Kind.SOMETIMES
        )
