"""Every small configuration of the manifest comes to what the manifest says.

The large ones are left to `slow_searches.py`. That the manifest has them, with the figures
that independent tools agree on, is looked at here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.exhaustive import manifest

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

RECORDS = manifest.read()
SMALL = [record for record in RECORDS if not record["large"]]


def name_of(record: dict[str, Any]) -> str:
    wanted = manifest.configuration_of(record)
    return "-".join([*(str(part) for part in wanted[:4] if part), *wanted.reduce])


@pytest.mark.parametrize("record", SMALL, ids=name_of)
def test_a_search_comes_to_what_the_manifest_says(record: dict[str, Any]) -> None:
    assert manifest.record_of(manifest.configuration_of(record)) == record


def test_the_manifest_has_each_configuration_once() -> None:
    found = [manifest.configuration_of(record) for record in RECORDS]
    assert found == list(manifest.configurations())
    assert len(set(found)) == len(found)


def test_the_manifest_agrees_with_independent_tools() -> None:
    seen = set()
    for record in RECORDS:
        place = (record["scope"], record["policy"])
        if place in manifest.GROUND_TRUTH and record["searched_identity"] == "peer":
            got = (record["distinct_states"], record["transitions"], record["depth"])
            assert got == manifest.GROUND_TRUTH[place], record
            assert record["verdict"] == (
                "holds_within_bounds" if record["target"] == "model" else "no_violation_reduced"
            )
            seen.add((record["target"], *place))
    assert seen == {
        (target, *place) for target in manifest.TARGETS for place in manifest.GROUND_TRUTH
    }


def test_the_manifest_has_what_was_measured_besides() -> None:
    counts = {
        manifest.configuration_of(record)[:5]: (
            record["distinct_states"],
            record["transitions"],
            record["depth"],
        )
        for record in RECORDS
    }
    assert counts["plain", "small", "fixed_priority", None, ()][0] == 13_045
    assert counts["model", "medium", "aging", "peer", ()] == (319_871, 380_943, 16)
    for target in manifest.TARGETS:
        assert counts[target, "large", "aging", "peer", manifest.ALL_ROUND][:2] == (60_328, 100_886)


def test_the_manifest_can_be_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = manifest.PATH.read_text("utf-8")
    monkeypatch.setattr(manifest, "PATH", tmp_path / "manifest.json")
    manifest.write(RECORDS)
    assert manifest.PATH.read_text("utf-8") == before
    assert manifest.read() == RECORDS
