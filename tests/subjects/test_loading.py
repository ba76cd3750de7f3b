"""Targets and the code behind them: what is found, and how trouble is told."""

from __future__ import annotations

import inspect
import json
import os
import sys
from pathlib import Path

import pytest

from schedproof.subjects.load_errors import Note
from schedproof.subjects.loading import (
    SubjectLoadError,
    Target,
    TargetError,
    load_callable,
    load_class,
    parse_target,
)

SCHEDULER = """\
class Scheduler:
    def enqueue(self, request_id):
        return request_id

    def step(self):
        return None
"""


@pytest.fixture(autouse=True)
def _own_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Loading changes `sys.path` and looks at the current folder: each test has its own."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refused(text: str) -> TargetError:
    with pytest.raises(TargetError) as caught:
        load_class(parse_target(text))
    return caught.value


def failed(text: str, cell: int | None = None) -> SubjectLoadError:
    with pytest.raises(SubjectLoadError) as caught:
        load_class(parse_target(text), cell)
    return caught.value


# Targets


@pytest.mark.parametrize("name", ["sched.py", "my sched.py", "C:odd:name.py", "ünï.py"])
def test_a_file_and_a_class_are_split_at_the_last_colon(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, SCHEDULER)
    for text in (f"{name}:Scheduler", f"{path}:Scheduler", f"./{name}::Scheduler"):
        assert parse_target(text) == Target("file", str(path), "Scheduler", text)
    assert parse_target(name) == Target("file", str(path), "", name)


def test_a_dotted_name_is_a_module() -> None:
    assert parse_target("pkg.mod:Outer.Inner") == Target(
        "module", "pkg.mod", "Outer.Inner", "pkg.mod:Outer.Inner"
    )
    assert parse_target("pkg.mod").name == ""


def test_a_notebook_is_told_by_its_suffix(tmp_path: Path) -> None:
    write(tmp_path / "n.ipynb", "{}")
    assert parse_target("n.ipynb:Scheduler").kind == "notebook"


@pytest.mark.parametrize(
    ("text", "message_id"),
    [
        ("", "target.empty"),
        (":", "target.empty"),
        ("nowhere.py:Scheduler", "target.no_file"),
        ("nowhere.py", "target.no_file"),
        ("C:\\code\\sched.py:Scheduler", "target.no_file_did_you_mean"),
        ("C:\\code\\sched.py", "target.no_file_did_you_mean"),
        ("shed.py:Scheduler", "target.no_file_did_you_mean"),
        ("folder/", "target.folder"),
        ("empty/", "target.folder_empty"),
        ("notes.txt:Scheduler", "target.not_a_python_file"),
        ("sched.py:not a name", "target.bad_name"),
        ("what is this?", "target.not_understood"),
        ("x" * 5000 + "/y.py:A", "target.no_file"),
        ("a\0b.py:A", "target.no_file"),
    ],
)
def test_what_leads_nowhere_is_named(tmp_path: Path, text: str, message_id: str) -> None:
    write(tmp_path / "sched.py", SCHEDULER)
    write(tmp_path / "notes.txt", "")
    write(tmp_path / "folder" / "other.py", "")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TargetError) as caught:
        parse_target(text)
    assert caught.value.message_id == message_id
    assert all(isinstance(value, str) for value in caught.value.fields.values())


def test_a_misspelt_file_and_a_folder_come_with_what_is_there(tmp_path: Path) -> None:
    write(tmp_path / "folder" / "sched.py", SCHEDULER)
    assert refused("folder/sched2.py:S").fields["suggestion"] == str(Path("folder/sched.py"))
    assert refused("./folder").fields["available"] == "sched.py"


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes in the file system here")
    os.mkfifo(tmp_path / "pipe.py")
    assert refused("pipe.py:A").message_id == "target.no_file"


def test_errors_survive_the_way_through_json(tmp_path: Path) -> None:
    write(tmp_path / "bad.py", "x = (\n")
    error = failed("bad.py:A")
    again = SubjectLoadError.from_json(json.loads(json.dumps(error.to_json())))
    assert again.to_json() == error.to_json()
    assert (again.message_id, again.fields["error"]) == ("load.syntax_error", error.error)
    wrong = TargetError("target.no_class", name="A")
    assert TargetError.from_json(wrong.to_json()).to_json() == wrong.to_json()


# Files


def test_a_file_is_loaded_as_a_script_would_be(tmp_path: Path) -> None:
    write(tmp_path / "sub" / "helper.py", "ANSWER = 42\n")
    write(
        tmp_path / "sub" / "sched.py",
        "from __future__ import annotations\nfrom dataclasses import dataclass\nimport sys\n"
        "from helper import ANSWER\n@dataclass\nclass Request:\n    size: int | None = ANSWER\n"
        "ARGV = list(sys.argv)\n" + SCHEDULER + "if __name__ == '__main__':\n    raise OSError\n",
    )
    loaded = load_class(parse_target("sub/sched.py:Scheduler"))
    module = sys.modules[loaded.cls.__module__]
    assert module.Request().size == 42
    assert [str(tmp_path / "sub" / "sched.py")] == module.ARGV
    assert "class Scheduler" in inspect.getsource(loaded.cls)
    assert not (tmp_path / "sub" / "__pycache__").exists()
    assert (loaded.name, loaded.notes, loaded.cell) == ("Scheduler", (), None)


