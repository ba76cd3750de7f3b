"""What can be seen of a scheduler: its requests as rows, its pool, its clock, its answers.

Rules.
1. An observation is immutable. A row is one request at one moment, with what is stored and
   what follows from it, under the chapter's field names.
2. Rows are interned: one object for each distinct value, so that equal rows are the same
   row, comparing two costs nothing, and a set of a million states shares its rows.
3. What a scheduler does not have is None. Which claims that rules out is declared by the
   subject's features, not guessed from a None.
4. An answer is what the scheduler said: accepted or refused, whom it served, whom it
   preempted. It may be wrong; whether it is, is for the claims to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from schedmodel.event import Event
from schedmodel.lifecycle import HOLDING, State
from schedmodel.policy import remaining_steps


@dataclass(frozen=True, eq=False)
class Row:
    """One request at one moment; equal rows are identical objects.

    Lengths in tokens, waits and deadlines in steps, blocks in KV blocks. `state` is None
    where the scheduler's own status is none of the known ones. `arrival_index` counts
    accepted requests from 0. `advanced` tells whether the request has been served since
    its last preemption (True before the first one). `extra` holds every further attribute
    as (name, value). `raw` are all values as they were read, `names` their names.
    """

    request_id: int
    state: State | None
    status: str
    phase: str
    prompt_len: int
    generated_len: int
    max_new_tokens: int
    priority: int
    cache_hit: bool
    wait_steps: int
    required_blocks: int
    held_blocks: int
    deadline_step: int | None
    preemptible: bool
    preemptions: int
    arrival_index: int
    finish_reason: str | None
    advanced: bool
    extra: tuple[tuple[str, Any], ...]
    names: tuple[str, ...]
    raw: tuple[Any, ...]
    admitted: bool
    done: bool
    total_len: int
    remaining: int
    finished: bool
    shown: bool


def make_row(names: tuple[str, ...], raw: tuple[Any, ...], **stored: Any) -> Row:
    """A row from its stored fields; the derived ones are worked out here, once."""
    done = stored["generated_len"] >= stored["max_new_tokens"]
    state, held = stored["state"], stored["held_blocks"]
    row = Row(
        **stored,
        names=names,
        raw=raw,
        admitted=held > 0,
        done=done,
        total_len=stored["prompt_len"] + stored["generated_len"],
        remaining=0,
        finished=state is State.FINISHED,
        shown=state is not State.FINISHED or held > 0,
    )
    object.__setattr__(row, "remaining", remaining_steps(row))
    return row


def holds_by_state(row: Row) -> bool:
    """Whether the row's lifecycle state is one in which a request holds blocks."""
    return row.state in HOLDING


STORED_FIELDS = (
    "request_id",
    "status",
    "phase",
    "prompt_len",
    "generated_len",
    "max_new_tokens",
    "priority",
    "cache_hit",
    "wait_steps",
    "required_blocks",
    "held_blocks",
    "deadline_step",
    "preemptible",
    "preemptions",
)
"""The fields that a scheduler stores, in the order in which they are told."""


EVENT_KEYS = tuple(Event.__annotations__)
MISSING = "<missing>"
"""Stands in an answer's event for a key that the scheduler's report does not have."""


class Span(NamedTuple):
    """One request's part in a batch: what ran (prefill or decode) and by how many units.

    A unit is one whole prefill, or one token.
    """

    request_id: int
    phase: str
    units: int = 1


class Observation(NamedTuple):
    """A scheduler at one moment. `rows` in queue order; `logged` is the number of events.

    `extras` holds the scheduler's further attributes as (name, value). `in_flight` are the
    batches that were decided and not yet delivered, oldest first.
    """

    clock: int
    capacity: int
    free: int
    rows: tuple[Row, ...]
    logged: int
    extras: tuple[tuple[str, Any], ...] = ()
    in_flight: tuple[tuple[Span, ...], ...] = ()


class Answer(NamedTuple):
    """What a scheduler said to one action.

    `accepted` is for enqueues: True, or False with the `refusal` text. `batch` names whom
    a step served, in order; empty when nobody. `preempted` are the ids it says it
    preempted. `event` is the report of a step, its values in the order of `EVENT_KEYS`,
    where the scheduler makes one. `log_kept` tells whether the log grew by exactly this
    report and is otherwise as it was.
    """

    accepted: bool | None = None
    refusal: str | None = None
    batch: tuple[Span, ...] = ()
    preempted: tuple[Any, ...] = ()
    event: tuple[Any, ...] | None = None
    log_kept: bool = True
