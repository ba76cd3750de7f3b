"""The capacity ledger: how many KV blocks there are, and how many are free.

Rules. A request is granted its `required_blocks` whole or not at all, and gives back
exactly that number, once: a grant never grows. `free` plus what the requests hold is
`capacity` at all times. The ledger counts blocks; which block is whose is for another
scheduler to know.
"""

from __future__ import annotations

from typing import Protocol


class Claimant(Protocol):
    """What the ledger needs of a request."""

    @property
    def required_blocks(self) -> int: ...


class CapacityLedger:
    """A pool of `capacity` KV blocks, all free at first."""

    __slots__ = ("capacity", "free")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.free = capacity

    def can_grant(self, request: Claimant) -> bool:
        return request.required_blocks <= self.free

    def grant(self, request: Claimant) -> None:
        self.free -= request.required_blocks

    def can_grow(self, request: Claimant) -> bool:
        return False

    def grow(self, request: Claimant) -> None:
        """Nothing: it is never asked, because there is never room to grow."""

    def take_back(self, request: Claimant) -> None:
        self.free += request.required_blocks
