"""Taking the actions of a trace again, to see whether the claim still breaks, and where.

Rules.
1. Each answer comes from a new scheduler, led through a session like in any search.
2. A scheduler that fails as a program on other actions than those of the trace is no
   answer to whether the claim breaks: it counts as not broken.
3. There is a budget of actions, and a moment to end. Who asks for more gets `OutOfBudget`, and
   says only what is known by then. So the cost of explaining a trace does not depend on the
   trace, nor on how slow the scheduler is.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from schedproof.claims.catalogue import applicable
from schedproof.claims.claim import Claim, Over
from schedproof.claims.judge import Judge
from schedproof.claims.run import StartSubject
from schedproof.search.session import ClaimBroken, Session, Violation
from schedproof.subjects.actions import Action
from schedproof.subjects.contract import Config, PolicyRefused, SubjectError

ACTIONS_MAX = 8_000
DRAINED_COSTS = 10
"""A claim about whole runs takes the actions that often: draining, and its own repeats."""


FOR_EVER = float("inf")


class OutOfBudget(Exception):
    """More was asked than may be taken."""


def insist_on_time(until: float) -> None:
    """Raise `OutOfBudget` where this moment of the monotonic clock has passed."""
    if time.monotonic() > until:
        raise OutOfBudget


@dataclass
class Again:
    """Takes actions again under these claims, within a budget and until a moment."""

    start: StartSubject
    claims: Sequence[Claim]
    budget: int = ACTIONS_MAX
    until: float = FOR_EVER
    _judges: dict[Config, Judge | None] = field(default_factory=dict[Config, "Judge | None"])

    def violation(self, actions: Sequence[Action], config: Config) -> Violation | None:
        """What these actions break, judged by all the claims; None if nothing."""
        judge = self._judge(config)
        return None if judge is None else self._attempt(actions, config, judge)

    def has_policy(self, config: Config) -> bool:
        """Whether the scheduler can be set up so."""
        return self._judge(config) is not None

    def _judge(self, config: Config) -> Judge | None:
        if config not in self._judges:
            try:
                judge = Judge(applicable(self.claims, self.start(config)))
            except (PolicyRefused, SubjectError):
                judge = None
            self._judges[config] = judge if judge is None or judge.claims else None
        return self._judges[config]

    def _attempt(self, actions: Sequence[Action], config: Config, judge: Judge) -> Violation | None:
        about_runs = any(claim.over is Over.RUN for claim in judge.claims)
        self.budget -= len(actions) * (DRAINED_COSTS if about_runs else 1)
        if self.budget < 0:
            raise OutOfBudget
        try:
            session = Session(self.start, config, judge)
            for action in actions:
                insist_on_time(self.until)
                session.do(action)
            if about_runs:
                session.drain()
                session.judge_run()
        except ClaimBroken as broken:
            return broken.violation
        except SubjectError:
            return None
        return None


def without_runs(claims: Sequence[Claim]) -> list[Claim]:
    """The claims that can be judged on the way, edge by edge."""
    return [claim for claim in claims if claim.over not in (Over.RUN, Over.ROUNDS)]
