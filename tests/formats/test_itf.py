"""ITF both ways: the same trace comes back, and the format's own library reads what we write."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from tests.formats.conftest import SUBJECT, clean
from tests.telling.conftest import FOUND

from schedproof.formats.reading import first_as_itf, trace_of
from schedproof.search.frames import states_of
from schedproof.subjects.actions import Enqueue, from_json, to_json
from schedproof.subjects.contract import Config
from schedproof.telling.report import Summary
from schedproof.traces.itf import ACTION, PICKS, from_itf, to_itf
from schedproof.traces.trace import Provenance, Trace, TraceError


def trace(*actions: dict[str, Any]) -> Trace:
    found_by = Provenance("0.1.0", "random", 7, {"blocks": 3})
    config = Config("aging", 3, 2)
    return Trace(SUBJECT, "ab12", config, actions, "violated", "WORK-1", (), False, found_by)


def everything(value: Any) -> Iterator[Any]:
    yield value
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(parts, (list, tuple)) or isinstance(value, dict):
        for part in parts:
            yield from everything(part)


@pytest.mark.parametrize("name", FOUND)
def test_a_trace_comes_back_as_it_was(name: str) -> None:
    run = FOUND[name]()
    (found,) = run.counterexamples
    before = trace_of(Summary(SUBJECT, (run,), 1.0), run, found)
    text = json.dumps(to_itf(before, found.frames))
    after = from_itf(json.loads(text))
    assert after == before
    assert after.id == before.id


@pytest.mark.parametrize("name", FOUND)
def test_there_are_no_nulls_and_no_floats(name: str) -> None:
    run = FOUND[name]()
    text = first_as_itf(Summary(SUBJECT, (run,), 1.5))
    assert not [v for v in everything(json.loads(text)) if v is None or isinstance(v, float)]


def test_every_state_has_every_variable_and_one_action() -> None:
    run = FOUND["progress-2"]()
    record = json.loads(first_as_itf(Summary(SUBJECT, (run,), 1.0)))
    states = record["states"]
    assert len(states) == run.counterexamples[0].length + 1
    for index, state in enumerate(states):
        assert state["#meta"]["index"] == index
        assert sorted(state) == sorted(["#meta", *record["vars"]])
    taken = [state[ACTION] for state in states]
    assert taken == ["init", "enqueue", "step", "step", "enqueue", "step"]
    assert states[1][PICKS]["priority"] == {"#set": [{"#bigint": "1"}]}
    assert states[1][PICKS]["deadline_step"] == {"#set": []}


def test_the_library_of_the_format_reads_it() -> None:
    itf_py: Any = pytest.importorskip("itf_py", reason="itf-py is not installed")
    run = FOUND["progress-2"]()
    (found,) = run.counterexamples
    record = to_itf(trace_of(Summary(SUBJECT, (run,), 1.0), run, found), found.frames)
    read = itf_py.trace_from_json(json.loads(json.dumps(record)))
    seen = [*states_of(found.frames)]
    for state, frame, requests in zip(read.states, found.frames, seen, strict=True):
        assert state.values["free"] == frame.free
        assert {str(i): r.generated_len for i, r in state.values["requests"].items()} == {
            i: fields["generated_len"] for i, fields in requests.items()
        }
    written = json.loads(json.dumps(itf_py.trace_to_json(read)))
    assert from_itf({**written, "#meta": record["#meta"]}).actions == found.actions


STRANGE = (True, 1.0, "1", None, -(10**30), "null")


@pytest.mark.parametrize("value", STRANGE, ids=repr)
def test_wrong_values_of_a_probe_come_back_with_their_type(value: Any) -> None:
    record = to_itf(trace(to_json(Enqueue(value, 1, deadline_step=value))))
    assert not [v for v in everything(record) if v is None or isinstance(v, float)]
    (action,) = from_itf(json.loads(json.dumps(record))).actions
    for name in ("request_id", "deadline_step"):
        assert (type(action["args"][name]), action["args"][name]) == (type(value), value)


def test_a_batch_scheduler_s_arguments_come_back_and_no_others() -> None:
    few = {"request_id": 1, "prompt_len": 4, "max_new_tokens": 1, "priority": 0}
    prompt = {"request_id": 2, "max_new_tokens": 1, "priority": 0, "token_ids": [7, 8]}
    actions = [{"op": "enqueue", "args": few}, {"op": "enqueue", "args": prompt}]
    before = trace(*actions, {"op": "abort", "args": {"request_id": 1}}, {"op": "step"})
    assert from_itf(json.loads(json.dumps(to_itf(before)))) == before


def test_not_a_number_comes_back_as_that() -> None:
    before = trace(to_json(Enqueue(1, math.nan)))
    (action,) = from_itf(json.loads(json.dumps(to_itf(before)))).actions
    assert math.isnan(action["args"]["prompt_len"])


def foreign(*states: dict[str, Any]) -> dict[str, Any]:
    return {"#meta": {"format": "ITF"}, "vars": [], "states": [{ACTION: "init"}, *states]}


def some(value: Any) -> dict[str, Any]:
    return {"tag": "Some", "value": value}


NONE = {"tag": "None", "value": {"#tup": []}}


def test_a_trace_of_another_tool_is_read() -> None:
    picks = {"request_id": some({"#bigint": "4"}), "priority": some(2), "cache_hit": NONE}
    record = foreign({ACTION: "enqueue", PICKS: {**picks, "colour": some("red")}}, {ACTION: "step"})
    enqueue, step = map(from_json, from_itf(record).actions)
    assert enqueue == Enqueue(4, 1, priority=2)
    assert to_json(step) == {"op": "step"}


@pytest.mark.parametrize(
    ("record", "place"),
    [
        ([], "states"),
        ({"states": []}, "states"),
        (foreign({}), "states/1"),
        (foreign({ACTION: "jump"}), "states/1"),
        (foreign({ACTION: "step"}, {ACTION: "enqueue", PICKS: {}}), "states/2"),
        (foreign({ACTION: "enqueue", PICKS: {"request_id": {"#set": [1, 2]}}}), "states/1"),
        (foreign({ACTION: "enqueue", PICKS: {"request_id": {"#map": []}}}), "states/1"),
        ({"#meta": {"schedproof": {}}, "states": [{}]}, "/"),
        ({"#meta": {"schedproof": 3}, "states": [{}]}, "#meta/schedproof"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(record: Any, place: str) -> None:
    with pytest.raises(TraceError) as caught:
        from_itf(record, "mine.itf.json")
    assert caught.value.values["place"] == place
    assert caught.value.values["path"] == "mine.itf.json"
    assert caught.value.values["error"]


def test_without_a_violation_there_is_the_start_alone() -> None:
    record = json.loads(first_as_itf(Summary(SUBJECT, (clean(),), 1.0)))
    assert record["#meta"]["status"] == "ok"
    assert [state[ACTION] for state in record["states"]] == ["init"]
