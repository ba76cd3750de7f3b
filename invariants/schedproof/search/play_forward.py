"""What follows from a broken claim: the trace played forward by plain steps.

Rules.
1. No new request arrives. Steps are taken until all are finished, or nobody was served for a
   good while, or for as long as everything could possibly take.
2. The measure is the built-in model, led through the same actions, where the scheduler
   promises the chapter's rules and accepts and refuses what the model does.
3. What was computed twice is read off the requests, not off the reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from schedmodel.scheduler import DecodeSchedulerSim
from schedproof.claims.run import StartSubject
from schedproof.search.again import FOR_EVER, OutOfBudget, insist_on_time
from schedproof.search.evidence import DONE, ENDLESS, RAISED, STUCK, Forward, Later, Left
from schedproof.subjects.actions import DELIVER, STEP, Action, Deliver, Enqueue, Step
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config, Feature, Subject, SubjectError
from schedproof.subjects.observation import Answer, Observation, Row

IDLE_MAX = 12
"""So many steps without a request served, and nobody waits for a rest of the scheduler's own."""
DRAIN_MAX = 2_000
"""Beyond so many steps it is not waited for the end."""


@dataclass
class _Played:
    """A scheduler on its way, and what is remembered of it."""

    subject: Subject
    until: float = FOR_EVER
    steps: int = 0
    served: int = 0
    accepted: list[bool | None] = field(default_factory=list[bool | None])
    known: list[Any] = field(default_factory=list[Any])
    twice_named: bool = False
    finished: dict[int, int] = field(default_factory=dict[int, int])
    computed: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    repeated: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def __post_init__(self) -> None:
        self.seen: Observation = self.subject.observe()

    def do(self, action: Action) -> Answer:
        insist_on_time(self.until)
        before = {row.request_id: row for row in self.seen.rows}
        answer = self.subject.do(action)
        self.seen = self.subject.observe()
        self.accepted.append(answer.accepted)
        if isinstance(action, Enqueue) and answer.accepted:
            self.twice_named = self.twice_named or action.request_id in self.known
            self.known.append(action.request_id)
        if isinstance(action, Step):
            self.steps += 1
            self.served += bool(answer.batch)
        if isinstance(action, Step | Deliver):
            for row in self.seen.rows:
                self._note(before.get(row.request_id), row)
        return answer

    def _note(self, old: Row | None, new: Row) -> None:
        if new.finished:
            self.finished.setdefault(new.request_id, self.steps)
        if old is None:
            return
        units = range(old.generated_len + 1, new.generated_len + 1)
        done = [0] if old.phase == "prefill" and new.phase == "decode" else []
        for unit in (*done, *units):
            pair = (new.request_id, unit)
            if pair in self.computed:
                self.repeated.append(pair)
            self.computed.add(pair)

    def drain(self) -> str:
        """Step to the end; how it ended. Raises `OutOfBudget` where that is far away."""
        work = sum(row.max_new_tokens + 1 for row in self.seen.rows)
        most, idle = 4 * work + IDLE_MAX, 0
        for _ in range(min(most, DRAIN_MAX)):
            if self.do(DELIVER if self.seen.in_flight else STEP).batch:
                idle = 0
                continue
            idle += 1
            if all(row.finished for row in self.seen.rows):
                return DONE
            if idle == IDLE_MAX:
                return STUCK
        if most > DRAIN_MAX:
            raise OutOfBudget
        return ENDLESS


def play_forward(
    start: StartSubject, config: Config, actions: Sequence[Action], until: float = FOR_EVER
) -> Forward:
    """What follows after these actions. Raises `OutOfBudget` where that takes too long."""
    played = _Played(start(config), until)
    outcome, error = RAISED, ""
    try:
        for action in actions:
            played.do(action)
        outcome = played.drain()
    except SubjectError as raised:
        error = str(raised.values.get("type", raised.kind))
    seen = played.seen
    reference = _reference(played, config, actions)
    apart = () if reference is None else _apart(played, reference)
    return Forward(
        outcome=outcome,
        steps=played.served,
        free=seen.free,
        capacity=seen.capacity,
        due_steps=None if reference is None else reference.served,
        repeated=() if played.twice_named else tuple(played.repeated),
        left=tuple(_left(row) for row in seen.rows if not row.finished),
        short=tuple(
            _left(row)
            for row in seen.rows
            if row.finished and row.generated_len < row.max_new_tokens and not _withdrawn(row)
        ),
        later=tuple(each for each in apart if each.got > each.due),
        earlier=tuple(each for each in apart if each.got < each.due),
        lost=_lost(played),
        error=error,
    )


def _withdrawn(row: Row) -> bool:
    """Whether nobody waits for the rest of its tokens."""
    return row.finish_reason in ("aborted", "rejected")


def _reference(played: _Played, config: Config, actions: Sequence[Action]) -> _Played | None:
    """The built-in model after the same actions, drained; None where it is no measure."""
    if Feature.REFERENCE_ORDER not in played.subject.features:
        return None
    model = _Played(ChapterSubject(from_class(DecodeSchedulerSim), config))
    for action in actions:
        model.do(action)
    if model.accepted != played.accepted[: len(model.accepted)]:
        return None
    model.drain()
    return model


def _lost(played: _Played) -> tuple[int, ...]:
    """Ids of accepted requests that are not seen in the end."""
    seen = {row.request_id for row in played.seen.rows}
    return tuple(dict.fromkeys(i for i in played.known if i not in seen))


def _left(row: Row) -> Left:
    return Left(row.request_id, row.generated_len, row.max_new_tokens, row.required_blocks)


def _apart(played: _Played, model: _Played) -> tuple[Later, ...]:
    """Who finished in both, with the step by the rules and that in which it did."""
    pairs = ((i, due, played.finished.get(i)) for i, due in model.finished.items())
    return tuple(Later(i, due, got) for i, due, got in pairs if got is not None)
