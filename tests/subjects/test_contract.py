"""The words that schedulers are spoken to with: actions, refusals, rows, answers, sources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schedmodel import DecodeSchedulerSim
from schedmodel.lifecycle import HOLDING, State
from schedmodel.policy import POLICIES
from schedproof.subjects.actions import (
    ENQUEUE_ARGUMENTS,
    STEP,
    Abort,
    Action,
    Deliver,
    Enqueue,
    from_json,
    to_json,
)
from schedproof.subjects.contract import Config, Feature, expected_refusal
from schedproof.subjects.load_errors import TargetError
from schedproof.subjects.observation import STORED_FIELDS, Row, holds_by_state, make_row
from schedproof.subjects.sources import BUILT_IN, Loaded, Source, source_of
from schedproof.zoo.plain import PlainScheduler

# -- actions -------------------------------------------------------------------

FULL = Enqueue(1, 4, 3, -2, True, 2, 9, False)


@pytest.mark.parametrize(
    ("action", "op"),
    [(FULL, "enqueue"), (STEP, "step"), (Deliver(1), "deliver"), (Abort(3), "abort")],
)
def test_an_action_survives_its_json_form(action: Action, op: str) -> None:
    record = json.loads(json.dumps(to_json(action)))
    assert record["op"] == op
    assert from_json(record) == action


def test_an_enqueue_names_all_its_arguments_and_a_step_has_none() -> None:
    assert tuple(to_json(Enqueue(1, 4))["args"]) == ENQUEUE_ARGUMENTS
    assert to_json(Enqueue(1, 4))["args"] == Enqueue(1, 4).arguments()
    assert to_json(STEP) == {"op": "step"}


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"op": "pause"}, "op must be one of enqueue, step, deliver, abort, got 'pause'"),
        ({}, "op must be one of enqueue, step, deliver, abort, got None"),
        ({"op": "step", "args": {"index": 1}}, "step does not take these args"),
        ({"op": "enqueue", "args": {"request_id": 1}}, "enqueue does not take these args"),
    ],
)
def test_a_record_of_no_action_is_told(record: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        from_json(record)


# -- what must be refused ------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({}, None),
        ({"request_id": 7}, "request_id"),
        ({"prompt_len": 0}, "prompt_len"),
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"required_blocks": -1}, "required_blocks"),
        ({"deadline_step": 5}, "deadline_step"),
        ({"deadline_step": 6}, None),
        ({"priority": -9, "request_id": -9}, None),
        ({"request_id": 7, "prompt_len": 0}, "request_id"),
    ],
)
def test_the_chapter_refuses_what_cannot_be(wrong: dict[str, Any], field: str | None) -> None:
    action = Enqueue(**{"request_id": 1, "prompt_len": 4, **wrong})
    for strict in (False, True):
        assert expected_refusal(action, {7}, clock=5, strict_types=strict) == field


@pytest.mark.parametrize("field", ENQUEUE_ARGUMENTS)
@pytest.mark.parametrize("value", ["1", 1.0, None, True, 1])
def test_wrong_types_are_refused_where_types_are_strict(field: str, value: Any) -> None:
    truth = field in ("cache_hit", "preemptible")
    right = value is True if truth else type(value) is int
    right = right or (field == "deadline_step" and value is None)
    action = Enqueue(**{"request_id": 1, "prompt_len": 4, field: value})
    expected = None if right else field
    assert expected_refusal(action, set(), clock=0, strict_types=True) == expected
    with_model = DecodeSchedulerSim()
    if expected is None:
        with_model.enqueue(**action.arguments())
    else:
        with pytest.raises(ValueError, match=field):
            with_model.enqueue(**action.arguments())


@pytest.mark.parametrize("policy", POLICIES)
def test_a_config_knows_the_rules_of_its_policy(policy: str) -> None:
    rules = Config(policy, aging_interval=3).rules()
    assert (rules.name, rules.aging_interval) == (policy, 3)


def test_features_print_as_their_names() -> None:
    assert str(Feature.LEDGER) == "ledger"


# -- rows ----------------------------------------------------------------------


def row(**values: Any) -> Row:
    stored = dict.fromkeys(STORED_FIELDS, 0) | {
        "state": State.DECODE,
        "phase": "decode",
        "prompt_len": 4,
        "max_new_tokens": 3,
        "arrival_index": 0,
        "finish_reason": None,
        "advanced": True,
        "extra": (),
    }
    return make_row((), (), **{**stored, **values})


def test_what_follows_from_a_row_is_worked_out() -> None:
    waiting = row(state=State.WAITING, phase="prefill")
    assert (waiting.total_len, waiting.remaining, waiting.done) == (4, 4, False)
    assert (waiting.admitted, waiting.finished, waiting.shown) == (False, False, True)
    running = row(generated_len=2, held_blocks=2)
    assert (running.total_len, running.remaining, running.admitted) == (6, 1, True)
    finished = row(state=State.FINISHED, generated_len=3)
    assert (finished.done, finished.remaining, finished.finished) == (True, 0, True)
    assert not finished.shown
    assert row(state=State.FINISHED, held_blocks=1).shown


@pytest.mark.parametrize("state", [*State, None])
def test_a_state_says_who_should_hold_blocks(state: State | None) -> None:
    assert holds_by_state(row(state=state)) is (state in HOLDING)


def test_rows_are_equal_only_to_themselves() -> None:
    assert row() != row()


# -- sources -------------------------------------------------------------------

FILE = """\
class Mine:
    def __init__(self, policy, free_kv_blocks, aging_interval):
        self.set_up = policy, free_kv_blocks, aging_interval

    def enqueue(self, **named):
        raise NotImplementedError

    def step(self):
        pass


