"""A trace taken again on a scheduler, in this process: what became of it.

Rules.
1. The traced claim is judged alone first: what else may be wrong by now does not hide it. If
   it holds, all claims are judged, and another one may be broken.
2. The trace no longer fits where the scheduler does not have the policy, has no such action,
   cannot be judged by the claim, or where the built-in model would come to what the claim is
   about and the scheduler does not. Then nothing is said of the claim.
3. A trace of a scheduler that raised is broken still if it raises in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from schedmodel.scheduler import DecodeSchedulerSim
from schedproof.claims.against import MODEL_1
from schedproof.claims.catalogue import BY_ID, CLAIMS, applicable
from schedproof.claims.claim import Claim, Over
from schedproof.claims.edge import Breach
from schedproof.claims.judge import Judge
from schedproof.claims.liveness import Rounds
from schedproof.claims.run import StartSubject
from schedproof.search.again import FOR_EVER
from schedproof.search.finding_out import explained
from schedproof.search.replay import counterexample
from schedproof.search.results import Counterexample, Trouble, counterexample_from_json
from schedproof.search.session import ClaimBroken, Session, Violation
from schedproof.search.summing_up import trouble_of
from schedproof.subjects.actions import Action, Step
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config, Feature, PolicyRefused, SubjectError
from schedproof.subjects.places import StopSubject
from schedproof.traces.trace import Trace

STILL, OTHERWISE, FIXED, UNFIT, FAILED = (
    "still_broken",
    "broken_otherwise",
    "fixed",
    "no_longer_fits",
    "error",
)


@dataclass(frozen=True)
class Taken:
    """What became of a trace; one of the parts belongs to each status.

    `reason` names the text that says why the trace no longer fits, with its values. `judged` are
    the claims that the actions exercised.
    """

    status: str
    example: Counterexample | None = None
    trouble: Trouble | None = None
    reason: str = ""
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    fingerprint: str | None = None
    judged: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` is its inverse."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Taken:
        """What `to_json` wrote, also after a trip through JSON text."""
        made = dict(record)
        if record["example"]:
            made["example"] = counterexample_from_json(record["example"])
        if record["trouble"]:
            trouble = Trouble(**record["trouble"])
            made["trouble"] = replace(trouble, actions=tuple(trouble.actions))
        made["judged"] = tuple(record["judged"])
        return cls(**made)


def take_again(trace: Trace, start: StartSubject, own: Sequence[Claim] = ()) -> Taken:
    """What becomes of a trace on a scheduler, explained; `own` are claims that are not ours."""
    return with_evidence(taken_plainly(trace, start, own), start, own)


def with_evidence(
    taken: Taken, start: StartSubject, own: Sequence[Claim] = (), until: float = FOR_EVER
) -> Taken:
    """The same with what can be found out about its counterexample until that moment."""
    if taken.example is None:
        return taken
    claims = (*own, MODEL_1)
    found = explained(taken.example, start, claims, plain=False, until=until)
    return replace(taken, example=found)


def taken_plainly(trace: Trace, start: StartSubject, own: Sequence[Claim] = ()) -> Taken:
    """What becomes of a trace on a scheduler, without what is behind it."""
    try:
        subject = start(trace.config)
    except PolicyRefused as refused:
        text = str(refused.args[1])
        return Taken(UNFIT, reason="unfit.policy", values={"policy": refused.args[0], "text": text})
    except (SubjectError, StopSubject) as error:
        return Taken(FAILED, trouble=trouble_of(error))
    if trace.claim is None:
        return _trouble_again(trace, start) if trace.trouble else _by_all(trace, start, own)
    known = {**BY_ID, MODEL_1.id: MODEL_1, **{claim.id: claim for claim in own}}
    claim = known.get(trace.claim)
    if claim is None:
        return Taken(UNFIT, reason="unfit.claim_unknown", values={"claim": trace.claim})
    if claim.over is not Over.ROUNDS and not claim.applies_to(subject):
        return Taken(UNFIT, reason="unfit.claim_not_applicable", values={"claim": trace.claim})
    others = (MODEL_1,) if claim is MODEL_1 else CLAIMS
    return _claim_again(trace, start, claim, (*own, *others))


def _claim_again(trace: Trace, start: StartSubject, claim: Claim, claims: Sequence[Claim]) -> Taken:
    actions = trace.parsed_actions()
    taken: list[Action] = []
    try:
        if claim.over is Over.ROUNDS:
            return _loop_again(trace, start, claim, taken)
        judge = Judge([claim])
        found = play(start, trace.config, judge, actions, taken)
        if found is not None:
            return _broken(STILL, trace, start, claims, found)
        others = [each for each in claims if each.over is not Over.ROUNDS]
        others = applicable(others, start(trace.config))
        found = play(start, trace.config, Judge(others), actions, taken)
    except SubjectError as error:
        return _error(error, taken)
    except StopSubject as error:
        return Taken(FAILED, trouble=trouble_of(error, taken))
    if found is not None:
        return _broken(OTHERWISE, trace, start, claims, found)
    if not judge.exercised()[claim.id] and _model_comes_to_it(trace, claim, start):
        return Taken(UNFIT, reason="unfit.not_exercised", values={"claim": claim.id})
    return Taken(FIXED)


def _by_all(trace: Trace, start: StartSubject, own: Sequence[Claim]) -> Taken:
    """A trace of another tool, which names no claim: whatever breaks first."""
    claims = [each for each in (*own, *CLAIMS) if each.over is not Over.ROUNDS]
    taken: list[Action] = []
    try:
        judge = Judge(applicable(claims, start(trace.config)))
        found = play(start, trace.config, judge, trace.parsed_actions(), taken)
    except SubjectError as error:
        return _error(error, taken)
    except StopSubject as error:
        return Taken(FAILED, trouble=trouble_of(error, taken))
    return Taken(FIXED) if found is None else _broken(OTHERWISE, trace, start, claims, found)


def _error(error: SubjectError, taken: Sequence[Action]) -> Taken:
    if error.message_id == "contract.no_such_verb":
        return Taken(UNFIT, reason="unfit.no_verb", values=dict(error.values))
    return Taken(FAILED, trouble=trouble_of(error, taken))


def play(
    start: StartSubject,
    config: Config,
    judge: Judge,
    actions: Sequence[Action],
    taken: list[Action],
) -> Violation | None:
    """The first violation on the way, or of the whole run; `taken` gets what was done."""
    session = Session(start, config, judge)
    taken.clear()
    try:
        for action in actions:
            taken.append(action)
            session.do(action)
        if any(claim.over is Over.RUN for claim in judge.claims):
            session.drain()
            session.judge_run()
    except ClaimBroken as broken:
        return broken.violation
    return None


def _broken(
    status: str,
    trace: Trace,
    start: StartSubject,
    claims: Sequence[Claim],
    found: Violation,
) -> Taken:
    """The violation with all that telling it needs, and the other claims that it breaks."""
    taken: list[Action] = []
    judged: tuple[str, ...] = ()
    if found.edge is not None:
        others = [each for each in claims if each.over not in (Over.RUN, Over.ROUNDS)]
        judge = Judge(applicable(others, start(trace.config)))
        whole = play(start, trace.config, judge, found.actions, taken)
        if whole is not None and len(whole.actions) == len(found.actions):
            ids = dict.fromkeys((whole.claim.id, *whole.also_broken))
            also = tuple(each for each in ids if each != found.claim.id)
            found = replace(found, also_broken=also)
            judged = tuple(claim for claim, times in judge.exercised().items() if times)
    shortest = trace.shortest and status == STILL and len(found.actions) == trace.length
    example = counterexample(start, found, trace.provenance.found_by, shortest)
    return Taken(status, example, judged=judged)


def _model_comes_to_it(trace: Trace, claim: Claim, judged: StartSubject) -> bool:
    """Whether the built-in model, where it is a measure, exercises the claim on these actions."""

    def start(config: Config) -> ChapterSubject:
        return ChapterSubject(from_class(DecodeSchedulerSim), config)

    if Feature.REFERENCE_ORDER not in judged(trace.config).features:
        return False
    judge = Judge([claim])
    try:
        play(start, trace.config, judge, trace.parsed_actions(), [])
    except (SubjectError, PolicyRefused):
        return False
    return judge.exercised()[claim.id] > 0


def _trouble_again(trace: Trace, start: StartSubject) -> Taken:
    """A trace of a scheduler that failed as a program."""
    taken: list[Action] = []
    try:
        subject = start(trace.config)
        for action in trace.parsed_actions():
            taken.append(action)
            subject.do(action)
            subject.observe()
    except (SubjectError, StopSubject) as error:
        trouble = trouble_of(error, taken)
        return Taken(STILL if trouble.kind == trace.trouble else FAILED, trouble=trouble)
    return Taken(FIXED)


def _loop_again(trace: Trace, start: StartSubject, claim: Claim, taken: list[Action]) -> Taken:
    """An endless wait: the loop taken as often as the trace has it."""
    lasso = trace.lasso
    if lasso is None:
        return Taken(UNFIT, reason="unfit.no_loop", values={"claim": claim.id})
    rounds = _rounds(trace, start, taken, **lasso)
    breach = claim.predicate(rounds)
    if breach is None:
        return Taken(UNFIT, reason="unfit.not_exercised", values={"claim": claim.id})
    if not isinstance(breach, Breach):
        return Taken(FIXED)
    found = Violation(claim, breach, (), trace.config, trace.parsed_actions())
    return Taken(STILL, example=counterexample(start, found, trace.provenance.found_by))


def _rounds(
    trace: Trace, start: StartSubject, taken: list[Action], request: int, stem: int, loop: int
) -> Rounds:
    """What happens to the request that waits, round by round."""
    subject = start(trace.config)
    seen = subject.observe()
    waits, wait, advanced = [0], 0, False
    taken.clear()
    for number, action in enumerate(trace.parsed_actions(), start=1):
        taken.append(action)
        answer = subject.do(action)
        seen = subject.observe()
        served = [span.request_id for span in answer.batch]
        known = any(row.request_id == request and not row.finished for row in seen.rows)
        if request in served:
            wait, advanced = 0, advanced or number > stem
        elif isinstance(action, Step) and served and known:
            wait += 1
        if number <= stem:
            waits = [wait]
        elif (number - stem) % loop == 0:
            waits.append(wait)
    row = next((row for row in seen.rows if row.request_id == request), None)
    return Rounds(
        request=request,
        kind=f"r{request}",
        needs=seen.capacity + 1 if row is None else row.required_blocks,
        capacity=seen.capacity,
        stem=stem,
        loop=loop,
        before=waits[0],
        waits=tuple(waits[1:]),
        advanced=advanced,
    )
