"""Playing one input to its end, every step judged.

Rules.
1. Requests are handed in when they are due, then steps are taken until all are finished or a
   claim is broken. How long that may take is what STALL-3 says; a cap ends the rest.
2. An engine is started anew for each input, and never copied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from schedproof.claims.judge import Judge
from schedproof.engines.subject import EngineSubject
from schedproof.search.engines.box import Plan
from schedproof.search.session import ClaimBroken, Session, Violation
from schedproof.subjects.actions import STEP
from schedproof.subjects.contract import Config
from schedproof.subjects.observation import Answer, Raised

STEPS_MAX = 400
StartEngine = Callable[[Config], EngineSubject]


@dataclass
class Played:
    """What a run came to: the violation if there was one, and how much was done.

    `hung` tells that a call did not come back: such runs take long.
    """

    violation: Violation | None
    actions: int
    steps: int
    served: int
    hung: bool = False


def play(start: StartEngine, plan: Plan, judge: Judge) -> Played:
    """Play a plan to its end, or to the first broken claim."""
    session = Session(start, plan.config, judge, remembers=False)
    violation: Violation | None = None
    steps = 0
    raised: Raised | None = None
    try:
        while steps < STEPS_MAX:
            for action in plan.due(steps):
                session.do(action)
            steps += 1
            if all(row.finished for row in session.seen.rows):
                if steps > plan.last:
                    break
                continue  # nobody asks an idle engine for a step
            answer = session.do(STEP)
            raised = _raised(answer)
            if raised is not None:
                break  # nobody asked whether it may
    except ClaimBroken as broken:
        violation = broken.violation
        raised = None if violation.edge is None else _raised(violation.edge.answer)
    hung = raised is not None and not raised.type
    return Played(violation, len(session.actions), steps, session.steps_served, hung)


def _raised(answer: Answer) -> Raised | None:
    return None if answer.ran is None else answer.ran.raised
