"""The columns of a table of requests: which fields each shows, and how a value is written.

Rules.
1. The script of the page gets this list and shows the same columns.
2. A cell is written in numbers and in the names of fields and states, which are the same in
   every language; only the last column, for what is said of a request once, has words.
3. The slack falls with every event, and the wait, and with it the effective priority, grows
   with every step of others; a change of these is no news, so it is not marked as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from schedproof.telling.messages import Say

Fields = Mapping[str, Any]

COLUMNS: dict[str, tuple[str, ...]] = {
    "status": ("status", "state"),
    "phase": ("phase",),
    "generated": ("generated_len", "max_new_tokens"),
    "priority": ("priority", "effective_priority"),
    "waited": ("wait_steps",),
    "blocks": ("held_blocks", "required_blocks", "block_ids"),
    "deadline": ("deadline_step", "slack"),
    "preempted": ("preemptions",),
}
MORE = "more"
QUIET = ("wait_steps", "slack", "effective_priority")
MARKS = {
    "waiting": "○",
    "admitted": "◔",
    "prefill": "◑",
    "decode": "▶",
    "preempted": "◆",
    "finished": "■",
    "": "?",
}
"""A sign for each state, so that none is told by its colour alone."""

_SHOWN = frozenset(name for fields in COLUMNS.values() for name in fields)
_TOLD_AS_MORE = ("prompt_len", "cache_hit", "preemptible")


def used_columns(states: Iterable[Mapping[str, Fields]]) -> list[str]:
    """The columns that have something to show in these states."""
    requests = [fields for state in states for fields in state.values()]
    return [
        name
        for name, (first, *_) in COLUMNS.items()
        if any(fields.get(first) is not None for fields in requests)
    ]


def name_of(request_id: str) -> str:
    """A request as it is called: r1, or its own id in quotes where that is no number."""
    return f"r{request_id}" if request_id.lstrip("-").isdecimal() else repr(request_id)


def cell(column: str, fields: Fields) -> str:
    """What a request shows in a column."""
    get = fields.get
    if column == "status":
        return f"{MARKS.get(str(get('state') or ''), '?')} {_plain(get('status'))}"
    if column == "generated":
        return f"{_plain(get('generated_len'))}/{_plain(get('max_new_tokens'))}"
    if column == "blocks":
        ids = "".join(f" #{block}" for block in get("block_ids") or ())
        return f"{_plain(get('held_blocks'))}/{_plain(get('required_blocks'))}{ids}"
    first = _plain(get(COLUMNS[column][0]))
    if column == "priority" and get("effective_priority") not in (None, get("priority")):
        return f"{first} → {_plain(get('effective_priority'))}"
    if column == "deadline" and get("slack") is not None:
        return f"{first} ({get('slack')})"
    return first


def _plain(value: Any) -> str:
    return "–" if value is None else str(value)


def changed(column: str, before: Fields | None, after: Fields) -> bool:
    """Whether a column shows something new about a request that was there before."""
    if before is None:
        return False
    names = [name for name in COLUMNS[column] if name not in QUIET]
    return any(before.get(name) != after.get(name) for name in names)


def more(say: Say, fields: Fields, guilty: Iterable[str]) -> list[str]:
    """What is said of a request in words: what it was submitted with, and guilty extras."""
    told = [say("arg.prompt_len", value=_plain(fields.get("prompt_len")))]
    if fields.get("cache_hit"):
        told.append(say("arg.cache_hit"))
    if fields.get("preemptible") is False:
        told.append(say("arg.preemptible"))
    extras = [name for name in guilty if name not in _SHOWN and name in fields]
    told += [f"✗ {name} = {_plain(fields[name])}" for name in extras if name not in _TOLD_AS_MORE]
    return told
