"""From a violation to a counterexample: repeat it, make it smaller, write it down.

Rules.
1. A violation counts only if it comes again. It is repeated on new schedulers, and every
   answer must be the same; a scheduler that answers otherwise is not deterministic, which
   is an error of its own and spoils every other verdict.
2. Made smaller means: actions are dropped one at a time as long as the same claim breaks.
   That gives a short trace, not a proof that it is the shortest.
3. What each action did is read off the requests, not off the scheduler's report: the
   report may be what is broken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from schedproof.claims.claim import Claim
from schedproof.claims.judge import Judge
from schedproof.claims.run import StartSubject
from schedproof.search.frames import Frame, frame_after
from schedproof.search.results import Counterexample, Moment, Part, TrailStep
from schedproof.search.session import ClaimBroken, Session, Violation
from schedproof.subjects.actions import Action, Deliver, to_json
from schedproof.subjects.contract import Config, SubjectError
from schedproof.subjects.observation import STORED_FIELDS, Answer, Observation, Row, Span

REPEATS = 8


def attempt(
    start: StartSubject, config: Config, judge: Judge, actions: Sequence[Action]
) -> Violation | None:
    """Take these actions, drain, judge the run: the first violation, or None."""
    session = Session(start, config, judge)
    try:
        for action in actions:
            session.do(action)
        session.drain()
        session.judge_run()
    except ClaimBroken as broken:
        return broken.violation
    return None


def without_drain(violation: Violation) -> tuple[Action, ...]:
    """The actions up to where the run was drained; draining them again adds the rest."""
    end = len(violation.actions) - violation.drain_steps
    return violation.actions[:end]


def insist_on_repeating(start: StartSubject, violation: Violation) -> None:
    """Raise `SubjectError` (not_deterministic) unless every repeat answers the same."""
    first = _answers(start, violation)
    for _ in range(REPEATS - 1):
        pairs = zip(first, _answers(start, violation), strict=True)
        for number, (one, other) in enumerate(pairs, start=1):
            if one != other:
                raise not_deterministic(number, violation.actions)


def not_deterministic(number: int, actions: Sequence[Action]) -> SubjectError:
    """The same actions were answered differently, first at action `number` (from 1)."""
    values = {"action": number, "actions": [to_json(action) for action in actions]}
    return SubjectError("not_deterministic", "error.not_deterministic", values)


def _answers(start: StartSubject, violation: Violation) -> list[tuple[Answer, Any]]:
    subject = start(violation.config)
    return [(subject.do(action), as_plain(subject.observe())) for action in violation.actions]


_contract = attrgetter(*STORED_FIELDS)


def as_plain(seen: Observation) -> tuple[Any, ...]:
    """An observation by value, of what the contract knows: an attribute may hold the time."""
    return (seen.clock, seen.free, seen.logged, tuple(map(_contract, seen.rows)))


def shortened(start: StartSubject, claims: Sequence[Claim], violation: Violation) -> Violation:
    """The same claim broken by fewer actions, if dropping single ones gets there."""
    judge = Judge(claims)
    best = violation
    position = len(without_drain(best)) - 1
    while position >= 0:
        actions = without_drain(best)
        fewer = actions[:position] + actions[position + 1 :]
        found = _attempt_safely(start, violation.config, judge, fewer)
        if found and found.claim.id == best.claim.id and len(found.actions) < len(best.actions):
            best = found
        position = min(position, len(without_drain(best))) - 1
    return best


def _attempt_safely(
    start: StartSubject, config: Config, judge: Judge, actions: Sequence[Action]
) -> Violation | None:
    try:
        return attempt(start, config, judge, actions)
    except SubjectError:
        return None  # fewer actions led somewhere else; the trace at hand stays


def counterexample(
    start: StartSubject, violation: Violation, found_by: str, shortest: bool = False
) -> Counterexample:
    """All that telling a violation needs, from one more replay."""
    subject = start(violation.config)
    seen = before = subject.observe()
    trail: list[TrailStep] = []
    frames = [frame_after({}, _requests(seen), seen.clock, seen.free)]
    for action in violation.actions:
        before = seen
        answer = subject.do(action)
        seen = subject.observe()
        trail.append(_trail_step(before, action, answer, seen))
        frames.append(_frame(before, answer, seen, trail[-1]))
    judged_run = violation.edge is None
    return Counterexample(
        claim=violation.claim.id,
        also_broken=violation.also_broken,
        policy=violation.config.policy,
        blocks=violation.config.blocks,
        aging_interval=violation.config.aging_interval,
        actions=tuple(to_json(action) for action in violation.actions),
        shortest=shortest,
        found_by=found_by,
        text=violation.breach.text,
        values={name: plain(value) for name, value in violation.breach.values.items()},
        guilty=violation.breach.guilty,
        trail=tuple(trail),
        before=None if judged_run else _moment(before),
        after=None if judged_run else _moment(seen),
        frames=tuple(frames),
        limits=violation.config.limits,
    )


def _trail_step(
    before: Observation, action: Action, answer: Answer, after: Observation
) -> TrailStep:
    known = {row.request_id: row for row in before.rows}
    pairs = [(known.get(row.request_id), row) for row in after.rows]
    victims = tuple(row.request_id for old, row in pairs if old and old.admitted and _gave_way(row))
    step = TrailStep(after.free, preempted=victims, refused=answer.accepted is False)
    if after.paged is not None:
        told = _batch_step(step, before, answer, pairs)
        return told if not before.in_flight + after.in_flight else _apart(told, before, action)
    if not answer.batch:
        return step
    span = answer.batch[0]
    served = next((pair for pair in pairs if pair[1].request_id == span.request_id), None)
    old, new = served or (None, None)
    return replace(
        step,
        served=plain(span.request_id),
        ran=span.phase,
        generated=new.generated_len if new else None,
        admitted=bool(old and not old.admitted),
        finished=bool(new and new.finished),
    )


def _batch_step(
    step: TrailStep, before: Observation, answer: Answer, pairs: list[tuple[Row | None, Row]]
) -> TrailStep:
    """What an action did to a scheduler of batches."""
    by_id = {new.request_id: (old, new) for old, new in pairs}
    parts = tuple(_part(span, *by_id.get(span.request_id, (None, None))) for span in answer.batch)
    victims = tuple(new.request_id for old, new in pairs if old and _was_preempted(old, new))
    rejected: Any = answer.rejected
    aborted = [old for old, new in pairs if old and new.finished and not old.finished]
    freed = None
    if not answer.batch and answer.accepted is None and aborted:
        freed = step.free - before.free
    return replace(step, preempted=victims, parts=parts, rejected=rejected, freed=freed)


def _apart(step: TrailStep, before: Observation, action: Action) -> TrailStep:
    """The same where decision and result are apart: a token is there when it is delivered."""
    if isinstance(action, Deliver):
        flown = before.in_flight[0] if before.in_flight else ()
        valid = {part.request for part in step.parts}
        dropped = tuple(s.request_id for s in flown if s.request_id not in valid)
        return replace(step, delivered=True, dropped=dropped)
    lengths = {row.request_id: row.prompt_len for row in before.rows}
    parts = [replace(p, generated=p.end - lengths.get(p.request, 0) + 1) for p in step.parts]
    return replace(step, parts=tuple(parts))


def _was_preempted(old: Row, new: Row) -> bool:
    return new.preemptions > old.preemptions or old.status != new.status == "preempted"


def _part(span: Span, old: Row | None, new: Row | None) -> Part:
    part = Part(span.request_id, span.phase, span.start or 0, span.end or 0)
    if old is None or new is None:
        return part
    admitted = not old.admitted or new.preemptions > old.preemptions
    grew = 0 if admitted or new.finished else new.held_blocks - old.held_blocks
    return replace(
        part,
        generated=new.generated_len,
        admitted=admitted,
        resumed=admitted and new.preemptions > 0,
        grew=max(0, grew),
        finished=new.finished,
        emitted=new.generated_len > old.generated_len,
    )


def _frame(before: Observation, answer: Answer, after: Observation, step: TrailStep) -> Frame:
    return frame_after(
        _requests(before),
        _requests(after),
        after.clock,
        after.free,
        served=tuple(plain(span.request_id) for span in answer.batch),
        preempted=step.preempted,
        refused=step.refused,
    )


def _gave_way(row: Row) -> bool:
    return not row.admitted and not row.finished


def _moment(seen: Observation) -> Moment:
    held = sum(row.held_blocks for row in seen.rows)
    paged = seen.paged
    shown = paged and {
        name: list(getattr(paged, name))
        for name in ("free_ids", "references", "running", "waiting", "reserved")
    }
    flying = [[[s.request_id, s.start or 0, s.end or 0] for s in f] for f in seen.in_flight]
    return Moment(seen.clock, seen.free, held, _requests(seen), shown, flying)


def _requests(seen: Observation) -> dict[str, dict[str, Any]]:
    """The requests' fields as JSON can hold them, by id."""
    return {
        str(row.request_id): {
            "state": None if row.state is None else row.state.value,
            **{name: plain(getattr(row, name)) for name in STORED_FIELDS},
            **{name: plain(value) for name, value in row.extra},
        }
        if row.block_ids is None
        else _fields_in_batches(row)
        for row in seen.rows
    }


def _fields_in_batches(row: Row) -> dict[str, Any]:
    """The fields of a request in a scheduler of batches: those that it has."""
    stored = {name: plain(getattr(row, name)) for name in STORED_FIELDS}
    extra = {n: plain([*v] if v.__class__ is tuple else v) for n, v in row.extra}
    return {
        "state": None if row.state is None else row.state.value,
        **{name: value for name, value in stored.items() if value is not None},
        "computed_len": row.computed_len,
        "block_ids": list(row.block_ids or ()),
        **extra,
    }


def plain(value: Any) -> Any:
    """A value as JSON can hold it; what it cannot hold is told by its repr."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if type(value) in (list,):  # narrowed by no type checker: what is in it may be anything
        return [plain(part) for part in value]
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return value
    return repr(value)
