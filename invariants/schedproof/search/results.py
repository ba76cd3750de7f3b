"""What a search found, as plain data: it crosses from the child process as JSON.

Rules.
1. A run is one search of one policy. Its verdict says what was shown and no more: `holds
   within bounds` only after a complete search under the full key, `no violation (reduced)`
   after a complete one under a reduced key, `no violation found` after a random one.
2. The overall verdict is the worst over the runs, in the order of `WORST_FIRST`.
3. A counterexample carries all that telling it needs; nothing is looked up in the
   scheduler again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from schedproof.search.evidence import Evidence
from schedproof.search.frames import Frame
from schedproof.subjects.contract import Limits


class Verdict(str, Enum):
    """What a run, or all runs together, came to."""

    HOLDS_WITHIN_BOUNDS = "holds_within_bounds"
    NO_VIOLATION_REDUCED = "no_violation_reduced"
    NO_VIOLATION_FOUND = "no_violation_found"
    VIOLATED = "violated"
    INCOMPLETE = "incomplete"
    VACUOUS = "vacuous"
    ERROR = "error"
    NOT_APPLICABLE = "not_applicable"

    __str__ = str.__str__


class ClaimVerdict(str, Enum):
    """What a run came to for one claim; the last two do not change an exit code."""

    HOLDS_WITHIN_BOUNDS = "holds_within_bounds"
    NO_VIOLATION_REDUCED = "no_violation_reduced"
    NO_VIOLATION_FOUND = "no_violation_found"
    VIOLATED = "violated"
    REACHED = "reached"
    NOT_REACHED = "not_reached"
    NOT_EXERCISED = "not_exercised"
    NOT_APPLICABLE = "not_applicable"

    __str__ = str.__str__


USAGE, INTERRUPTED = 2, 130
OTHER_POLICY = "other_policy"
"""What ended a search of which nobody needed more: another policy shows a violation."""
EXIT_CODES = {
    Verdict.VIOLATED: 1,
    Verdict.ERROR: 3,
    Verdict.INCOMPLETE: 4,
    Verdict.VACUOUS: 5,
    Verdict.NO_VIOLATION_FOUND: 0,
    Verdict.NO_VIOLATION_REDUCED: 0,
    Verdict.HOLDS_WITHIN_BOUNDS: 0,
    Verdict.NOT_APPLICABLE: USAGE,  # of all runs: no policy that was asked for exists
}
WORST_FIRST = tuple(EXIT_CODES)


@dataclass(frozen=True)
class ClaimResult:
    """One claim in one run; `exercised` counts the edges (or runs) that exercised it."""

    id: str
    verdict: str
    exercised: int


@dataclass(frozen=True)
class Part:
    """What a step of a scheduler of batches did for one request: tokens `start` up to `end`.

    `grew` is the number of blocks that it took beyond those of its admission, `emitted` tells that
    it got a token.
    """

    request: int
    ran: str
    start: int
    end: int
    generated: int | None = None
    admitted: bool = False
    resumed: bool = False
    grew: int = 0
    finished: bool = False
    emitted: bool = False


@dataclass(frozen=True)
class TrailStep:
    """What one action of a counterexample did, for the numbered list.

    `free` blocks afterwards; `served` the id that a step served, with `ran` ("prefill" or
    "decode") and `generated` tokens so far; `finished` whether it ended; `preempted` the ids
    that gave way; `admitted` whether the served one was admitted in this step; `refused`
    whether an enqueue was. Of a scheduler of batches also the `parts` of a step, why an enqueue
    was `rejected` (of what too much, how much, the limit), and what an abort `freed`. Where steps
    are delivered later, `delivered` tells that this is such a delivery, and `dropped` are the ids
    for which it brought something that is void.
    """

    free: int
    served: int | None = None
    ran: str | None = None
    generated: int | None = None
    admitted: bool = False
    finished: bool = False
    preempted: tuple[int, ...] = ()
    refused: bool = False
    parts: tuple[Part, ...] = ()
    rejected: tuple[str, int, int] | None = None
    freed: int | None = None
    delivered: bool = False
    dropped: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> TrailStep:
        """The step that `asdict` wrote, also after a trip through JSON text."""
        made = _tupled(record, "preempted", "dropped")
        made["parts"] = tuple(Part(**part) for part in record["parts"])
        rejected = record["rejected"]
        made["rejected"] = rejected and (rejected[0], rejected[1], rejected[2])
        return cls(**made)


@dataclass(frozen=True)
class Moment:
    """The state beside the breaking action: pool, clock, and the requests by id.

    `requests` maps an id (as text) to the stored fields of `STORED_FIELDS` and `state`. `paged`
    names the free blocks, the holders counted of each block, and who stands in which queue.
    `in_flight` are the steps that are not delivered, oldest first, each with its parts (request,
    start, end).
    """

    clock: int
    free: int
    held: int
    requests: dict[str, dict[str, Any]]
    paged: dict[str, list[int]] | None = None
    in_flight: list[list[list[int]]] = field(default_factory=list[list[list[int]]])


@dataclass(frozen=True)
class Counterexample:
    """A broken claim and the actions that lead to it.

    `actions` in their JSON form; the last one broke the claim. `shortest` is True only when
    that was proved. `text` and `values` name the message that says what is wrong; `guilty`
    are (request id or None, field) pairs. `before` and `after` are None for claims about
    whole runs. `frames` are the states along the way: the start, then one after each action.
    `evidence` is what was found out about it, None where nobody asked; `kept_as` the id of the
    trace that was kept of it, None where none was. `limits` are those of a scheduler of batches.
    """

    claim: str
    also_broken: tuple[str, ...]
    policy: str
    blocks: int
    aging_interval: int
    actions: tuple[dict[str, Any], ...]
    shortest: bool
    found_by: str
    text: str
    values: dict[str, Any]
    guilty: tuple[tuple[int | None, str], ...]
    trail: tuple[TrailStep, ...]
    before: Moment | None = None
    after: Moment | None = None
    frames: tuple[Frame, ...] = ()
    evidence: Evidence | None = None
    kept_as: str | None = None
    limits: Limits | None = None

    @property
    def length(self) -> int:
        """Number of actions."""
        return len(self.actions)


@dataclass(frozen=True)
class Trouble:
    """Why a verdict is error: what failed, where, after which actions.

    `kind` as in `SubjectError`; `message_id` and `values` name the text; `place` is where in
    the user's code (JSON form of a `Place`), None when not known. `kept_as` is the id of the trace
    that was kept of it, None where none was.
    """

    kind: str
    message_id: str
    values: dict[str, Any]
    place: dict[str, Any] | None = None
    actions: tuple[dict[str, Any], ...] = ()
    kept_as: str | None = None


Notes = tuple[tuple[str, dict[str, Any]], ...]
"""What a reader should know beside the verdict, as (message id, values)."""


@dataclass(frozen=True)
class RunResult:
    """One search of one policy.

    `bounds` names what the search stayed within. `transitions` counts judged actions,
    `distinct_states` is None where a search does not know it, `depth` is the most actions
    from the start. `seconds` of wall clock. `restore` tells how an exhaustive search went back
    to states: "in_place", "copy" or "replay". `notes` are (message id, values) pairs. `fingerprint`
    stands for the source that was searched. `own_claims` are the user's own claims: the texts
    `title`, `why` and `rule` by id.
    """

    policy: str
    search: str
    verdict: str
    identity: str | None
    bounds: dict[str, Any]
    distinct_states: int | None
    transitions: int
    depth: int
    seconds: float
    claims: tuple[ClaimResult, ...] = ()
    counterexamples: tuple[Counterexample, ...] = ()
    trouble: Trouble | None = None
    seed: int | None = None
    examples: int | None = None
    interrupted: bool = False
    stopped_by: str | None = None
    restore: str | None = None
    notes: Notes = ()
    fingerprint: str | None = None
    own_claims: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    @classmethod
    def blank(
        cls, policy: str, search: str, bounds: dict[str, Any], identity: str | None = None
    ) -> RunResult:
        """A run of which nothing is known yet: an error, until a search says otherwise."""
        error = Verdict.ERROR.value
        return cls(policy, search, error, identity, bounds, None, 0, 0, seconds=0.0)

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` is its inverse."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> RunResult:
        """The result that `to_json` wrote, also after a trip through JSON text."""
        made: dict[str, Any] = dict(record)
        made["claims"] = tuple(ClaimResult(**claim) for claim in record["claims"])
        made["counterexamples"] = tuple(map(counterexample_from_json, record["counterexamples"]))
        trouble = record["trouble"]
        made["trouble"] = Trouble(**_tupled(trouble, "actions")) if trouble else None
        made["notes"] = tuple((note[0], note[1]) for note in record["notes"])
        return cls(**made)


def counterexample_from_json(record: dict[str, Any]) -> Counterexample:
    """The counterexample that `asdict` wrote, also after a trip through JSON text."""
    made = _tupled(record, "also_broken", "actions")
    made["guilty"] = tuple((pair[0], pair[1]) for pair in record["guilty"])
    made["trail"] = tuple(map(TrailStep.from_json, record["trail"]))
    made["limits"] = Limits(*record["limits"]) if record["limits"] else None
    for name in ("before", "after"):
        made[name] = Moment(**record[name]) if record[name] else None
    made["frames"] = tuple(map(Frame.from_json, record["frames"]))
    made["evidence"] = Evidence.from_json(record["evidence"])
    return Counterexample(**made)


def _tupled(record: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: tuple(v) if key in names else v for key, v in record.items()}


def worst(verdicts: list[str]) -> Verdict:
    """The worst of some verdicts; not applicable only if all are, error if there is none."""
    known = [Verdict(verdict) for verdict in verdicts]
    told = [verdict for verdict in known if verdict is not Verdict.NOT_APPLICABLE]
    if not told:
        return Verdict.NOT_APPLICABLE if known else Verdict.ERROR
    return min(told, key=WORST_FIRST.index)
