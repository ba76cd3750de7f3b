"""Open parts of an exercise, and the line of the subject that an error is told with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from schedproof.subjects.loading import (
    SubjectLoadError,
    TargetError,
    error_text,
    is_open_todo,
    load_class,
    locate,
    open_todos,
    parse_target,
)
from schedproof.subjects.places import text_of


@pytest.fixture(autouse=True)
def _own_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Loading changes `sys.path` and looks at the current folder: each test has its own."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def failed(text: str, cell: int | None = None) -> SubjectLoadError:
    with pytest.raises(SubjectLoadError) as caught:
        load_class(parse_target(text), cell)
    return caught.value


# Open parts of an exercise

OPEN = '''\
class Scheduler:
    def enqueue(self, request_id):
        """Adds a request."""
        # request = ???
        self.queue.append(request)

    def _schedule_key(self, req):
        # slack = ???
        return (slack, req)

    def _ensure_capacity(self, challenger):
        raise NotImplementedError("yours")

    def step(self):
        """Only words."""
        ...
'''

DONE = """\
from functools import wraps


def loud(method):
    @wraps(method)
    def wrapper(*args):
        return method(*args)
    return wrapper


class Scheduler:
    def enqueue(self, request_id):
        request = request_id
        return [request for _ in ()]

    def _schedule_key(self, req):
        if req is None:
            raise NotImplementedError
        return undefined_by_mistake

    @loud
    def _ensure_capacity(self, challenger):
        if challenger:
            return 1
        else:
            with open("x"):
                return 2
        raise NotImplementedError

    step = len
"""


def load(tmp_path: Path, source: str) -> type[Any]:
    write(tmp_path / "s.py", source)
    return load_class(parse_target("s.py:Scheduler")).cls


def test_open_parts_are_found_without_running_them(tmp_path: Path) -> None:
    assert open_todos(load(tmp_path, OPEN)) == [
        "enqueue",
        "_schedule_key",
        "_ensure_capacity",
        "step",
    ]
    assert open_todos(load(tmp_path, DONE)) == []


DOTTED = """\
class Scheduler:
    def enqueue(self, request_id):
        request = ...
        self.queue.append(request)

    def _schedule_key(self, req):
        slack: int = ...
        slack = 5
        return slack

    def _ensure_capacity(self, challenger):
        return ...

    def step(self):
        if self:
            chosen = preempted_request_id = ...
        return chosen
"""


def test_a_name_that_is_only_given_dots_is_open(tmp_path: Path) -> None:
    assert open_todos(load(tmp_path, DOTTED)) == ["enqueue", "_ensure_capacity", "step"]


def test_without_a_source_only_placeholders_are_seen() -> None:
    names: dict[str, Any] = {"__name__": "typed_in"}
    exec(OPEN, names)
    assert open_todos(names["Scheduler"]) == ["enqueue"]


def test_an_open_part_is_told_apart_from_a_mistake(tmp_path: Path) -> None:
    source = (
        OPEN
        + "    def typo(self): return reqest\n"
        + "    def late(self):\n        if not self: chosen = 1\n        return chosen\n"
        + "    def elsewhere(self):\n        import abc; return abc.ABC().nothing\n"
        + "    def library(self):\n        import asyncio; asyncio.AbstractEventLoop().close()\n"
    )
    scheduler = load(tmp_path, source)()
    for method, is_open in {
        "_ensure_capacity": True,
        "_schedule_key": True,
        "typo": False,
        "late": True,
        "elsewhere": False,
        "library": False,
    }.items():
        call = getattr(scheduler, method)
        with pytest.raises(Exception) as caught:  # noqa: PT011 -- any kind is looked at
            call(1) if method.startswith("_") else call()
        assert is_open_todo(caught.value) is is_open, method
    assert not is_open_todo(NotImplementedError())


# Places


def test_an_installed_library_is_not_blamed_for_a_line_of_the_file(tmp_path: Path) -> None:
    write(tmp_path / "site-packages" / "library_x.py", "def fail(): raise OSError('deep')\n")
    sys.path.append(str(tmp_path / "site-packages"))
    write(tmp_path / "s.py", "import library_x\n\n\nlibrary_x.fail()\n")
    error = failed("s.py:A")
    assert error.place is not None
    assert (error.place.name, error.place.line) == ("s.py", 4)


def test_an_installed_scheduler_is_the_place_when_nothing_else_is(tmp_path: Path) -> None:
    path = write(tmp_path / "site-packages" / "library_y.py", "\nraise OSError\n")
    sys.path.append(str(path.parent))
    error = failed("library_y:A")
    assert error.place is not None
    assert (error.place.path, error.place.line) == (str(path), 2)
    assert locate(error.__cause__ or error, inside=[path.parent]) == error.place


def test_an_error_of_ours_has_no_place() -> None:
    with pytest.raises(TargetError) as caught:
        parse_target("")
    ours = caught.tb.tb_next
    assert locate(caught.value.with_traceback(ours)) is None


def test_an_error_that_cannot_be_printed_has_a_text() -> None:
    class Hostile(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert error_text(Hostile()) == "Hostile: (ValueError in Hostile.__str__)"
    assert len(error_text(ValueError("x" * 10_000))) < 3_000
    assert error_text(ValueError()) == "ValueError"


def test_what_an_exception_says_has_no_addresses_in_it() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert text_of(ValueError(f"{object()} is not in deque")) == "<object object> is not in deque"
    assert text_of(ValueError("block at 0x is odd")) == "block at 0x is odd"
    assert text_of(Silent()) == ""
    assert len(text_of(ValueError("x" * 10_000))) == 500
