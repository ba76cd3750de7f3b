"""Before and after: the table beside what went wrong, with the guilty cells named.

Rules.
1. The table shows what is guilty and what else changed for the same requests; a change
   that is known to be right says so, because people look at every change.
2. A guilty cell says what it should be where the claim fixes that, else it is marked only.
3. Claims about events compare the event with the state; claims about whole runs compare
   the two runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedproof.search.results import Counterexample, Moment
from schedproof.subjects.observation import STORED_FIELDS
from schedproof.telling.books import TOLD_BY_BOOKS
from schedproof.telling.messages import Say, has_text

_KEEPS = frozenset(
    "PROGRESS-2 PROGRESS-1.tokens PROGRESS-1.phase PROGRESS-3.not_chosen LIFE-2 INPUT-1".split()
)
_NEVER_PREEMPTED = frozenset("VICTIM-2 VICTIM-3 VICTIM-4 VICTIM-6 VICTIM-6.many".split())
_ALWAYS_SHOWN = {"PROGRESS-2": ("phase", "generated_len", "held_blocks")}
_NOT_SHOWN = frozenset({"request_id", "state", "wait_steps"})
_LISTS = ("block_ids", "output")
_OF_POOLS = ("free_ids", "references")
_WRONG = "✗"

Request = dict[str, Any]


@dataclass(frozen=True)
class Difference:
    """One row: whose (r1, or ""), what, the two cells, and what is to be said about it."""

    whose: str
    what: str
    before: str
    after: str
    note: str
    guilty: bool


@dataclass(frozen=True)
class Differences:
    """The table with the headings of its two columns."""

    before: str
    after: str
    rows: tuple[Difference, ...]


def differences_of(say: Say, example: Counterexample) -> Differences | None:
    """The table of a counterexample; None where there is nothing to compare."""
    values = example.values
    if "told" in values and "real" in values:
        return _event(say, example)
    if "base" in values and "other" in values:
        return _runs(say, values)
    if example.before is None or example.after is None:
        return None
    rows = _pool_rows(say, example, example.before, example.after)
    for request_id in dict.fromkeys(i for i, _ in example.guilty if i is not None):
        rows += _request_rows(say, example, request_id)
    action = example.length
    headings = say("row.before", action=action), say("row.after", action=action)
    return Differences(*headings, tuple(rows)) if rows else None


def _event(say: Say, example: Counterexample) -> Differences:
    values = example.values
    name = str(values.get("field", "deadline_missed"))
    row = Difference("", name, str(values["told"]), str(values["real"]), _WRONG, guilty=True)
    return Differences(say("row.event"), say("row.state"), (row,))


def _runs(say: Say, values: dict[str, Any]) -> Differences:
    kind = "step" if "step" in values else "action"
    label = say(f"row.{kind}", step=values[kind])
    row = Difference("", label, str(values["base"]), str(values["other"]), _WRONG, guilty=True)
    return Differences(say("row.first"), say("row.second"), (row,))


def _pool_rows(
    say: Say, example: Counterexample, before: Moment, after: Moment
) -> list[Difference]:
    """Rows for the scheduler's own numbers, unless the books tell them."""
    guilty = [name for request_id, name in example.guilty if request_id is None]
    rows: list[tuple[str, Any, Any]] = []
    if "free_kv_blocks" in guilty and example.claim not in TOLD_BY_BOOKS:
        rows.append(("free_kv_blocks", before.free, after.free))
    if "clock" in guilty:
        rows.append(("clock", before.clock, after.clock))
    rows += [(name, *_paged(name, before, after)) for name in _OF_POOLS if name in guilty]
    return [
        Difference("", say(f"field.{name}"), str(old), str(new), _WRONG, guilty=True)
        for name, old, new in rows
    ]


def _paged(name: str, before: Moment, after: Moment) -> tuple[str, str]:
    """What a list of a pool of numbered blocks holds, before and after."""
    lists = ((moment.paged or {}).get(name, []) for moment in (before, after))
    first, second = (" ".join(map(str, values)) or "–" for values in lists)
    return first, second


def _request_rows(say: Say, example: Counterexample, request_id: int) -> list[Difference]:
    old, new = _request(example.before, request_id), _request(example.after, request_id)
    return [
        Difference(
            f"r{request_id}",
            say(f"field.{name}") if has_text(f"field.{name}") else name,
            _cell(say, name, old),
            _cell(say, name, new),
            *_note(say, example, request_id, name, old, new),
        )
        for name in _names(example, request_id, old, new)
    ]


