"""What has to be known of an engine to check its scheduler: the base class of all adapters.

Rules.
1. An adapter starts the engine's own scheduler, hands it requests, asks it for a step, hands the
   tokens back, and reads it. Nothing of the engine is copied, patched or repaired.
2. A step says for each request which of its tokens are computed (`start` up to `end`, not
   included) and in which blocks they lie. Read the block table after the scheduler has
   decided: a page that is allocated late is missing from an earlier copy of the table.
3. What an engine raises is not caught here: the kit tells it, with the place.
4. What an engine may do and what it promises is declared in attributes of the class. A claim
   that needs what is not declared is not applicable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

WAITING, RUNNING, FINISHED = "waiting", "running", "finished"


class Setup(NamedTuple):
    """How small the engine is made: blocks, tokens in a block, limits of one step."""

    blocks: int
    block_size: int
    max_num_seqs: int
    max_num_batched_tokens: int


class Request(NamedTuple):
    """A request to be served; it generates exactly `max_new_tokens` tokens.

    `reuses` is the request whose id it comes under, None where it has an id of its own.
    """

    request_id: int
    token_ids: tuple[int, ...]
    max_new_tokens: int
    priority: int = 0
    reuses: int | None = None

    @property
    def longest(self) -> int:
        """Tokens that lie in its blocks in the end: the last one is never computed."""
        return len(self.token_ids) + self.max_new_tokens - 1


class Work(NamedTuple):
    """One request's part in a step. `blocks` is its block table as the forward pass sees it."""

    request_id: int
    start: int
    end: int
    blocks: Sequence[int]


class Seen(NamedTuple):
    """One request as the engine has it now.

    `status` is waiting, running or finished. `output` are all tokens generated so far.
    `counters` are counts of tokens the engine keeps, by name; `in_flight` is the number of tokens
    that it still expects from steps in flight, where it counts them.
    """

    status: str
    blocks: Sequence[int]
    output: Sequence[int]
    counters: Sequence[tuple[str, int]] = ()
    in_flight: int | None = None


class Pool(NamedTuple):
    """The engine's blocks and queues. `references` counts the holders of each block, if known."""

    free_ids: Sequence[int]
    running: Sequence[int]
    waiting: Sequence[int]
    references: Sequence[int] | None = None


class MissingPackage(Exception):
    """The engine, or something that it needs, is not installed."""

    def __init__(self, package: str, how: str) -> None:
        super().__init__(package, how)
        self.package, self.how = package, how


class EngineAdapter:
    """Base class. An adapter overrides the six methods; `abort` only where `can_abort`.

    `block_sizes` are those that the engine takes. `chunked_prefill`: a prompt may be computed in
    parts, so it need not fit into one step. `seats_per_step`: `max_num_seqs` limits one step and
    not all that run. `keeps_order`: who came first is served first, and gives way last.
    `idle_steps_max`: how many steps in a row may run nothing while somebody waits.
    `limits_tokens`: it keeps to `max_num_batched_tokens`; where not, that is set so high that it
    never matters. `uses_priority`: requests have priorities, the larger the stronger.
    `smallest_blocks`: the least pool that makes sense. `copies` are pairs of blocks (from, to)
    that the forward pass copies before it runs; an adapter sets them in `schedule`.
    `steps_in_flight`: how many steps may be decided before the first of them is delivered.
    `reuses_ids`: the id of a request that has ended may be used again. `exact_admission`: whoever
    waits first is admitted when blocks for all its tokens are free, and takes just these.
    `rejects`: what can never fit is rejected when it is added, and nothing else is.
    `rejected` is why the request that was added last is not served, None where it is; an adapter
    sets it in `add`. `preempted` are those whom the last step preempted, where the engine says
    so; an adapter sets it in `schedule`.
    """

    name: ClassVar[str] = ""
    package: str = ""
    policy: str = "fcfs"
    block_sizes: ClassVar[tuple[int, ...]] = (2, 4)
    smallest_blocks: ClassVar[int] = 1
    reserved_blocks: ClassVar[int] = 0
    chunked_prefill: bool = False
    seats_per_step: bool = True
    can_abort: bool = False
    keeps_order: bool = False
    shows_references: bool = True
    idle_steps_max: ClassVar[int] = 0
    uses_priority: ClassVar[bool] = False
    limits_tokens: ClassVar[bool] = True
    copies: Sequence[tuple[int, int]] = ()
    steps_in_flight: ClassVar[int] = 1
    reuses_ids: ClassVar[bool] = False
    exact_admission: ClassVar[bool] = False
    rejects: ClassVar[bool] = False
    rejected: tuple[str, int, int] | None = None
    preempted: Sequence[int] = ()

    def load(self) -> None:
        """Import the engine, once; raises `MissingPackage` where it is not there."""

    def start(self, setup: Setup) -> None:
        """A new scheduler of this size; forget the one before."""
        raise NotImplementedError

    def add(self, request: Request) -> None:
        """Hand a request to the scheduler."""
        raise NotImplementedError

    def schedule(self) -> Sequence[Work]:
        """Let the scheduler decide one step."""
        raise NotImplementedError

    def deliver(self, tokens: Mapping[int, int]) -> None:
        """Hand the token of each request in the step back, by request id."""
        raise NotImplementedError

    def requests(self) -> Mapping[int, Seen]:
        """Every request that was added and that the engine has not lost, by id."""
        raise NotImplementedError

    def pool(self) -> Pool:
        """The blocks and the queues now."""
        raise NotImplementedError

    def abort(self, request_id: int) -> None:
        """Withdraw a request."""
        raise NotImplementedError

    def frozen(self) -> bytes:
        """All of the engine's state; only where searches shall go back to states."""
        raise NotImplementedError

    def thaw(self, state: bytes) -> None:
        """Go back to a state that was frozen."""
        raise NotImplementedError

    def preemptions_max(self, setup: Setup) -> int | None:
        """How many preemptions there may be between two tokens; None where nothing is promised."""
        return None

    def takes(self, setup: Setup, request: Request) -> bool:
        """Whether the engine promises to serve this request where it is alone."""
        room = (setup.blocks - self.reserved_blocks) * setup.block_size
        whole = self.chunked_prefill or request.longest <= setup.max_num_batched_tokens
        return request.longest <= room and whole


MakeAdapter = Any
"""A function without arguments that makes an adapter; the class itself will do."""