def make(policy, blocks, aging_interval):
    return ["made", policy, blocks, aging_interval]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    return path


def loaded(source: Source) -> Loaded:
    return source.load(lambda _text: None)


def made(source: Source) -> Any:
    return loaded(source).make(Config("aging", 5, 3))


def test_ours_comes_without_a_name_and_promises_strict_types() -> None:
    source = source_of()
    assert source.name == BUILT_IN
    assert loaded(source).strict_types
    scheduler = made(source)
    assert type(scheduler) is DecodeSchedulerSim
    assert (scheduler.policy, scheduler.free_kv_blocks, scheduler.aging_interval) == ("aging", 5, 3)


def test_a_class_at_hand_is_taken_as_it_is() -> None:
    source = source_of(PlainScheduler)
    assert source.name == "PlainScheduler"
    assert not loaded(source).strict_types
    assert loaded(source).todos == ()
    assert type(made(source)) is PlainScheduler


def test_a_target_is_loaded_with_what_is_still_open_in_it(file: Path) -> None:
    source = source_of(f"{file}:Mine")
    assert source.name == f"{file}:Mine"
    assert loaded(source).todos == ("enqueue", "step")
    assert made(source).set_up == ("aging", 5, 3)


def test_loading_tells_what_runs_next(file: Path) -> None:
    told: list[str] = []
    source_of(f"{file}:Mine").load(told.append)
    assert told == ["import"]


def test_a_factory_is_a_function_at_hand_or_one_that_is_named(file: Path) -> None:
    def of_mine(**named: Any) -> dict[str, Any]:
        return named

    at_hand = source_of(factory=of_mine)
    assert at_hand.name.endswith("of_mine")
    assert made(at_hand) == {"policy": "aging", "blocks": 5, "aging_interval": 3}
    named = source_of(factory=f"{file}:make")
    assert named.name == f"{file}:make"
    assert made(named) == ["made", "aging", 5, 3]


def test_a_text_that_names_nothing_is_refused_before_anything_is_loaded() -> None:
    with pytest.raises(TargetError):
        source_of("no/such/file.py:X")
    with pytest.raises(TargetError):
        source_of(factory="no/such/file.py:make")
