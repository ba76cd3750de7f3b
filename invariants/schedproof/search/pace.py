"""Who watches a search: its clock, its interrupts, and who hears of its progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class Pace(Protocol):
    """What a search looks at now and then.

    `deadline` is a moment of the monotonic clock; `interrupted` turns true on Ctrl-C; `action`
    counts calls into the scheduler, so that somebody can see when one does not return.
    """

    action: int

    @property
    def deadline(self) -> float:
        """The moment at which to stop."""
        ...

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it."""
        ...

    def progress(self, data: dict[str, Any]) -> None:
        """Tell how far the search is."""
        ...


@dataclass
class Unhurried:
    """All the time in the world, and nobody who listens."""

    action: int = 0
    deadline: float = float("inf")
    interrupted: bool = False

    def progress(self, data: dict[str, Any]) -> None:
        """Nobody listens."""


@dataclass
class Until:
    """The same pace with an earlier end; it tells nobody of its progress."""

    pace: Pace
    deadline: float
    action: int = 0

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it."""
        return self.pace.interrupted

    def progress(self, data: dict[str, Any]) -> None:
        """A search within a search is not worth telling."""
