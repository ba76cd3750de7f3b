"""One judged run: a subject is led through actions, and every edge is judged.

Rules.
1. Every search leads its subjects through a session, so they all judge alike.
2. A broken claim raises `ClaimBroken`, which carries all that is needed to tell it. The
   session is over then.
3. Refusals are judged on the state as the session knows it: an id counts as used once an
   enqueue of it was accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from schedproof.claims.claim import Claim, Kind, Over
from schedproof.claims.edge import Breach, Edge, make_edge
from schedproof.claims.judge import Found, Judge
from schedproof.claims.liveness import drain_bound
from schedproof.claims.run import Run, StartSubject
from schedproof.subjects.actions import STEP, Action, Enqueue
from schedproof.subjects.contract import Config, Feature, expected_refusal
from schedproof.subjects.observation import Answer, Observation


@dataclass(frozen=True)
class Violation:
    """A broken claim, and how to get there.

    The last of `actions` is the one that broke it, or after which it was found broken when
    `edge` is None; the last `drain_steps` of them were taken to drain the run.
    `also_broken` are the ids broken by the same action.
    """

    claim: Claim
    breach: Breach
    also_broken: tuple[str, ...]
    config: Config
    actions: tuple[Action, ...]
    edge: Edge | None = None
    drain_steps: int = 0


class ClaimBroken(AssertionError):
    """Raised by a session at the first broken claim."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(f"{violation.claim.id} is broken after {len(violation.actions)} actions")
        self.violation = violation


@dataclass
class Session:
    """A run in progress.

    `steps_served` counts the steps that served somebody, `exercised` has the bits of the
    judge's claims that this run exercised, `over` tells that a claim or the scheduler broke.
    `remembers` is False where edges hardly come again, so that remembering them costs more.
    """

    start: StartSubject
    config: Config
    judge: Judge
    actions: list[Action] = field(default_factory=list[Action])
    answers: list[Answer] = field(default_factory=list[Answer])
    steps_served: int = 0
    used_ids: set[int] = field(default_factory=set[int])
    exercised: int = 0
    over: bool = False
    remembers: bool = True

    def __post_init__(self) -> None:
        self.subject = self.start(self.config)
        self.rules = self.config.rules()
        self.seen: Observation = self.subject.observe()
        self._strict = Feature.STRICT_TYPES in self.subject.features
        self._at_drain: Observation | None = None
        self._drain_steps = 0

    def do(self, action: Action) -> Answer:
        """Carry out one action and judge it; raises `ClaimBroken` or `SubjectError`."""
        must_refuse = None
        if isinstance(action, Enqueue):
            must_refuse = expected_refusal(action, self.used_ids, self.seen.clock, self._strict)
        self.actions.append(action)
        self.over = True  # unless all of the following goes well
        answer = self.subject.do(action)
        self.answers.append(answer)
        after = self.subject.observe()
        edge = make_edge(self.seen, action, answer, after, self.rules, must_refuse)
        self.seen = after
        self._note(action, answer)
        judgement = self.judge.judge(edge) if self.remembers else self.judge.judge_once(edge)
        self.exercised |= judgement.exercised
        if judgement.broken:
            raise ClaimBroken(self._violation(judgement.broken, edge))
        self.over = False
        return answer

    def _note(self, action: Action, answer: Answer) -> None:
        if isinstance(action, Enqueue) and answer.accepted:
            self.used_ids.add(action.request_id)
        if answer.batch:
            self.steps_served += 1

    def _violation(self, broken: Sequence[Found], edge: Edge | None) -> Violation:
        claim, breach = broken[0]
        also = tuple(other.id for other, _ in broken[1:])
        drained = self._drain_steps if edge is None else 0
        actions = tuple(self.actions)
        return Violation(claim, breach, also, self.config, actions, edge, drained)

    def drain(self) -> None:
        """Step until nobody is served, or as long as everything that fits may take."""
        self._at_drain = self.seen
        for _ in range(drain_bound(self.seen)):
            self._drain_steps += 1
            if not self.do(STEP).batch:
                break

    def run(self) -> Run:
        """The run so far, for claims about whole runs."""
        return Run(
            self.start,
            self.config,
            tuple(self.actions),
            tuple(self.answers),
            self.seen,
            self._at_drain,
            self._drain_steps,
        )

    def judge_run(self) -> None:
        """Judge the claims about whole runs; raises `ClaimBroken` at the first."""
        run = self.run()
        for claim in self.judge.claims:
            if claim.over is Over.RUN and claim.kind is not Kind.SOMETIMES:
                answer = claim.predicate(run)
                if answer is not None:
                    self.judge.count(claim.id)
                if isinstance(answer, Breach):
                    raise ClaimBroken(self._violation([(claim, answer)], None))
