"""Why each step of a trace served whom it served, by the chapter's rules, and whether it did.

Rules.
1. The candidates are read off the scheduler just before a step, put into the built-in model
   as they are, and the model says what it would do from there and why. So any scheduler of
   the chapter's shape can be explained, whatever its own reasons are.
2. Beside it stands what the scheduler really did. Where the two differ, one of them is wrong:
   that is for the claims to say.
3. A scheduler that does not promise the chapter's order, or whose requests are in no known
   state, is not explained. One of batches is explained by the rules of ours, or by what was
   seen (`why_batch`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from schedmodel.choice import Why
from schedmodel.request import RequestState
from schedmodel.scheduler import DecodeSchedulerSim, Snapshot
from schedproof.claims.run import StartSubject
from schedproof.search.replay import plain
from schedproof.search.results import Trouble
from schedproof.search.summing_up import trouble_of
from schedproof.subjects.actions import Action, Step
from schedproof.subjects.contract import Config, Feature, SubjectError
from schedproof.subjects.observation import Answer, Observation, Row
from schedproof.traces.store import Kept
from schedproof.traces.trace import TraceError
from schedproof.traces.why_batch import FACTS, BatchPlace, facts_of, places_of

_SLOTS = RequestState.__slots__


@dataclass(frozen=True)
class Decision:
    """One step: what stood before it, what the rules say, and what was done.

    `action` counts from 1. `why` is the JSON form of a `Why`, None where that cannot be told.
    `served` and `preempted` are what the scheduler did, None and empty for nothing; a step that
    serves several has all of them in `batch`. `places` are the JSON forms of a `BatchPlace` each,
    where a scheduler of batches decides.
    """

    action: int
    clock: int
    free: int
    capacity: int
    why: dict[str, Any] | None
    served: int | None
    preempted: tuple[int, ...]
    batch: tuple[Any, ...] = ()
    places: tuple[dict[str, Any], ...] | None = None

    @property
    def as_ruled(self) -> bool | None:
        """Whether the scheduler did what the rules say; None where they say nothing."""
        if self.only_seen:
            return None
        if self.places is not None:
            due = (self.due("is_let_in", "decodes", "grows"), self.due("gives_way"))
            return (set(self.batch), set(self.preempted)) == tuple(map(set, due))
        if self.why is None:
            return None
        victim = self.why["victim"]
        victims = () if victim is None else (victim,)
        return self.served == self.why["chosen"] and tuple(self.preempted) == victims

    @property
    def only_seen(self) -> bool:
        """Whether it is told what happened in the step, and no rule says what should have."""
        return any(each["outcome"] in FACTS for each in self.places or ())

    def due(self, *outcomes: str) -> list[int]:
        """Ids of the requests of a batch of which that becomes by the rules."""
        return [each["request_id"] for each in self.places or () if each["outcome"] in outcomes]

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` is its inverse."""
        places = None if self.places is None else list(self.places)
        lists = {"preempted": list(self.preempted), "batch": list(self.batch), "places": places}
        return {**asdict(self), **lists}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Decision:
        """The decision that `to_json` wrote, also after a trip through JSON text."""
        made = cls(**record)
        places = None if made.places is None else tuple(made.places)
        return replace(
            made, preempted=tuple(made.preempted), batch=tuple(made.batch), places=places
        )


def decisions(
    start: StartSubject, config: Config, actions: Sequence[Action]
) -> tuple[list[Decision], SubjectError | None]:
    """The decision of every step, up to where the scheduler fails, and with what it does."""
    subject = start(config)
    ruled = Feature.REFERENCE_ORDER in subject.features
    engine = Feature.FORWARD_PASS in subject.features
    seen = subject.observe()
    found: list[Decision] = []
    for number, action in enumerate(actions, start=1):
        before = seen
        try:
            answer = subject.do(action)
            seen = subject.observe()
        except SubjectError as error:
            return found, error
        if isinstance(action, Step):
            places = facts_of(before, answer, seen) if engine else places_of(before, config)
            why = why_of(before, config) if ruled else None
            found.append(_decision(number, before, answer, seen, why, places))
    return found, None


def _decision(
    number: int,
    before: Observation,
    answer: Answer,
    after: Observation,
    why: Why | None,
    places: list[BatchPlace] | None,
) -> Decision:
    now = {row.request_id: row for row in after.rows}
    preempted = [row.request_id for row in before.rows if row.admitted and _gave_way(row, now)]
    return Decision(
        action=number,
        clock=before.clock,
        free=before.free,
        capacity=before.capacity,
        why=None if why is None else asdict(why),
        served=plain(answer.batch[0].request_id) if answer.batch else None,
        preempted=tuple(preempted),
        batch=tuple(plain(span.request_id) for span in answer.batch),
        places=None if places is None else tuple(asdict(place) for place in places),
    )


def _gave_way(row: Row, now: dict[int, Row]) -> bool:
    after = now.get(row.request_id)
    return after is not None and not after.admitted and not after.finished


def why_of(seen: Observation, config: Config) -> Why | None:
    """What the built-in model would do from this state, and why; None if it cannot be in it."""
    if any(row.state is None for row in seen.rows):
        return None
    model = DecodeSchedulerSim(config.policy, config.blocks, config.aging_interval)
    rows = tuple(tuple(_value(row, slot) for slot in _SLOTS) for row in seen.rows)
    model.restore(Snapshot(config.rules(), seen.clock, seen.free, rows, ()))
    return model.why()


def _value(row: Row, slot: str) -> object:
    value: object = getattr(row, slot.removeprefix("_"))
    return value


def explain_task(start: StartSubject, config: Config, actions: Sequence[Action]) -> dict[str, Any]:
    """The decisions as JSON has them, with the trouble that ended them, if any."""
    found, error = decisions(start, config, actions)
    trouble = None if error is None else trouble_of(error, actions)
    return {
        "decisions": [asdict(decision) for decision in found],
        "trouble": None if trouble is None else asdict(trouble),
    }


@dataclass(frozen=True)
class Explained:
    """The decisions of a trace's steps, and the trouble that ended them, if any."""

    kept: Kept
    decisions: tuple[Decision, ...]
    trouble: Trouble | None = None

    def only(self, action: int) -> Explained:
        """The same for one action. Raises `TraceError` where that is no step."""
        found = tuple(each for each in self.decisions if each.action == action)
        if not found:
            steps = [str(each.action) for each in self.decisions]
            values = {"value": action, "trace": self.kept.name, "allowed": steps}
            raise TraceError("usage.no_such_step", **values)
        return replace(self, decisions=found)

    def to_json(self, tool_version: str) -> dict[str, Any]:
        """All of it for programs."""
        trouble = None if self.trouble is None else self.trouble.kind
        return {
            "schema": "schedproof/explain",
            "schema_version": 1,
            "tool_version": tool_version,
            "trace": self.kept.name,
            "decisions": [{**each.to_json(), "as_ruled": each.as_ruled} for each in self.decisions],
            "trouble": trouble,
        }
