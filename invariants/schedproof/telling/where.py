"""Which line wrote the guilty field: the place, the line as it stands there, old and new value.

Rules.
1. It is told for claims about fields. Where the decision is wrong and the writes are right,
   the lines that wrote would only mislead.
2. Of several writes to the free blocks, those are told that no request accounts for, if the
   numbers say which.
3. That no line wrote a field is told where one should have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedproof.search.evidence import Write
from schedproof.search.results import Counterexample
from schedproof.subjects.places import Place
from schedproof.telling.books import TOLD_BY_BOOKS, flow_of
from schedproof.telling.messages import Say

_DECISIONS = frozenset({"ORDER", "WORK", "STALL", "EVENT", "LIVE", "REPLAY"})
_MUST_CHANGE = frozenset({"wait_steps", "preemptions", "free_kv_blocks", "clock", "generated_len"})
_WRITES_MAX = 3


def where_of(say: Say, example: Counterexample) -> tuple[str, ...]:
    """The lines, one text each; none where nothing is known or worth knowing."""
    evidence = example.evidence
    if evidence is None or example.claim.partition("-")[0] in _DECISIONS:
        return ()
    writes = _telling(example, evidence.writes)
    told = [_write(say, write) for write in writes[:_WRITES_MAX]]
    if told:
        return tuple(told)
    return tuple(
        say("where.not_written", what=_named(request, name))
        for request, name in evidence.unwritten
        if _must_change(example, name)
    )[:_WRITES_MAX]


def _must_change(example: Counterexample, name: str) -> bool:
    ends = example.text == "LIFE-3.not_finished" and name == "status"
    return ends or name in _MUST_CHANGE


def _telling(example: Counterexample, writes: Sequence[Write]) -> list[Write]:
    """The writes that say most."""
    if example.claim not in TOLD_BY_BOOKS:
        return list(writes)
    flow = None if example.before is None else flow_of(example, example.before)
    if flow is None:
        return list(writes)
    due = [blocks for _, blocks in flow.back] + [-blocks for _, blocks in flow.taken]
    wrong = [write for write in writes if not _accounted_for(write, due)]
    return wrong or list(writes)


def _accounted_for(write: Write, due: list[int]) -> bool:
    """Whether a change of the free blocks is one of those that were due; each counts once."""
    if type(write.old) is not int or type(write.new) is not int:
        return False
    change = write.new - write.old
    if change in due:
        due.remove(change)
        return True
    return False


def _write(say: Say, write: Write) -> str:
    place = Place.from_json(write.place)
    assert place is not None
    source = dict(place.lines).get(place.line, "").partition("  # ")[0].strip()
    return say(
        "where.wrote",
        place=say(place.message_id, **place.fields),
        source=source,
        what=_named(write.request, write.name),
        old=_shown(write.old),
        new=_shown(write.new),
    )


def _named(request: int | None, name: str) -> str:
    return name if request is None else f"r{request}.{name}"


def _shown(value: Any) -> str:
    return "–" if value is None or value == "<gone>" else str(value)