def test_an_edit_within_the_same_second_is_seen(tmp_path: Path) -> None:
    for value in ("1", "2"):
        write(tmp_path / "sched.py", SCHEDULER + f"    value = {value}\n")
        assert load_class(parse_target("sched.py:Scheduler")).cls.value == int(value)


def test_a_file_cannot_take_the_place_of_a_standard_module(tmp_path: Path) -> None:
    write(tmp_path / "colorsys.py", SCHEDULER)
    write(tmp_path / "sched.py", "import colorsys\ncolorsys.rgb_to_hsv\n" + SCHEDULER)
    assert load_class(parse_target("colorsys.py:Scheduler")).cls.__name__ == "Scheduler"
    loaded = load_class(parse_target("sched.py:Scheduler"))
    assert loaded.notes == (Note("note.standard_name", {"file": "colorsys.py"}),)
    assert loaded.notes[0].to_json()["message_id"] == "note.standard_name"


@pytest.mark.parametrize(
    ("name", "source", "message_id", "suggestion"),
    [
        ("Schedular", SCHEDULER, "target.no_class_did_you_mean", "Scheduler"),
        ("scheduler", SCHEDULER, "target.no_class_did_you_mean", "Scheduler"),
        ("Zzz", SCHEDULER, "target.no_class", ""),
        ("Scheduler", "import abc\n", "target.no_class_at_all", ""),
        ("helper", "def helper(): pass\n", "target.not_a_class", ""),
        ("", "class Request: pass\n", "target.no_class_to_guess", ""),
        ("", "x = 1\n", "target.no_class_to_guess_at_all", ""),
    ],
)
def test_a_missing_class_comes_with_what_is_there(
    tmp_path: Path, name: str, source: str, message_id: str, suggestion: str
) -> None:
    write(tmp_path / "s.py", source)
    error = refused(f"s.py:{name}")
    assert (error.message_id, error.fields.get("suggestion", "")) == (message_id, suggestion)
    assert error.fields["where"] == "s.py"


def test_without_a_name_the_one_scheduler_is_meant(tmp_path: Path) -> None:
    write(tmp_path / "s.py", "class Request: pass\n" + SCHEDULER)
    assert load_class(parse_target("s.py")).name == "Scheduler"
    write(tmp_path / "two.py", SCHEDULER + "class Other(Scheduler): pass\n")
    error = refused("two.py")
    assert error.message_id == "target.several_class"
    assert error.fields["available"] == "Scheduler, Other"
    assert error.fields["suggestion"] == "two.py:Scheduler"


def test_what_is_no_scheduler_is_offered_last(tmp_path: Path) -> None:
    write(tmp_path / "s.py", "class Request: pass\n" + SCHEDULER)
    assert refused("s.py:Zzz").fields["available"] == "Scheduler, Request"


def test_a_nested_class_is_reached_by_its_dotted_name(tmp_path: Path) -> None:
    write(tmp_path / "s.py", "class Outer:\n    class Inner: pass\n")
    assert load_class(parse_target("s.py:Outer.Inner")).cls.__qualname__ == "Outer.Inner"


@pytest.mark.parametrize(
    ("source", "kind", "line", "error"),
    [
        ("x = 1\ndef f(:\n    pass\n", "syntax_error", 2, "SyntaxError: invalid syntax"),
        ("x = 1\nraise ValueError('no')\n", "raised", 2, "ValueError: no"),
        ("def f():\n    1 / 0\nf()\n", "raised", 2, "ZeroDivisionError: division by zero"),
        ("import json\njson.loads('{')\n", "raised", 2, "JSONDecodeError"),
        ("import sys\n\nsys.exit('bye')\n", "exited", 3, "sys.exit('bye')"),
        ("raise SystemExit\n", "exited", 1, "sys.exit()"),
        ("def f():\n    f()\nf()\n", "too_deep", 2, "RecursionError"),
        ("import not_there_at_all\n", "raised", 1, "ModuleNotFoundError"),
        ("class Odd(BaseException): pass\nraise Odd\n", "raised", 2, "Odd"),
        ("raise SyntaxError('mine')\n", "raised", 1, "SyntaxError: mine"),
        ("from . import helper\n", "raised", 1, "ImportError"),
    ],
)
def test_code_that_fails_at_import_is_told_with_its_place(
    tmp_path: Path, source: str, kind: str, line: int, error: str
) -> None:
    path = write(tmp_path / "s.py", source)
    found = failed("s.py:A")
    assert (found.kind, found.place and found.place.line) == (kind, line)
    assert found.error.startswith(error)
    assert found.place is not None
    assert (found.place.path, found.place.name) == (str(path), "s.py")


