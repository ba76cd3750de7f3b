"""What was seen of one TODO: open, right, wrong, and the smallest case that shows it.

Rules.
1. All of it is plain data without a word of any language: it crosses from the child process as
   JSON and is told in two languages.
2. A case is shown as the calls that lead to it, in Python, so that it can be typed again, and
   as a table of what must be and what is.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from schedproof.search.results import RunResult, Trouble

OPEN, RIGHT, WRONG, TOGETHER, UNKNOWN = "open", "right", "wrong", "together", "unknown"
"""`together`: it fails beside our parts, and works with the learner's own. `unknown`: the time was
up before all was tried."""


@dataclass(frozen=True)
class Difference:
    """One value: whose (a request's id or None), which, what it must be, what it is."""

    whose: int | None
    name: str
    must_be: Any
    got: Any


@dataclass(frozen=True)
class Case:
    """A case that shows a mistake.

    `text` and `values` name the message that says what must happen, "" where the call failed and
    its trouble says it; `code` are the lines that lead there, the last one is the call; `policy`
    is the scheduler's; `shown` are the differences.
    """

    text: str
    values: dict[str, Any]
    code: tuple[str, ...]
    policy: str
    shown: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class Seen:
    """What became of one TODO. `tried` counts the cases that were looked at until then."""

    number: int
    state: str
    tried: int = 0
    case: Case | None = None
    trouble: Trouble | None = None
    runs: tuple[RunResult, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` is its inverse."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Seen:
        """What `to_json` wrote, also after a trip through JSON text."""
        made = cls(record["number"], record["state"], record["tried"])
        case, trouble = record["case"], record["trouble"]
        return replace(
            made,
            case=None if case is None else _case(case),
            trouble=None if trouble is None else trouble_from(trouble),
            runs=tuple(map(RunResult.from_json, record["runs"])),
        )


def _case(record: dict[str, Any]) -> Case:
    shown = tuple(Difference(**each) for each in record["shown"])
    return Case(record["text"], record["values"], tuple(record["code"]), record["policy"], shown)


def trouble_from(record: dict[str, Any]) -> Trouble:
    """The trouble that was written as JSON."""
    return replace(Trouble(**record), actions=tuple(record["actions"]))
