"""A request: what was asked for, how far it is, and where it stands in its life.

Rules.
1. `state` is the one stored truth about where a request stands. The chapter's `status`
   and `admitted` are read from it, so they cannot disagree with it.
2. Only the lifecycle moves `state`. Assigning `status` or `admitted` is refused; `phase`
   may be assigned while the request is waiting or preempted (it is then the phase that
   admission leads to), `wait_steps` always.
3. Lengths are in tokens, waits and deadlines in scheduler steps, blocks in KV blocks.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from schedmodel.errors import IllegalAssignment, InvalidInput
from schedmodel.inputs import one_of, truth_value, whole_number
from schedmodel.lifecycle import HOLDING, State

STATUS_OF = {
    State.WAITING: "waiting",
    State.ADMITTED: "running",
    State.PREFILL: "running",
    State.DECODE: "running",
    State.PREEMPTED: "preempted",
    State.FINISHED: "finished",
}
"""The chapter's four words for the six states: running means admitted, not being served."""

STATUSES = tuple(dict.fromkeys(STATUS_OF.values()))
PHASES = ("prefill", "decode")
FIELDS = (
    "request_id prompt_len max_new_tokens generated_len phase priority cache_hit wait_steps "
    "required_blocks admitted deadline_step preemptible status preemptions"
).split()
"""The chapter's fields, in the order of its constructor."""


def state_of(status: str, phase: str) -> State:
    """The lifecycle state behind a status: running is admitted before its prefill, else decode."""
    if status == "running":
        return State.ADMITTED if phase == "prefill" else State.DECODE
    return State(status)


class RequestState:
    """One request; constructed by hand or by `DecodeSchedulerSim.enqueue`.

    Takes the chapter's fields in the chapter's order. Values of the wrong type or sign,
    and fields that contradict one another, raise `InvalidInput` (a `ValueError`).
    `finish_reason` is None until the request is finished, then "length", "aborted" or
    "rejected". `arrival_index` is the place in the order of arrival, from 0.
    """

    __slots__ = (  # noqa: RUF023  the order of arrival comes last, so that a row can do without
        "_phase",
        "_state",
        "cache_hit",
        "deadline_step",
        "finish_reason",
        "generated_len",
        "max_new_tokens",
        "preemptible",
        "preemptions",
        "priority",
        "prompt_len",
        "request_id",
        "required_blocks",
        "wait_steps",
        "arrival_index",
    )
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        request_id: int,
        prompt_len: int,
        max_new_tokens: int,
        generated_len: int = 0,
        phase: str = "prefill",
        priority: int = 0,
        cache_hit: bool = False,
        wait_steps: int = 0,
        required_blocks: int = 1,
        admitted: bool = False,
        deadline_step: int | None = None,
        preemptible: bool = True,
        status: str = "waiting",
        preemptions: int = 0,
    ) -> None:
        self.request_id = whole_number("request_id", request_id)
        self.prompt_len = whole_number("prompt_len", prompt_len, 1)
        self.max_new_tokens = whole_number("max_new_tokens", max_new_tokens, 1)
        self.generated_len = whole_number("generated_len", generated_len, 0)
        self._phase = one_of("phase", phase, PHASES)
        self.priority = whole_number("priority", priority)
        self.cache_hit = truth_value("cache_hit", cache_hit)
        self.wait_steps = whole_number("wait_steps", wait_steps, 0)
        self.required_blocks = whole_number("required_blocks", required_blocks, 1)
        if deadline_step is not None:
            whole_number("deadline_step", deadline_step)
        self.deadline_step = deadline_step
        self.preemptible = truth_value("preemptible", preemptible)
        self.preemptions = whole_number("preemptions", preemptions, 0)
        self._state = state_of(one_of("status", status, STATUSES), phase)
        self.finish_reason = "length" if self._state is State.FINISHED else None
        self.arrival_index = 0
        self._refuse_contradictions(truth_value("admitted", admitted))

    def _refuse_contradictions(self, admitted: bool) -> None:
        status, limit = self.status, self.max_new_tokens
        if admitted != (status == "running"):
            raise InvalidInput("admitted", admitted, f"True exactly when running, here {status}")
        if (self.generated_len == limit) != (status == "finished") or self.generated_len > limit:
            allowed = f"{limit} exactly when finished and less before, here {status}"
            raise InvalidInput("generated_len", self.generated_len, allowed)
        if status == "waiting" and self.generated_len:
            raise InvalidInput("generated_len", self.generated_len, "0 while waiting")
        if (status == "waiting" and self.preemptions) or (
            status == "preempted" and not self.preemptions
        ):
            allowed = f"0 while waiting, 1 or more once preempted, here {status}"
            raise InvalidInput("preemptions", self.preemptions, allowed)

    def to_row(self) -> tuple[object, ...]:
        """All stored values, as an immutable tuple; `load_row` is the inverse."""
        return _read_row(self)

    def load_row(self, row: tuple[Any, ...]) -> None:
        """Take on the values of a row that `to_row` made; nothing is checked again."""
        (
            self._phase,
            self._state,
            self.cache_hit,
            self.deadline_step,
            self.finish_reason,
            self.generated_len,
            self.max_new_tokens,
            self.preemptible,
            self.preemptions,
            self.priority,
            self.prompt_len,
            self.request_id,
            self.required_blocks,
            self.wait_steps,
            self.arrival_index,
        ) = row

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> RequestState:
        """A new request with the values of a row."""
        request = cls.__new__(cls)
        request.load_row(row)
        return request

    @property
    def state(self) -> State:
        """Where the request stands; only the lifecycle changes it."""
        return self._state

    def _assign_phase(self, value: str) -> None:
        if self._state not in (State.WAITING, State.PREEMPTED):
            allowed = f"only while it is waiting or preempted, it is {self._state.value}"
            raise IllegalAssignment("phase", f"request {self.request_id}", allowed)
        self._phase = one_of("phase", value, PHASES)

    if TYPE_CHECKING:

        @property
        def phase(self) -> str: ...

        @phase.setter
        def phase(self, value: str) -> None: ...

    else:  # attrgetter instead of a function: every key of every step reads the phase
        phase = property(
            attrgetter("_phase"),
            _assign_phase,
            doc="prefill or decode; preemption keeps it, and a resume leads back to it.",
        )

    @property
    def status(self) -> str:
        """The chapter's word for `state`; "running" means admitted."""
        return STATUS_OF[self._state]

    @status.setter
    def status(self, value: str) -> None:
        raise self._only_the_lifecycle("status")

    @property
    def admitted(self) -> bool:
        """Whether the request holds its blocks."""
        return self._state in HOLDING

    @admitted.setter
    def admitted(self, value: bool) -> None:
        raise self._only_the_lifecycle("admitted")

    def _only_the_lifecycle(self, attribute: str) -> IllegalAssignment:
        allowed = "it follows from the lifecycle state; let the scheduler step"
        return IllegalAssignment(attribute, f"request {self.request_id}", allowed)

    @property
    def total_len(self) -> int:
        """Tokens so far: prompt and generated."""
        return self.prompt_len + self.generated_len

    @property
    def done(self) -> bool:
        """Whether the limit of tokens is reached."""
        return self.generated_len >= self.max_new_tokens

    def __repr__(self) -> str:
        return "RequestState(" + ", ".join(f"{n}={getattr(self, n)!r}" for n in FIELDS) + ")"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RequestState):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in FIELDS)


_read_row = attrgetter(*RequestState.__slots__)
