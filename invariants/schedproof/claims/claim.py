"""What a claim is: a value with an id, a kind, a predicate and what it needs.

Rules.
1. A claim is one positive sentence that can be false. The sentence, its title, why it
   matters and what it leaves out are told by the message catalogue under the claim's id.
2. Kinds. *always*: a predicate over one edge. *always_with_history*: the same, where rows
   also carry what the claim needs of the past. *relation*: a rewrite of the actions and
   what must stay equal. *sometimes*: something that must be reachable for a run to mean
   anything. *eventually*: decided by a finished run.
3. *reference* claims judge the chapter's exact rules, *general* ones any scheduler that
   has what they need.
4. Predicates have no side effects and see only what they are handed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from schedproof.claims.edge import Judged
from schedproof.subjects.contract import Feature, Subject


class Kind(str, Enum):
    """In what way a claim is claimed."""

    ALWAYS = "always"
    ALWAYS_WITH_HISTORY = "always_with_history"
    RELATION = "relation"
    SOMETIMES = "sometimes"
    EVENTUALLY = "eventually"

    __str__ = str.__str__


class Over(str, Enum):
    """What a predicate looks at: one `Change`, one `Edge`, one finished `Run`, or `Rounds`.

    Rounds are what the search for endless waits hands in, and no other. A predicate over
    steps, or over steps that preempt, answers None on every other edge, so nobody need ask
    it there.
    """

    CHANGE = "change"
    EDGE = "edge"
    STEP = "step"
    PREEMPTION = "preemption"
    RUN = "run"
    ROUNDS = "rounds"

    __str__ = str.__str__


REFERENCE, GENERAL = "reference", "general"


@dataclass(frozen=True)
class Claim:
    """One claim. `source` says where the rule comes from; `policies` limits it, if set."""

    id: str
    kind: Kind
    scope: str
    over: Over
    predicate: Callable[[Any], Judged]
    source: str
    needs: frozenset[Feature]
    policies: frozenset[str] | None = None

    def applies_to(self, subject: Subject) -> bool:
        """Whether the subject exposes and declares all that this claim needs."""
        if self.policies is not None and subject.config.policy not in self.policies:
            return False
        return self.needs <= subject.features

    @property
    def family(self) -> str:
        """The id's first part, as in LEDGER."""
        return self.id.partition("-")[0]


def needs(*features: Feature) -> frozenset[Feature]:
    """The features that a claim needs."""
    return frozenset(features)
