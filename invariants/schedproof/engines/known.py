"""What the kit keeps of one request: as it was handed in, and what follows from its steps.

Rules. An engine is not asked how far a request is: what it computed follows from the steps it was
in, what it generated is compared token by token, and that it was preempted shows when it has no
blocks any more. Where it stands in the lifecycle is read off these.
"""

from __future__ import annotations

from typing import Any

from schedmodel.lifecycle import State
from schedproof.engines.adapter import FINISHED, RUNNING, Request
from schedproof.engines.forward import Tokens
from schedproof.subjects.observation import Row

ABORTED, REJECTED, IN_FLIGHT = "aborted", "rejected", "in_flight"


class Known:
    """One request as it was handed in, and what follows from the steps it was in."""

    __slots__ = (
        *("request", "tokens", "arrival", "computed", "held", "preemptions", "advanced"),
        *("ended", "behind", "expected", "row", "key", "identity"),
    )

    def __init__(self, request: Request, arrival: int, block_size: int) -> None:
        self.request, self.arrival = request, arrival
        # Tokens are not shown in rows, so requests that differ in them only may share rows.
        sizes = len(request.token_ids), request.max_new_tokens, request.priority
        self.identity = (request.request_id, *sizes, arrival, block_size)
        self.tokens = Tokens(request.token_ids)
        self.computed = self.preemptions = self.expected = 0
        self.held, self.behind, self.advanced = False, False, True
        self.ended = ""
        self.row: Row | None = None
        self.key: Any = None

    def start_again(self, advanced: bool) -> None:
        """It was preempted; with `advanced` a part of a prompt counts as progress, too."""
        self.preemptions += 1
        self.advanced, self.held = advanced, False
        self.computed = self.expected = 0
        self.behind = False

    @property
    def generated(self) -> int:
        return len(self.tokens.ids) - self.tokens.prompt_len


def state_of(known: Known, status: str, blocks: tuple[int, ...]) -> State:
    if status == FINISHED:
        return State.FINISHED
    if status == RUNNING or blocks:
        return State.PREFILL if known.behind or not known.computed else State.DECODE
    return State.PREEMPTED if known.preemptions else State.WAITING


def reason_of(known: Known, state: State) -> str | None:
    if state is not State.FINISHED:
        return None
    return known.ended or "completed"
