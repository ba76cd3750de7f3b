"""The contract between schedulers and everything that judges them.

Rules.
1. A subject is a scheduler under test behind a few verbs: it can `do` an action (enqueue,
   step, deliver, abort), `observe` its state, and `fork`. A scheduler that decides and
   executes in one go does both in its step; one that keeps them apart decides in step and
   executes in deliver. A batch may well be one request.
2. A subject declares its `features`. A claim that needs a feature which is not declared
   is not applicable to it; nothing is inferred from behaviour.
3. Trouble with the scheduler itself (it raised, it answers something that is not an
   answer) is a `SubjectError`: it ends the run with the verdict error, and is never
   taken for a broken claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

from schedmodel.policy import Policy, make_policy
from schedproof.subjects.actions import Action, Enqueue
from schedproof.subjects.observation import Answer, Observation


class Feature(str, Enum):
    """What a subject exposes or declares."""

    LEDGER = "ledger"  # a pool with free and held blocks
    LIFECYCLE = "lifecycle"  # a lifecycle state for every request
    WAITS = "waits"  # a count of waited steps for every request, which may be set
    CLOCK = "clock"  # a clock that counts events
    EVENTS = "events"  # a report of every step, and a log of them
    REFUSAL = "refusal"  # says no to bad requests with ValueError
    SINGLE_STEP = "single_step"  # serves at most one request by one unit in a step
    ADMISSION_PREEMPTION = "admission_preemption"  # preempts only to admit a challenger
    REFERENCE_ORDER = "reference_order"  # promises the chapter's exact rules
    ONE_UNIT = "one_unit"  # serves a request by one whole prefill or one token in a step
    BLOCK_IDS = "block_ids"  # numbers its blocks, and counts who holds each
    BATCH_LIMITS = "batch_limits"  # declares how many requests and tokens a step may have
    GROWTH_PREEMPTION = "growth_preemption"  # preempts so that a running request can grow
    REJECTION = "rejection"  # rejects what can never fit, with a reason
    DECLARED_ORDER = "declared_order"  # declares who comes before whom, and keeps to it
    EVERY_TURN = "every_turn"  # serves every running request in every step that has room
    ABORT = "abort"  # can be told to withdraw a request
    FORWARD_PASS = "forward_pass"  # says which blocks hold what a step attends to
    TOKENS = "tokens"  # shows the tokens that it generated
    COUNTERS = "counters"  # keeps counts of tokens that can be read
    IN_FLIGHT = "in_flight"  # decides a step, and is told later what it brought
    EXACT_ADMISSION = "exact_admission"  # admits whoever fits, and takes just what that needs
    STEP_BOUNDS = "step_bounds"  # declares how long it may go on without a token
    STRICT_TYPES = "strict_types"  # refuses wrong types as well as wrong values
    DRAIN_BOUND = "drain_bound"  # declares within how many steps it drains
    ENDLESS_ARRIVALS = "endless_arrivals"  # is led through endless arrivals, by one search only

    __str__ = str.__str__


OF_BATCHES = frozenset(
    {
        Feature.BLOCK_IDS,
        Feature.BATCH_LIMITS,
        Feature.GROWTH_PREEMPTION,
        Feature.REJECTION,
        Feature.DECLARED_ORDER,
        Feature.EVERY_TURN,
        Feature.ABORT,
    }
)
"""What only schedulers of batches have."""

OF_ENGINES = frozenset(
    {
        Feature.FORWARD_PASS,
        Feature.TOKENS,
        Feature.COUNTERS,
        Feature.STEP_BOUNDS,
        Feature.IN_FLIGHT,
        Feature.EXACT_ADMISSION,
    }
)
"""What only engines have that are really run, through an adapter."""


class Limits(NamedTuple):
    """What a scheduler of batches is set up with: tokens in a block, and limits of a step."""

    block_size: int = 2
    max_num_seqs: int = 3
    max_num_batched_tokens: int = 6


@dataclass(frozen=True)
class Config:
    """How a scheduler is set up. `blocks` is the capacity in KV blocks.

    `limits` are for schedulers of batches.
    """

    policy: str = "fixed_priority"
    blocks: int = 3
    aging_interval: int = 2
    limits: Limits | None = None

    def rules(self) -> Policy:
        """The policy's own definition of order and urgency."""
        return make_policy(self.policy, self.aging_interval)


class Subject(Protocol):
    """A scheduler under test."""

    config: Config
    features: frozenset[Feature]

    def do(self, action: Action) -> Answer:
        """Carry out one action; raises `SubjectError` when the scheduler itself fails."""
        ...

    def observe(self) -> Observation:
        """The state now."""
        ...

    def fork(self) -> Subject:
        """An independent subject in the same state."""
        ...

    def add_wait(self, request_id: int, steps: int) -> None:
        """Let a request have waited longer, where waits are counted."""
        ...


MakeSubject = Callable[[Config], Subject]


@dataclass
class SubjectError(Exception):
    """The scheduler failed as a program.

    `kind` is raised, contract, hung, memory, exited, not_deterministic, open_todo or load.
    `message_id` and `values` say it in the message catalogue's words; `where` is the place
    in the user's code, if there is one; `cause` the exception that was raised.
    """

    kind: str
    message_id: str
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    where: Any = None
    cause: BaseException | None = None

    def __post_init__(self) -> None:
        super().__init__(self.message_id)


class PolicyRefused(Exception):
    """The scheduler does not have this policy: a matter of scope, not a failure."""


def expected_refusal(
    action: Enqueue, used_ids: frozenset[int] | set[int], clock: int, strict_types: bool
) -> str | None:
    """Why the chapter refuses this request, or None if it is valid.

    Wrong types are judged only with `strict_types`. Without it no search asks for them, but a
    trace that was written by hand may: nothing is known to be wrong with them then.
    """
    if strict_types:
        wrong = _wrong_type(action)
        if wrong is not None:
            return wrong
    try:
        if action.request_id in used_ids:
            return "request_id"
        for name in ("prompt_len", "max_new_tokens", "required_blocks"):
            if getattr(action, name) < 1:
                return name
        if action.deadline_step is not None and action.deadline_step <= clock:
            return "deadline_step"
    except TypeError:
        pass
    return None


def _wrong_type(action: Enqueue) -> str | None:
    for name, value in action.arguments().items():
        if name in ("cache_hit", "preemptible"):
            right = type(value) is bool
        else:
            right = type(value) is int or (name == "deadline_step" and value is None)
        if not right:
            return name
    return None