@pytest.mark.parametrize(
    ("rest", "line", "error"),
    [
        ("def test_it():\n    assert False\n\n\ntest_it()\n", 8, "AssertionError"),
        ("import sys\n\nsys.exit(1)\n", 9, "sys.exit(1)"),
        ("Scheduler().step().x\n", 7, "AttributeError: 'NoneType' object has no attribute 'x'"),
    ],
)
def test_a_class_counts_though_its_file_fails_below_it(
    tmp_path: Path, rest: str, line: int, error: str
) -> None:
    write(tmp_path / "s.py", SCHEDULER + rest)
    for text in ("s.py:Scheduler", "s.py"):
        loaded = load_class(parse_target(text))
        assert loaded.name == "Scheduler"
        note = Note("note.file_failed", {"line": str(line), "error": error})
        assert loaded.notes == (note,)
    assert failed("s.py:Other").kind in ("raised", "exited")


def test_a_file_with_nul_bytes_does_not_parse(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_bytes("class A: pass".encode("utf-16-le"))
    error = failed("s.py:A")
    assert error.kind == "syntax_error"
    assert error.place is not None
    assert (error.place.name, error.place.message_id) == ("s.py", "place.file.whole")


def test_a_file_in_another_encoding_does_not_parse(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_bytes("x = 'caf\xe9'\n".encode("latin-1"))
    assert failed("s.py:A").kind == "syntax_error"


def test_a_helper_that_does_not_parse_is_the_place(tmp_path: Path) -> None:
    write(tmp_path / "broken_helper.py", "\n)\n")
    write(tmp_path / "s.py", "import broken_helper\n")
    error = failed("s.py:A")
    assert error.kind == "syntax_error"
    assert error.place is not None
    assert (error.place.name, error.place.line) == ("broken_helper.py", 2)


def test_a_file_of_a_package_is_offered_as_a_module(tmp_path: Path) -> None:
    write(tmp_path / "offered" / "__init__.py", "")
    write(tmp_path / "offered" / "s.py", "from . import other\n")
    error = failed("offered/s.py:Scheduler")
    assert (error.kind, error.suggestion) == ("relative_import", "offered.s:Scheduler")


def test_an_unreadable_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "s.py", SCHEDULER)
    target = parse_target("s.py:Scheduler")

    def denied(_path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(TargetError) as caught:
        load_class(target)
    assert caught.value.message_id == "target.unreadable"


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_and_a_lack_of_memory_pass(tmp_path: Path, error: type[BaseException]) -> None:
    write(tmp_path / "s.py", f"raise {error.__name__}\n")
    write(tmp_path / "n.py", "")
    with pytest.raises(error):
        load_class(parse_target("s.py:A"))


# Modules


def test_a_module_is_found_from_the_current_folder(tmp_path: Path) -> None:
    write(tmp_path / "found_here" / "__init__.py", "")
    write(tmp_path / "found_here" / "mod.py", "from . import other\n" + SCHEDULER)
    write(tmp_path / "found_here" / "other.py", "")
    loaded = load_class(parse_target("found_here.mod:Scheduler"))
    assert loaded.cls.__module__ == "found_here.mod"


def test_a_missing_module_is_told_apart_from_a_missing_import(tmp_path: Path) -> None:
    write(tmp_path / "imports_missing.py", "import missing_everywhere\n")
    write(tmp_path / "scheduling.py", SCHEDULER)
    assert refused("no_such_module:A").message_id == "target.module_missing"
    assert refused("no_such.module:A").fields["missing"] == "no_such"
    assert refused("schedulling:A").fields["suggestion"] == "scheduling.py:A"
    assert failed("imports_missing:A").error.startswith("ModuleNotFoundError")


def test_a_class_behind_a_dot_is_offered_behind_a_colon(tmp_path: Path) -> None:
    write(tmp_path / "with_class.py", SCHEDULER)
    assert refused("with_class.Scheduler").fields["suggestion"] == "with_class:Scheduler"


def test_a_factory_is_loaded_like_a_class(tmp_path: Path) -> None:
    write(
        tmp_path / "f.py",
        "def helper(x): pass\ndef make(policy, blocks, aging_interval): return blocks\nX = 1\n",
    )
    for text in ("f.py:make", "f.py"):
        loaded = load_callable(parse_target(text))
        assert loaded.function(policy="aging", blocks=3, aging_interval=1) == 3
        assert loaded.name == "make"
    for text, message_id in [
        ("f.py:X", "target.not_a_function"),
        ("f.py:mak", "target.no_function_did_you_mean"),
    ]:
        with pytest.raises(TargetError) as caught:
            load_callable(parse_target(text))
        assert caught.value.message_id == message_id
