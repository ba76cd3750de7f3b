"""Playing one input to its end, every step judged.

Rules.
1. Requests are handed in when they are due, then steps are taken until all are finished or a
   claim is broken. How long that may take is what STALL-3 says; a cap ends the rest.
2. An engine is started anew for each input, and never copied.
3. Where steps are delivered later, as many are decided as may be in flight, then the oldest one
   is delivered; one that is empty is followed by a delivery.
4. The id of a request is used again only if that has ended; the plan may not know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from schedproof.claims.judge import Judge
from schedproof.engines.subject import EngineSubject
from schedproof.search.engines.box import Plan
from schedproof.search.session import ClaimBroken, Session, Violation
from schedproof.subjects.actions import DELIVER, STEP, Abort, Action, EngineEnqueue
from schedproof.subjects.contract import Config
from schedproof.subjects.observation import Answer, Observation, Raised

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
    served, taken = True, set[int]()
    due, last = plan.due, plan.last
    try:
        while steps < STEPS_MAX:
            for action in due.get(steps, ()):
                may = _as_far_as_may_be(action, session.seen, taken)
                if may is not None:
                    session.do(may)
            steps += 1
            flying = len(session.seen.in_flight)
            if not flying and all(row.finished for row in session.seen.rows):
                if steps > last:
                    break
                continue  # nobody asks an idle engine for a step
            if flying and (flying >= plan.in_flight or not served):
                answer, served = session.do(DELIVER), True
            else:
                answer = session.do(STEP)
                served = bool(answer.batch)
            raised = _raised(answer)
            if raised is not None:
                break  # nobody asked whether it may
    except ClaimBroken as broken:
        violation = broken.violation
        raised = None if violation.edge is None else _raised(violation.edge.answer)
    hung = raised is not None and not raised.type
    return Played(violation, len(session.actions), steps, session.steps_served, hung)


def _as_far_as_may_be(action: Action, seen: Observation, taken: set[int]) -> Action | None:
    """The action as it is done: under an id of its own where the other may not be used again.

    An abort of somebody whose id is another's by now would be an abort of that one: None.
    """
    if isinstance(action, Abort) and action.request_id in taken:
        return None
    if not isinstance(action, EngineEnqueue) or action.reuses is None:
        return action
    ended = any(row.finished for row in seen.rows if row.request_id == action.reuses)
    if ended and action.reuses not in taken:
        taken.add(action.reuses)
        return action
    return replace(action, reuses=None)


def _raised(answer: Answer) -> Raised | None:
    return None if answer.ran is None else answer.ran.raised
