"""The selection policies, four to study and one answer: who goes first, who outranks whom.

Rules.
1. A policy answers two questions about a request: its `key` (the smallest goes first)
   and its `effective_priority` (a victim's must be strictly lower than the challenger's).
2. Under fixed_priority, aging and deadline the key is the chapter's: deadline slack,
   phase, cache hit, effective priority, total length, id. Prefill comes before decode,
   a cache hit before a miss, a higher priority before a lower one. The id is unique, so
   no two keys are equal and the order of the queue does not matter.
3. Slack counts only under deadline, and only for requests that have one; everywhere else
   it is the same large constant. It is the number of steps to spare, negative once the
   deadline can no longer be met. Waiting counts only under aging.
4. Under fcfs the key is the order of arrival and all priorities are equal, so nobody is
   ever preempted.
5. All of these but fcfs let a request wait for ever while others keep arriving, aging too:
   phase and cache hit stand before its priority, and small requests overtake a large one for
   which there is never room at once. fcfs does not, but knows no urgency. reserved_aging is our
   answer to both. Effective priority stands first in its key, and the first request for which
   there is no room reserves the pool: nobody behind it is admitted until it is served, those
   who hold blocks go on. A request larger than the pool reserves nothing. The price is room
   that stays empty meanwhile.

A policy reads requests of any make that have the chapter's fields (`Ranked`): those of
our scheduler, and the rows in which others are observed.
"""

from __future__ import annotations

from typing import Protocol

NO_DEADLINE_SLACK = 1_000_000_000


class Ranked(Protocol):
    """What a policy reads of a request; read only."""

    @property
    def request_id(self) -> int: ...
    @property
    def phase(self) -> str: ...
    @property
    def prompt_len(self) -> int: ...
    @property
    def generated_len(self) -> int: ...
    @property
    def max_new_tokens(self) -> int: ...
    @property
    def total_len(self) -> int: ...
    @property
    def priority(self) -> int: ...
    @property
    def cache_hit(self) -> bool: ...
    @property
    def wait_steps(self) -> int: ...
    @property
    def deadline_step(self) -> int | None: ...
    @property
    def arrival_index(self) -> int: ...


Key = tuple[int, ...]


def remaining_steps(request: Ranked) -> int:
    """Steps that the request still needs: one for its prefill, one for each token to go."""
    to_go = request.max_new_tokens - request.generated_len
    if to_go < 0:
        to_go = 0
    return to_go + 1 if request.phase == "prefill" else to_go


class FixedPriority:
    """The priority that was submitted."""

    name = "fixed_priority"
    ages = False
    """Whether waiting raises the effective priority."""
    reserves = False
    """Whether the first request without room keeps those behind it from being admitted."""
    by_slack = False
    """Whether the slack of a deadline stands first in the key."""
    columns: tuple[str, ...] = (
        "deadline_slack",
        "phase_rank",
        "cache_rank",
        "-effective_priority",
        "total_len",
        "request_id",
    )

    def __init__(self, aging_interval: int) -> None:
        self.aging_interval = aging_interval

    def effective_priority(self, request: Ranked) -> int:
        return request.priority

    def key(self, request: Ranked, clock: int) -> Key:
        return (
            NO_DEADLINE_SLACK,
            0 if request.phase == "prefill" else 1,
            0 if request.cache_hit else 1,
            -self.effective_priority(request),
            request.total_len,
            request.request_id,
        )


class Aging(FixedPriority):
    """One more for every `aging_interval` steps of waiting."""

    name = "aging"
    ages = True

    def effective_priority(self, request: Ranked) -> int:
        return request.priority + request.wait_steps // self.aging_interval

    def key(self, request: Ranked, clock: int) -> Key:
        # Spelled out, as in all policies: a search makes keys by the million, and calls cost most.
        return (
            NO_DEADLINE_SLACK,
            0 if request.phase == "prefill" else 1,
            0 if request.cache_hit else 1,
            -request.priority - request.wait_steps // self.aging_interval,
            request.prompt_len + request.generated_len,
            request.request_id,
        )


class Deadline(FixedPriority):
    """Least slack first; slack gives no right to preempt."""

    name = "deadline"
    by_slack = True

    def key(self, request: Ranked, clock: int) -> Key:
        # Spelled out: a key made of the other policies' key takes twice the time.
        deadline = request.deadline_step
        return (
            NO_DEADLINE_SLACK if deadline is None else deadline - clock - remaining_steps(request),
            0 if request.phase == "prefill" else 1,
            0 if request.cache_hit else 1,
            -request.priority,
            request.total_len,
            request.request_id,
        )


class Fcfs(FixedPriority):
    """First come, first served; what does not fit is passed over."""

    name = "fcfs"
    columns = ("arrival_index",)

    def effective_priority(self, request: Ranked) -> int:
        return 0

    def key(self, request: Ranked, clock: int) -> Key:
        return (request.arrival_index,)


class ReservedAging(Aging):
    """Aged priority before all else, and the pool is kept for the first who finds no room."""

    name = "reserved_aging"
    reserves = True
    columns = ("-effective_priority", "phase_rank", "cache_rank", "total_len", "request_id")

    def key(self, request: Ranked, clock: int) -> Key:
        return (
            -self.effective_priority(request),
            0 if request.phase == "prefill" else 1,
            0 if request.cache_hit else 1,
            request.total_len,
            request.request_id,
        )


Policy = FixedPriority
POLICIES: dict[str, type[Policy]] = {
    policy.name: policy for policy in (FixedPriority, Aging, Deadline, Fcfs)
}
"""The four that are compared with one another."""

KNOWN_POLICIES: dict[str, type[Policy]] = {**POLICIES, ReservedAging.name: ReservedAging}
"""All that a scheduler takes by name: the four, and our answer to starvation."""


def make_policy(name: str, aging_interval: int) -> Policy:
    """The policy of that name; an unknown name is a KeyError, checked by the caller."""
    return KNOWN_POLICIES[name](aging_interval)
