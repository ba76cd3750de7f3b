"""What can become of a job that ran in a child process.

Exactly one outcome per job, each a value. `Finished` is the only one in which the job said all it
had to say; the others tell what was known when it ended. None of them is a verdict: a hung
scheduler and an exhausted memory mean different things to different searches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from schedproof.subjects.places import Place

FIRST_LINES = 20
LINE_LENGTH_MAX = 500
_HEAD_BYTES = 32_768

JsonValue: TypeAlias = "bool | int | float | str | list[Any] | dict[str, Any] | None"


@dataclass(frozen=True)
class Output:
    """What the subject printed: how many lines in all (at least), and the first FIRST_LINES."""

    lines: int = 0
    first: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What every outcome tells.

    `output` is what was printed, `label` the action last begun by name ("" if none), `seconds`
    the time from start to end, `last_progress` the last progress that arrived, `known` what the
    job said that it would return if it came no further, `isolated` False where the system cannot
    fork and the job ran in this very process, without any limit.
    """

    output: Output = Output()
    label: str = ""
    seconds: float = 0.0
    last_progress: dict[str, Any] | None = None
    known: JsonValue = None
    isolated: bool = True


@dataclass(frozen=True)
class Finished(Outcome):
    """The job returned `value`."""

    value: JsonValue


@dataclass(frozen=True)
class Hung(Outcome):
    """One action took too long, or the job outlived its time by far; `where` if it is known."""

    where: Place | None


@dataclass(frozen=True)
class OutOfMemory(Outcome):
    """The memory was used up, at a line of the subject's (`where`) or in a search (None)."""

    where: Place | None


@dataclass(frozen=True)
class Exited(Outcome):
    """The subject ended the process: by sys.exit (`where` is known) or os._exit (it is not).

    `code` is the exit code, the text given to sys.exit, or None if the system did not say.
    """

    code: int | str | None
    where: Place | None


@dataclass(frozen=True)
class Died(Outcome):
    """A signal ended the process that we did not send; `where` if Python could still tell."""

    signal: int
    where: Place | None


@dataclass(frozen=True)
class Crashed(Outcome):
    """The job raised something it does not catch: `text` is the traceback for a report.

    With `where`, the exception came from the subject (a BaseException of its own); without, the
    fault is ours.
    """

    text: str
    where: Place | None = None


@dataclass(frozen=True)
class Interrupted(Outcome):
    """Ctrl-C. `partial` is what the job still returned (`returned`), else its last progress."""

    partial: JsonValue
    returned: bool = False


@dataclass(frozen=True)
class Ended(Outcome):
    """Nobody needed the job any more: another one had come to what was looked for."""


class FirstLines:
    """Takes all that is printed and keeps little of it."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._line_ends = 0
        self._last = b"\n"

    def feed(self, data: bytes) -> None:
        """Count the lines of `data` and keep it if it is among the first."""
        self._line_ends += data.count(b"\n")
        self._last = data[-1:] or self._last
        room = _HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += data[:room]

    def output(self, dropped: int = 0) -> Output:
        """What was printed, with `dropped` lines that were never fed."""
        is_cut = self._last != b"\n" and not dropped
        lines = self._line_ends + dropped + is_cut
        shown = self._head.decode(errors="replace").split("\n")[:FIRST_LINES]
        kept = tuple(line.rstrip()[:LINE_LENGTH_MAX] for line in shown)
        return Output(lines, kept[:lines])


def outcome_of(message: dict[str, Any], about: dict[str, Any]) -> Outcome:
    """The outcome that the child's last message tells; `about` holds the fields of `Outcome`."""
    kind, where = message["kind"], Place.from_json(message.get("where"))
    if kind == "finished":
        if message["interrupted"]:
            return Interrupted(message["value"], returned=True, **about)
        return Finished(message["value"], **about)
    if kind == "interrupted":
        return Interrupted(about.get("last_progress"), **about)
    if kind == "exited":
        return Exited(message["code"], where, **about)
    if kind == "crashed":
        return Crashed(message["text"], where, **about)
    return (Hung if kind == "hung" else OutOfMemory)(where, **about)
