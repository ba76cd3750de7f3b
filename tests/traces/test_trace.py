"""The format of a trace, its id, and the folder that traces are kept in."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.traces.conftest import LOSES_A_TOKEN, trace_of

from schedproof.subjects.contract import Config, Limits
from schedproof.traces import store as stores
from schedproof.traces.store import Store, read
from schedproof.traces.trace import Trace, TraceError, line_of, trace_schema

jsonschema: Any = pytest.importorskip("jsonschema")
TRACES = {
    "violated": trace_of(),
    "error": trace_of(claim=None),
    "lasso": trace_of(claim="LIVE-2", lasso={"request": 0, "stem": 2, "loop": 3}),
    "batch": trace_of(config=Config("fcfs", 4, 2, Limits(2, 3, 8))),
    "everything": trace_of(
        factory="f.py:make", cell=3, claims_from="mine.py", fingerprint="ab", shortest=False
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_comes_back_from_its_file(name: str) -> None:
    trace = TRACES[name]
    jsonschema.Draft202012Validator(trace_schema()).validate(trace.to_json())
    assert Trace.from_text(trace.to_text()) == trace
    strange = {**trace.to_json(), "id": "edited"}  # then the schema is asked
    assert Trace.from_json(strange) == trace


def test_the_schema_is_one_and_describes_every_field() -> None:
    schema = trace_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(trace_of().to_json())


def test_an_id_stands_for_what_the_trace_is_about() -> None:
    trace = trace_of()
    assert trace.id == "PROGRESS-2-" + trace.digest[:4]
    assert trace_of(claim=None).id.startswith("RAISED-")
    same = [replace(trace, fingerprint="x"), replace(trace, shortest=False)]
    assert {each.id for each in same} == {trace.id}
    others = [
        replace(trace, subject="other.py:X"),
        replace(trace, config=Config("aging", 3, 2)),
        replace(trace, actions=trace.actions[:-1]),
        replace(trace, claim="LEDGER-1"),
    ]
    assert len({each.id for each in (trace, *others)}) == 5


@pytest.mark.parametrize(
    ("old", "new", "message", "has_line", "place"),
    [
        ('"blocks": 3', '"blocks": -3', "trace.invalid_at", True, "config/blocks"),
        ('"op": "step"', '"op": "stp"', "trace.invalid_at", True, "actions/1/op"),
        ('"claim": "PROGRESS-2"', '"claim": null', "trace.invalid_at", True, "claim"),
        ('"schema_version": 1', '"schema_version": 2', "trace.newer", False, None),
        ('"prompt_len"', '"prompt_length"', "trace.bad_action", False, None),
        ('"shortest": true', '"shortest": tru', "trace.bad_json", True, None),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_place(
    old: str, new: str, message: str, has_line: bool, place: str | None
) -> None:
    text = trace_of().to_text()
    assert old in text
    with pytest.raises(TraceError) as wrong:
        Trace.from_text(text.replace(old, new, 1), "t.json")
    assert wrong.value.message_id == message
    assert wrong.value.values["path"] == "t.json"
    line = text[: text.index(old)].count("\n") + 1
    assert wrong.value.values.get("line") == (line if has_line else None)
    assert wrong.value.values.get("place") == place


def test_the_line_of_a_part() -> None:
    text = '{\n "a": [1,\n  {"b": "x\\"y"}],\n "c": {}\n}'
    assert line_of(text, []) == 1
    assert line_of(text, ["a", 1, "b"]) == 3
    assert line_of(text, ["c"]) == 4
    assert line_of(text, ["nothing"]) == 0
    assert line_of("", ["a"]) == 0


def test_the_same_trace_is_kept_once() -> None:
    first, again = Store().save(trace_of()), Store().save(trace_of(fingerprint="new"))
    assert first.path == again.path
    assert [kept.trace.fingerprint for kept in Store().all()] == ["new"]
    assert [path.name for path in Store().folder.iterdir()] == [f"{first.name}.json"]


def test_another_trace_with_the_same_short_id_gets_a_long_one() -> None:
    trace = trace_of()
    kept = Store().save(trace)
    kept.path.write_text(trace_of(policy="aging").to_text(), encoding="utf-8")
    second = Store().save(trace)
    assert second.name == trace.long_id
    assert {each.trace.config.policy for each in Store().all()} == {"fixed_priority", "aging"}


def test_a_trace_is_found_by_id_by_its_beginning_and_by_path() -> None:
    kept, other = Store().save(trace_of()), Store().save(trace_of(claim="LEDGER-1"))
    assert Store().find(kept.name) == kept
    assert Store().find("progress") == kept
    assert Store().find(str(kept.path)) == kept
    assert Store().find("ledger-1").trace == other.trace
    assert Store().newest() == other


def test_names_that_name_no_trace() -> None:
    with pytest.raises(TraceError, match="none_kept"):
        Store().find("progress")
    with pytest.raises(TraceError, match="none_at_all"):
        Store().newest()
    Store().save(trace_of())
    Store().save(trace_of(policy="aging"))
    with pytest.raises(TraceError, match="several"):
        Store().find("progress")
    with pytest.raises(TraceError, match=r"trace\.none"):
        Store().find("ledger")
    with pytest.raises(TraceError, match="unreadable"):
        Store().find("nothing.json")


def test_the_folder_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "KEPT_MAX", 3)
    kept = [Store().save(trace_of(actions=LOSES_A_TOKEN[:n])) for n in range(1, 5)]
    for age, each in enumerate(kept):
        if each.path.exists():
            os.utime(each.path, (age, age))
    Store().save(trace_of())
    names = {path.name for path in Store().paths()}
    assert len(names) == 3
    assert f"{trace_of().id}.json" in names
    assert kept[1].path.name not in names


def test_nobody_sees_half_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Store().save(trace_of())
    before = kept.path.read_text(encoding="utf-8")

    def broken(self: Path, target: Path) -> None:
        raise OSError("no")

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(OSError, match="no"):
        Store().save(trace_of(shortest=False))
    assert kept.path.read_text(encoding="utf-8") == before
    assert [path.name for path in kept.path.parent.iterdir()] == [kept.path.name]


def test_a_huge_file_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Store().save(trace_of())
    monkeypatch.setattr(stores, "BYTES_MAX", 10)
    with pytest.raises(TraceError, match="too_large"):
        read(kept.path)


def test_the_written_file_is_json_with_its_schema() -> None:
    record = json.loads(Store().save(trace_of()).path.read_text(encoding="utf-8"))
    assert (record["schema"], record["schema_version"]) == ("schedproof/trace", 1)
    assert record["id"] == trace_of().id
