"""Scope files: what is shipped is right, and what is wrong with others is told with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from schedproof.search.exhaustive import scopes
from schedproof.search.exhaustive.scopes import (
    FOLDER,
    Kind,
    ScopeError,
    load_scope,
    shipped,
)
from schedproof.subjects.actions import Enqueue
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import has_text, tell

RIGHT: dict[str, Any] = {
    "schema": "schedproof/scope",
    "schema_version": 1,
    "name": "mine",
    "blocks": 2,
    "aging_interval": 3,
    "arrivals": "closed",
    "menu": {
        "short": {"prompt_len": 1, "max_new_tokens": 1, "required_blocks": 1},
        "due": {"prompt_len": 2, "max_new_tokens": 3, "required_blocks": 2, "deadline_in": 4},
    },
    "slots": [["short", "due"], ["short"]],
}


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Writes a scope file: the right one with these changes, or any text."""

    def scope(text: str | None = None, **changes: Any) -> str:
        path = tmp_path / "mine.json"
        record = {key: value for key, value in {**RIGHT, **changes}.items() if value is not None}
        path.write_text(json.dumps(record) if text is None else text, encoding="utf-8")
        return str(path)

    return scope


def refused(name: str) -> ScopeError:
    with pytest.raises(ScopeError) as caught:
        load_scope(name)
    error = caught.value
    for language in LANGUAGES:
        assert has_text(error.message_id)
        assert str(error.values.get("path", "")) in tell(language)(error.message_id, **error.values)
    return error


@pytest.mark.parametrize("name", shipped())
def test_shipped_scopes_are_valid_and_named_as_their_files(name: str) -> None:
    record = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    schema = json.loads((FOLDER / scopes.schema_of(record)).read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(record)
    scope = load_scope(name)
    assert scope.name == name == record["name"]
    assert scopes._parse(json.dumps(record), name) == scope
    assert record["about"].endswith(".")


def test_a_scope_file_is_read(write: Any) -> None:
    scope = load_scope(write())
    short, due = scope.kinds
    assert scope.slots == ((short, due), (short,))
    assert (scope.blocks, scope.aging_interval, scope.active) == (2, 3, 0)
    assert (scope.arrivals, scope.timed) == ("closed", True)
    assert due == Kind("due", 2, 3, 2, deadline_in=4)
    assert scope.to_bounds() == {
        "scope": "mine",
        "arrivals": "closed",
        "requests": 2,
        "blocks": 2,
        "aging_interval": 3,
        "kinds": 2,
    }


def test_an_open_scope_file_is_read(write: Any) -> None:
    scope = load_scope(write(arrivals="open", active=3, slots=None))
    assert (scope.arrivals, scope.active, scope.slots) == ("open", 3, ())
    assert scope.to_bounds()["active"] == 3


def test_a_deadline_counts_from_the_arrival() -> None:
    due = Kind("due", 2, 3, 2, priority=4, cache_hit=True, preemptible=False, deadline_in=4)
    assert due.enqueue(7, 10) == Enqueue(7, 2, 3, 4, True, 2, 14, False)
    assert Kind("free", 2, 3, 2).enqueue(7, 10).deadline_step is None


BATCHES: dict[str, Any] = {
    "schema": "schedproof/batch-scope",
    "blocks": 2,
    "limits": {"block_size": 2, "max_num_seqs": 1, "max_num_batched_tokens": 3},
    "menu": {"a": {"prompt_len": 1, "max_new_tokens": 2, "priority": 3}},
    "slots": [["a"]],
    "aging_interval": None,
    "arrivals": None,
}


def test_a_scope_of_batches_has_limits_and_no_blocks_of_its_own(write: Any) -> None:
    scope = load_scope(write(**BATCHES))
    assert scope.limits == (2, 1, 3)
    assert scope.kinds[0].batch_enqueue(4).arguments() == {
        "request_id": 4,
        "prompt_len": 1,
        "max_new_tokens": 2,
        "priority": 3,
    }
    assert scope.to_bounds()["max_num_batched_tokens"] == 3
    wrong = {"a": {"prompt_len": 1, "max_new_tokens": 2, "required_blocks": 1}}
    assert refused(write(**{**BATCHES, "menu": wrong})).values["place"] == "menu/a"
    assert refused(write(**{**BATCHES, "limits": None})).values["place"] == "/"


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a blocks of text": ({"blocks": "2"}, "blocks"),
    "a negative pool": ({"blocks": -1}, "blocks"),
    "no aging interval": ({"aging_interval": 0}, "aging_interval"),
    "an empty menu": ({"menu": {}}, "menu"),
    "a kind without blocks": ({"menu": {"a": {"prompt_len": 1, "max_new_tokens": 1}}}, "menu/a"),
    "a size of zero": (
        {"menu": {"a": {"prompt_len": 0, "max_new_tokens": 1, "required_blocks": 1}}},
        "menu/a/prompt_len",
    ),
    "a kind that nobody knows of": ({"slots": [["short"], [3]]}, "slots/1/0"),
    "an empty slot": ({"slots": [["short"], []]}, "slots/1"),
    "a kind twice": ({"slots": [["short", "short"]]}, "slots/0"),
    "another schema": ({"schema": "else"}, "schema"),
    "a newer version": ({"schema_version": 2}, "schema_version"),
    "a field of nobody": ({"colour": "red"}, "/"),
    "no name": ({"name": None}, "/"),
    "closed without slots": ({"slots": None}, "/"),
    "closed and open": ({"active": 2}, "active"),
    "open with slots": ({"arrivals": "open", "active": 2}, "slots"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_with_its_place(case: str, write: Any) -> None:
    changes, place = WRONG[case]
    path = write(**changes)
    error = refused(path)
    assert error.message_id == "scope.invalid"
    assert (error.values["path"], error.values["place"]) == (path, place)
    assert error.values["error"]


def test_a_kind_that_is_not_on_the_menu_is_told(write: Any) -> None:
    error = refused(write(slots=[["short", "long"]]))
    assert error.message_id == "scope.no_such_kind"
    assert (error.values["name"], error.values["allowed"]) == ("long", ["short", "due"])


def test_bad_json_is_told_with_its_line(write: Any) -> None:
    error = refused(write('{\n  "name": "mine",\n  "blocks": ,\n}\n'))
    assert error.message_id == "scope.bad_json"
    assert (error.values["line"], error.values["column"]) == (3, 13)


def test_an_unknown_scope_is_told_with_those_there_are() -> None:
    error = refused("nowhere")
    assert error.message_id == "scope.unknown"
    assert error.values == {"name": "nowhere", "allowed": shipped()}
    assert "small" in shipped()
    assert "scope.schema" not in shipped()


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "scope.json").write_bytes(b"\xff\xfe\x00")
    error = refused(str(tmp_path / "scope.json"))
    assert error.message_id == "scope.unreadable"
    assert error.values["error"]


def test_a_scope_can_be_resized() -> None:
    scope = load_scope("large")
    assert scope.resized(None, None) == scope
    assert scope.resized(2, None).slots == scope.slots[:2]
    assert scope.resized(None, 7).blocks == 7
    more = scope.resized(7, None).slots
    assert more == (*scope.slots, scope.kinds, scope.kinds)


def test_an_open_scope_is_resized_by_its_active_requests(write: Any) -> None:
    scope = load_scope(write(arrivals="open", active=3, slots=None))
    assert (scope.resized(5, 9).active, scope.resized(5, 9).blocks) == (5, 9)
