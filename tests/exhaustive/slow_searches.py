"""Searches that take minutes; no test runner collects this file unless it is named.

    python -m pytest tests/exhaustive/slow_searches.py

It compares the large configurations of the manifest, looks for planted faults in the medium
and large scopes, and walks into both traps of the large scope: faults that pass the gate.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.exhaustive import manifest
from tests.exhaustive.conftest import (
    BOTH,
    PASS_THE_GATE,
    THE_FOUR,
    lengths,
    planted,
    search,
)
from tests.exhaustive.test_manifest import name_of

LARGE = [record for record in manifest.read() if record["large"]]


@pytest.mark.parametrize("record", LARGE, ids=name_of)
def test_a_search_comes_to_what_the_manifest_says(record: dict[str, Any]) -> None:
    assert manifest.record_of(manifest.configuration_of(record)) == record


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize("scope", ["default", "medium", "large"])
@pytest.mark.parametrize("fault", THE_FOUR)
def test_the_four_faults_are_found_by_the_same_number_of_actions(
    fault: str, scope: str, policy: str
) -> None:
    edit, length = THE_FOUR[fault]
    found = search(planted(edit), scope, policy)
    assert lengths(found) == [length]
    assert found.counterexamples[0].shortest


@pytest.mark.parametrize("fault", PASS_THE_GATE)
def test_a_fault_that_passes_the_gate_is_never_said_to_be_absent(fault: str) -> None:
    edit, length, verdict = PASS_THE_GATE[fault]
    reduced = search(planted(edit), "large", "aging", identity="peer", reduce=manifest.ALL_ROUND)
    assert reduced.notes[0][0] == "note.gate_passed"
    assert reduced.verdict == verdict
    full = search(planted(edit), "large", "aging", identity="peer")
    assert (full.verdict, lengths(full)) == ("violated", [length])
    assert lengths(reduced) in ([], [length])
