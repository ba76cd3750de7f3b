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
_REPORTS = frozenset({"MODEL-1.served", "MODEL-1.victim", "MODEL-1.event"})
_MUST_CHANGE = frozenset({"wait_steps", "preemptions", "free_kv_blocks", "clock", "generated_len"})
_WRITES_MAX = 3


def where_of(say: Say, example: Counterexample) -> tuple[str, ...]:
    """The lines, one text each; none where nothing is known or worth knowing."""
    evidence = example.evidence
    family = example.claim.partition("-")[0]
    if evidence is None or family in _DECISIONS or example.text in _REPORTS:
        return ()
    missing = _missing(say, example)
    told = [_write(say, write) for write in _telling(example, evidence.writes)[:_WRITES_MAX]]
    if told or missing:
        return (*missing, *told)
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
    _, wrong = _against_the_books(example, writes)
    return wrong or list(writes)


def _missing(say: Say, example: Counterexample) -> tuple[str, ...]:
    """The blocks that no line gave back or took, where no write is wrong by itself."""
    evidence = example.evidence
    due, wrong = _against_the_books(example, () if evidence is None else evidence.writes)
    if wrong:
        return ()
    return tuple(
        say(
            "where.not_given_back" if blocks > 0 else "where.not_taken",
            request=request,
            blocks=abs(blocks),
        )
        for request, blocks in due
    )


def _against_the_books(
    example: Counterexample, writes: Sequence[Write]
) -> tuple[list[tuple[int, int]], list[Write]]:
    """What was due and written by no line, as (request, blocks); and the writes not due."""
    flow = None if example.before is None else flow_of(example, example.before)
    if example.claim not in TOLD_BY_BOOKS or flow is None:
        return [], []
    due = [*flow.back, *((request, -blocks) for request, blocks in flow.taken)]
    return due, [write for write in writes if not _accounted_for(write, due)]


def _accounted_for(write: Write, due: list[tuple[int, int]]) -> bool:
    """Whether a change of the free blocks is one of those that were due; each counts once."""
    if type(write.old) is not int or type(write.new) is not int:
        return False
    found = next((each for each in due if each[1] == write.new - write.old), None)
    if found is not None:
        due.remove(found)
    return found is not None


def _write(say: Say, write: Write) -> str:
    place = Place.from_json(write.place)
    assert place is not None
    source = _shortened(dict(place.lines).get(place.line, ""))
    return say(
        "where.wrote",
        place=say(place.message_id, **place.fields),
        source=source,
        what=_named(write.request, write.name),
        old=_shown(write.old),
        new=_shown(write.new),
    )


def _shortened(line: str) -> str:
    """A line without its comment; with an ellipsis where the statement goes on below."""
    code = line.partition("  # ")[0].strip()
    is_open = sum(code.count(sign) for sign in "([{") > sum(code.count(sign) for sign in ")]}")
    return f"{code} …" if is_open else code


def _named(request: int | None, name: str) -> str:
    return name if request is None else f"r{request}.{name}"


def _shown(value: Any) -> str:
    return "–" if value is None or value == "<gone>" else str(value)