def _request(moment: Moment | None, request_id: int) -> Request | None:
    return None if moment is None else moment.requests.get(str(request_id))


def _names(
    example: Counterexample, request_id: int, old: Request | None, new: Request | None
) -> list[str]:
    """Which fields of a request are shown, in the order in which fields are told."""
    guilty = {name for i, name in example.guilty if i == request_id}
    shown = _ALWAYS_SHOWN.get(example.text)
    if old is None and new is None:
        return []
    if old is None or new is None:
        wanted = guilty | {"status"}
    elif shown:
        wanted = guilty | set(shown)
    else:
        known = dict.fromkeys([*old, *new])
        changed = {name for name in known if old.get(name) != new.get(name)}
        wanted = guilty | (changed - _NOT_SHOWN)
    here = {**(old or {}), **(new or {})}
    order = (*STORED_FIELDS, *(name for name in here if name not in STORED_FIELDS))
    return [name for name in order if name in wanted and name in here]


def _cell(say: Say, name: str, request: Request | None) -> str:
    """One value as it is read aloud."""
    if request is None or name not in request:
        return say("row.absent")
    value = request[name]
    if name == "generated_len":
        return say("cell.generated", value=value, limit=request.get("max_new_tokens"))
    if name == "held_blocks":
        return say("cell.holds", value=value)
    if name == "preemptions":
        return say("cell.times", value=value)
    if name == "wait_steps":
        return say("cell.steps", value=value)
    if name in _LISTS:
        return " ".join(map(str, value)) or "–"
    if isinstance(value, bool):
        return say("cell.yes" if value else "cell.no")
    return "–" if value is None else str(value)


def _note(
    say: Say,
    example: Counterexample,
    request_id: int,
    name: str,
    old: Request | None,
    new: Request | None,
) -> tuple[str, bool]:
    """What is to be said of a cell, and whether it is guilty."""
    if (request_id, name) not in example.guilty:
        return _fine(say, example, name, old, new), False
    if old is None or new is None:
        return _WRONG, True
    right = _expected(example, old)
    if name in right:
        if new.get(name) == right[name]:
            return "", False
        stays = right[name] == old.get(name)
        value = right[name] if name not in _LISTS else _cell(say, name, right)
        return say("row.must_stay" if stays else "row.must_be", value=value), True
    return ("", False) if right else (_WRONG, True)


def _fine(
    say: Say, example: Counterexample, name: str, old: Request | None, new: Request | None
) -> str:
    """Why a change that people may wonder about is right; "" where nothing is known."""
    if example.text != "PROGRESS-2" or old is None or new is None:
        return ""
    if name == "held_blocks":
        given_back = not new[name] and "LEDGER-3" not in example.also_broken
        return say("row.fine.given_back") if given_back else ""
    if name == "phase" and old[name] != new[name]:
        return say("row.fine.repeated")
    return say("row.fine.phase" if name == "phase" else "row.fine.kept")


def _expected(example: Counterexample, old: Request) -> Request:
    """What the guilty fields should be, as far as the claim fixes it; the rest is right."""
    text, values = example.text, example.values
    if text in _NEVER_PREEMPTED:
        return {"status": old.get("status")}
    if text in _KEEPS:
        return {name: old.get(name) for _, name in example.guilty}
    decoding = 0 if old.get("phase") == "prefill" else 1
    by_text: dict[str, Request] = {
        "PROGRESS-2.count": {"preemptions": old.get("preemptions", 0) + 1},
        "PROGRESS-3.not_one_unit": {
            "phase": "decode",
            "generated_len": old.get("generated_len", 0) + decoding,
        },
        "PROGRESS-4": {"phase": "decode", "generated_len": values.get("expected")},
        "WAIT-1": {"wait_steps": values.get("expected")},
        "LIFE-3.not_finished": {"status": "finished"},
        "LEDGER-3.holds_nothing": {"held_blocks": old.get("required_blocks")},
        "LEDGER-3.still_holds": {"held_blocks": 0},
        "LEDGER-3.other_number": {"held_blocks": values.get("granted")},
    }
    return by_text.get(text, {})
