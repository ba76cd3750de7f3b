"""Replaying traces: still broken, fixed, or no longer fitting the scheduler.

Rules.
1. Each trace is taken again in a child process of its own; many of them run side by side.
2. A scheduler whose source is another than when the trace was found is said to be edited.
   A trace that is broken on an unedited scheduler is what was expected; a fixed one is not.
   Only of an unedited one it is still said that no shorter trace breaks the claim.
3. The exit code of several replays is that of the worst: broken, then error, then a trace
   that no longer fits, then fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from schedproof.search.policy_runs import explaining_until
from schedproof.search.results import EXIT_CODES, Trouble, Verdict
from schedproof.subjects.load_errors import TargetError
from schedproof.traces.children import Ready, Task, do_all, source_of_trace
from schedproof.traces.store import Kept
from schedproof.traces.taken import (
    FAILED,
    FIXED,
    OTHERWISE,
    STILL,
    UNFIT,
    Taken,
    taken_plainly,
    with_evidence,
)
from schedproof.traces.trace import Trace
from schedproof.zoo.loading import UnknownFault

STATUSES = (STILL, OTHERWISE, FAILED, UNFIT, FIXED)
"""Worst first."""
CODE = {
    STILL: EXIT_CODES[Verdict.VIOLATED],
    OTHERWISE: EXIT_CODES[Verdict.VIOLATED],
    FAILED: EXIT_CODES[Verdict.ERROR],
    UNFIT: EXIT_CODES[Verdict.VACUOUS],
    FIXED: 0,
}


@dataclass(frozen=True)
class Replayed:
    """One trace, the name it is kept under, and what became of it."""

    name: str
    trace: Trace
    taken: Taken

    @property
    def edited(self) -> bool | None:
        """Whether the source is another than when the trace was found; None if not known."""
        now, then = self.taken.fingerprint, self.trace.fingerprint
        return None if now is None or then is None else now != then

    @property
    def exit_code(self) -> int:
        """0 fixed, 1 broken, 3 error, 5 no longer fits."""
        if self.trace.claim is None and self.taken.status == STILL:
            return CODE[FAILED]
        return CODE[self.taken.status]


def exit_code(replayed: Sequence[Replayed]) -> int:
    """The exit code of several replays."""
    order = list(dict.fromkeys(CODE[status] for status in STATUSES))
    return min((each.exit_code for each in replayed), key=order.index, default=0)


def replay(kept: Sequence[Kept], on: str | None = None) -> list[Replayed]:
    """Take traces again, each on its scheduler, or all on the target `on`."""
    ready: list[tuple[int, Task]] = []
    taken: dict[int, Taken] = {}
    for number, each in enumerate(kept):
        try:
            ready.append((number, _task(each, on)))
        except (UnknownFault, TargetError) as error:
            taken[number] = _nowhere(error)
    for number, found in zip((n for n, _ in ready), _all([t for _, t in ready]), strict=True):
        taken[number] = found
    traces = [each.trace if on is None else _about(each.trace, on) for each in kept]
    return [Replayed(kept[n].name, trace, taken[n]) for n, trace in enumerate(traces)]


def _about(trace: Trace, target: str) -> Trace:
    """The same trace, to be taken on another scheduler."""
    return replace(trace, subject=target, factory=None, cell=None, fingerprint=None)


def _task(kept: Kept, on: str | None) -> Task:
    trace = kept.trace
    if on is not None:
        trace = _about(trace, on)
    source = source_of_trace(trace, kept.path.parent)

    def work(ready: Ready) -> dict[str, Any]:
        def told(taken: Taken) -> dict[str, Any]:
            return {**taken.to_json(), "fingerprint": ready.fingerprint}

        same = on is None and trace.fingerprint in (None, ready.fingerprint)
        about = trace if same else replace(trace, shortest=False)  # nothing is proved of this one
        taken = taken_plainly(about, ready.start, ready.own)
        ready.channel.known({"value": told(taken)})
        until = explaining_until(ready.channel)
        return told(with_evidence(taken, ready.start, ready.own, until))

    return Task(source, work, trace.claims_from)


def _all(tasks: Sequence[Task]) -> list[Taken]:
    """What became of all of them; a target that names nothing does not spoil the others."""
    try:
        answers = do_all(tasks)
    except TargetError as error:
        if len(tasks) == 1:
            return [_no_target(error)]
        return [taken for task in tasks for taken in _all([task])]
    return [
        Taken.from_json(answer.value) if answer.trouble is None else _trouble(answer.trouble)
        for answer in answers
    ]


def _trouble(trouble: Trouble) -> Taken:
    return Taken(FAILED, trouble=trouble)


def _nowhere(error: UnknownFault | TargetError) -> Taken:
    if isinstance(error, TargetError):
        return _no_target(error)
    return Taken(UNFIT, reason="unfit.fault_unknown", values={"name": error.name})


def _no_target(error: TargetError) -> Taken:
    return Taken(UNFIT, reason=error.message_id, values=dict(error.fields))


def to_document(replayed: Sequence[Replayed], tool_version: str) -> dict[str, Any]:
    """All of it for programs."""
    return {
        "schema": "schedproof/replay",
        "schema_version": 1,
        "tool_version": tool_version,
        "exit_code": exit_code(replayed),
        "replays": [_record(each) for each in replayed],
    }


def _record(each: Replayed) -> dict[str, Any]:
    taken, example = each.taken, each.taken.example
    return {
        "trace": each.name,
        "subject": each.trace.subject,
        "policy": each.trace.config.policy,
        "claim": each.trace.claim,
        "status": taken.status,
        "edited": each.edited,
        "broken_claim": None if example is None else example.claim,
        "broken_at": None if example is None else example.length,
        "trouble": None if taken.trouble is None else taken.trouble.kind,
        "reason": {"id": taken.reason, "values": taken.values} if taken.reason else None,
    }
