"""What each breach says, pinned: its text, its values, and who is guilty of it.

The stories, the page and the JSON document are made of these. After a change on purpose run
`RENEW_SNAPSHOTS=1 python -m pytest tests/claims`, read the difference, and commit it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.claims import test_edge_claims, test_run_claims
from tests.claims.conftest import LATE, reported, told

from schedproof.claims.catalogue import BY_ID
from schedproof.search.replay import plain
from schedproof.subjects.observation import EVENT_KEYS, STORED_FIELDS

PINNED = Path(__file__).with_name("breaches.json")
WAYS: dict[str, list[tuple[str, Any]]] = {
    claim_id: list(cases.break_)
    for table in (test_edge_claims.CASES, test_run_claims.CASES)
    for claim_id, cases in table.items()
}
OF_THE_SCHEDULER = {*EVENT_KEYS, "clock", "timeline", "queue", "free_ids", "references"}
OF_REQUESTS = {*STORED_FIELDS, *EVENT_KEYS, "admitted", "score", "computed_len", "block_ids"}
"""What rows and events hold; the last is an attribute that only some rows of the tests have."""


def said(claim_id: str) -> list[dict[str, Any]]:
    """What every way to break a claim comes to, as JSON has it."""
    found = [told(BY_ID[claim_id], about)[1][0] for _, about in WAYS[claim_id]]
    return [
        {
            "text": breach.text,
            "values": {name: plain(value) for name, value in breach.values.items()},
            "guilty": [list(pair) for pair in breach.guilty],
        }
        for breach in found
    ]


def a_line_for_each(pinned: dict[str, Any]) -> str:
    """The breaches as JSON that can be read and compared by line."""
    claims = (
        f' "{name}": [\n  ' + ",\n  ".join(map(json.dumps, pinned[name] or [])) + "\n ]"
        for name in pinned
    )
    return "{\n" + ",\n".join(claims) + "\n}\n"


@pytest.mark.parametrize("claim_id", WAYS)
def test_a_breach_says_what_it_said(claim_id: str) -> None:
    now = said(claim_id)
    pinned: dict[str, Any] = json.loads(PINNED.read_text("utf-8")) if PINNED.exists() else {}
    if os.environ.get("RENEW_SNAPSHOTS"):
        pinned = {name: pinned.get(name) for name in WAYS} | {claim_id: now}
        PINNED.write_text(a_line_for_each(pinned), "utf-8")
    assert now == pinned[claim_id]


@pytest.mark.parametrize("claim_id", WAYS)
def test_the_guilty_are_fields_that_a_reader_is_shown(claim_id: str) -> None:
    for breach in said(claim_id):
        for request_id, field in breach["guilty"]:
            assert field in (OF_THE_SCHEDULER if request_id is None else OF_REQUESTS), breach


def test_a_missed_deadline_is_told_with_its_arithmetic() -> None:
    _, (breach,) = told(BY_ID["EVENT-2"], reported(LATE, deadline_missed=False))
    assert breach.values["ends"] == 0 + 1 + 2  # the clock, the next step, two tokens to go
    assert (breach.values["deadline"], breach.values["real"]) == (2, True)
