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

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

from schedmodel.event import Event
from schedmodel.lifecycle import HOLDING, State
from schedmodel.policy import remaining_steps

T = TypeVar("T")
_tuple: Any = tuple


def quickly(kind: type[T]) -> Callable[[tuple[Any, ...]], T]:
    """Makes such a NamedTuple of all its parts in order; its own way takes three times as long."""
    return partial(_tuple.__new__, kind)


@dataclass(frozen=True, eq=False)
class Row:
    """One request at one moment; equal rows are identical objects.

    Lengths in tokens, waits and deadlines in steps, blocks in KV blocks. `state` is None
    where the scheduler's own status is none of the known ones. `arrival_index` counts
    accepted requests from 0. `advanced` tells whether the request has been served since
    its last preemption (True before the first one). `extra` holds every further attribute
    as (name, value). `raw` are all values as they were read, `names` their names.
    `computed_len` is the number of tokens that lie in its blocks, `block_ids` are the blocks by
    number, where they have one.
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
    computed_len: int | None = None
    block_ids: tuple[int, ...] | None = None


def make_row(names: tuple[str, ...], raw: tuple[Any, ...], **stored: Any) -> Row:
    """A row from its stored fields; the derived ones are worked out here, once."""
    done = stored["generated_len"] >= stored["max_new_tokens"]
    state, held = stored["state"], stored["held_blocks"]
    row: Row = object.__new__(Row)  # the constructor of a frozen class sets one by one
    row.__dict__.update(
        stored,
        names=names,
        raw=raw,
        admitted=held > 0,
        done=done,
        total_len=stored["prompt_len"] + stored["generated_len"],
        finished=state is State.FINISHED,
        shown=state is not State.FINISHED or held > 0,
    )
    row.__dict__["remaining"] = remaining_steps(row)
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

    A unit is one whole prefill, or one token. Where tokens are counted, they are those from
    `start` up to `end`, not included.
    """

    request_id: int
    phase: str
    units: int = 1
    start: int | None = None
    end: int | None = None

    @property
    def tokens(self) -> int:
        """Tokens that are computed; 0 where they are not counted."""
        return 0 if self.start is None or self.end is None else self.end - self.start


class Foreign(NamedTuple):
    """A position that a request attends to, and that does not hold its own prefix.

    `kind` is foreign (it holds what `writer` computed at its position `written`), empty (nobody
    wrote it), no_block (the request has no block for it) or past_end (the request has no such
    token).
    """

    kind: str
    request_id: int
    position: int
    block: int | None = None
    offset: int | None = None
    writer: int | None = None
    written: int | None = None


class Strayed(NamedTuple):
    """An output token that is not the one which follows from what came before it.

    `kind` is other, too_many or too_few; `number` from 1.
    """

    kind: str
    request_id: int
    number: int
    got: int | None
    wanted: int | None


class Raised(NamedTuple):
    """A call that did not come back with an answer; `type` is "" where it did not come back."""

    call: str
    type: str
    text: str
    file: str
    line: int
    function: str
    source: str


class Miscount(NamedTuple):
    """A count of tokens that cannot be: below zero, above `limit`, or another than in flight."""

    request_id: int
    name: str
    value: int
    limit: int


class Ran(NamedTuple):
    """What came of executing an engine's step, beside the state after it.

    `attended` positions were read; the next four are what was wrong, None where nothing was.
    `since_token` steps, this one included, have emitted no token, of at most `since_token_max`;
    `idle` steps in a row ran nothing, of at most `idle_max`; `gave_way` requests were preempted
    since the last token, of at most `gave_way_max`, if that is promised.
    """

    attended: int = 0
    foreign: Foreign | None = None
    strayed: Strayed | None = None
    raised: Raised | None = None
    miscount: Miscount | None = None
    since_token: int = 0
    since_token_max: int = 0
    idle: int = 0
    idle_max: int = 0
    gave_way: int = 0
    gave_way_max: int | None = None


class Paged(NamedTuple):
    """What a scheduler of batches over numbered blocks shows of itself besides.

    `references` counts the holders of each block, as the scheduler does; `free_ids` are the
    blocks that it may hand out; `running` and `waiting` are the ids in its two queues, in order.
    `seats_per_step` says that the limit of requests is for one step, and not for all that run,
    `in_parts` that a prompt may be computed over several steps. `reserved` are blocks that nobody
    is ever given.
    """

    block_size: int
    max_num_seqs: int
    max_num_batched_tokens: int
    references: tuple[int, ...]
    free_ids: tuple[int, ...]
    running: tuple[int, ...]
    waiting: tuple[int, ...]
    seats_per_step: bool = False
    in_parts: bool = False
    reserved: tuple[int, ...] = ()


class Observation(NamedTuple):
    """A scheduler at one moment. `rows` in queue order; `logged` is the number of events.

    `extras` holds the scheduler's further attributes as (name, value). `in_flight` are the
    batches that were decided and not yet delivered, oldest first. `paged` is there where
    blocks have numbers.
    """

    clock: int
    capacity: int
    free: int
    rows: tuple[Row, ...]
    logged: int
    extras: tuple[tuple[str, Any], ...] = ()
    in_flight: tuple[tuple[Span, ...], ...] = ()
    paged: Paged | None = None


class Answer(NamedTuple):
    """What a scheduler said to one action.

    `accepted` is for enqueues: True, or False with the `refusal` text. `batch` names whom
    a step served, in order; empty when nobody. `preempted` are the ids it says it
    preempted. `event` is the report of a step, its values in the order of `EVENT_KEYS`,
    where the scheduler makes one. `log_kept` tells whether the log grew by exactly this
    report and is otherwise as it was. `rejected` is why an accepted request is not served, where
    it was rejected on the spot: (of what it needs too much, how much, the limit). `ran` is what
    came of a step of an engine whose forward pass was played.
    """

    accepted: bool | None = None
    refusal: str | None = None
    batch: tuple[Span, ...] = ()
    preempted: tuple[Any, ...] = ()
    event: tuple[Any, ...] | None = None
    log_kept: bool = True
    rejected: tuple[Any, ...] | None = None
    ran: Ran | None = None
