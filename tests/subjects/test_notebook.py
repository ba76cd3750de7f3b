"""Notebooks as subjects: which cells run, which definition counts, what is noted."""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from schedproof.subjects.load_errors import Note
from schedproof.subjects.loading import (
    SubjectLoadError,
    TargetError,
    load_class,
    locate,
    open_todos,
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


def notebook(path: Path, *cells: str | list[str], **top: Any) -> Path:
    """A notebook of format 4; a cell that begins with "md:" is text."""
    made = [
        {"cell_type": "markdown", "source": cell}
        if isinstance(cell, str) and cell.startswith("md:")
        else {"cell_type": "code", "source": cell, "outputs": [], "execution_count": None}
        for cell in cells
    ]
    return write(path, json.dumps({"nbformat": 4, "metadata": {}, "cells": made, **top}))


def refused(text: str) -> TargetError:
    with pytest.raises(TargetError) as caught:
        load_class(parse_target(text))
    return caught.value


def failed(text: str, cell: int | None = None) -> SubjectLoadError:
    with pytest.raises(SubjectLoadError) as caught:
        load_class(parse_target(text), cell)
    return caught.value


FIRST = SCHEDULER + "    version = 1\n"
SECOND = SCHEDULER + "    version = 2\n"


def test_the_first_definition_counts_and_the_second_is_noted(tmp_path: Path) -> None:
    notebook(
        tmp_path / "n.ipynb",
        "md:# Title",
        "import math\n",
        FIRST,
        "Scheduler().stpe()",
        "md:STOP",
        SECOND,
    )
    loaded = load_class(parse_target("n.ipynb:Scheduler"))
    assert (loaded.cls.version, loaded.cell) == (1, 2)
    assert loaded.notes == (
        Note("note.defined_again", {"name": "Scheduler", "cell": "2", "other_cell": "4"}),
    )


def test_a_cell_can_be_named_and_failing_cells_are_notes(tmp_path: Path) -> None:
    notebook(tmp_path / "n.ipynb", FIRST, "\n1 / 0", "import sys\nsys.exit(3)", "x = (", SECOND)
    loaded = load_class(parse_target("n.ipynb"), cell=5)
    assert (loaded.cls.version, loaded.cell) == (2, 5)
    told = [(note.fields["cell"], note.fields["line"]) for note in loaded.notes]
    assert told == [("2", "2"), ("3", "2"), ("4", "1")]
    assert loaded.notes[0].fields["error"] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("cell", "message_id"),
    [(0, "target.no_cell"), (9, "target.no_cell"), (2, "target.not_in_cell")],
)
def test_a_cell_without_the_class_is_refused(tmp_path: Path, cell: int, message_id: str) -> None:
    notebook(tmp_path / "n.ipynb", FIRST, "x = 1")
    with pytest.raises(TargetError) as caught:
        load_class(parse_target("n.ipynb:Scheduler"), cell)
    assert caught.value.message_id == message_id


def test_a_cell_without_any_scheduler_is_refused(tmp_path: Path) -> None:
    notebook(tmp_path / "n.ipynb", FIRST, "x = 1")
    with pytest.raises(TargetError) as caught:
        load_class(parse_target("n.ipynb"), 2)
    assert caught.value.message_id == "target.nothing_in_cell"


def test_a_cell_of_a_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "s.py", SCHEDULER)
    with pytest.raises(TargetError) as caught:
        load_class(parse_target("s.py:Scheduler"), 1)
    assert caught.value.message_id == "target.cell_without_notebook"


@pytest.mark.parametrize("name", [":Scheduler", ""])
def test_the_solution_never_stands_in_for_a_cell_that_fails(tmp_path: Path, name: str) -> None:
    broken = SCHEDULER.replace("return request_id", "return request_id)")
    notebook(tmp_path / "n.ipynb", "x = 1", broken, SECOND)
    error = failed(f"n.ipynb{name}")
    assert error.kind == "syntax_error"
    assert error.place is not None
    assert (error.place.name, error.place.cell, error.place.line) == ("n.ipynb", 2, 3)
    assert error.place.message_id == "place.cell"


def test_a_class_that_exists_counts_though_its_cell_fails_later(tmp_path: Path) -> None:
    notebook(tmp_path / "n.ipynb", FIRST + "\nassert False, 'a test of mine'\n")
    loaded = load_class(parse_target("n.ipynb:Scheduler"))
    assert [note.message_id for note in loaded.notes] == ["note.cell_failed"]


def test_a_missing_class_of_a_notebook_is_told(tmp_path: Path) -> None:
    notebook(tmp_path / "n.ipynb", FIRST)
    assert refused("n.ipynb:Schedulr").fields["suggestion"] == "Scheduler"


def test_magics_are_left_out_and_noted(tmp_path: Path) -> None:
    notebook(
        tmp_path / "n.ipynb",
        "%matplotlib inline\n!pip install it's \\\n  more\nx = !ls\ny = 7\n"
        "y?\nif y:\n    %time z\n",
        "%%bash\nrm -rf nothing)\n",
        "%%time\na = (17\n % 10)\n",
        "display(a)\nget_ipython()\ntext = '''\n%not a magic\n'''\n" + SCHEDULER,
    )
    loaded = load_class(parse_target("n.ipynb:Scheduler"))
    module = sys.modules[loaded.cls.__module__]
    assert (module.y, module.a, module.text) == (7, 7, "\n%not a magic\n")
    assert [
        (note.message_id, note.fields["cell"], note.fields["count"]) for note in loaded.notes
    ] == [
        ("note.magic_skipped", "1", "5"),
        ("note.magic_skipped", "2", "1"),
        ("note.magic_skipped", "3", "1"),
    ]


def test_errors_and_sources_of_a_cell_bear_its_name(tmp_path: Path) -> None:
    source = SCHEDULER.replace("return None", "return 1 // 0")
    path = notebook(tmp_path / "n.ipynb", "x = 1", [*source.splitlines(keepends=True)])
    cls = load_class(parse_target("n.ipynb:Scheduler")).cls
    assert inspect.getsource(cls) == source.rstrip("\n") + "\n"
    with pytest.raises(ZeroDivisionError) as caught:
        cls().step()
    place = locate(caught.value)
    assert place is not None
    assert (place.path, place.cell, place.line, place.function) == (str(path), 2, 6, "step")
    assert place.fields == {"path": "n.ipynb", "cell": "2", "line": "6", "function": "step"}
    assert place.excerpt() == ["  5      def step(self):", "> 6          return 1 // 0", "  7"]


def test_future_imports_and_dataclasses_last_over_cells(tmp_path: Path) -> None:
    notebook(
        tmp_path / "n.ipynb",
        "from __future__ import annotations\nfrom dataclasses import dataclass",
        "@dataclass\nclass Request:\n    size: NotDefined = 0\n",
        SCHEDULER,
    )
    loaded = load_class(parse_target("n.ipynb:Scheduler"))
    assert dataclasses.is_dataclass(sys.modules[loaded.cls.__module__].Request)


def test_cells_run_in_the_folder_of_the_notebook(tmp_path: Path) -> None:
    write(tmp_path / "sub" / "helper_of_notebook.py", "")
    write(tmp_path / "sub" / "data.txt", "data")
    notebook(
        tmp_path / "sub" / "n.ipynb",
        "import helper_of_notebook\nfrom pathlib import Path\nPath('data.txt').read_text()",
        SCHEDULER,
    )
    told: list[str] = []
    loaded = load_class(parse_target("sub/n.ipynb:Scheduler"), before=told.append)
    assert loaded.notes == ()
    assert told == ["cell 1", "cell 2"]
    assert Path.cwd() == tmp_path


def test_format_3_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "input": SCHEDULER.splitlines(keepends=True)}]
    text = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]})
    (tmp_path / "n.ipynb").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load_class(parse_target("n.ipynb:Scheduler")).cell == 1


@pytest.mark.parametrize(
    ("content", "message_id", "place"),
    [
        (b'{"cells": [\n  {]}', "target.notebook_not_json", ("2", "4")),
        (b'{"cells":\n "\xff"}', "target.notebook_not_json", ("2", "3")),
        (b"[" * 200_000, "target.notebook_not_json", ("1", "1")),
        (b"[]", "target.notebook_no_cells", None),
        (b'{"cells": 3}', "target.notebook_no_cells", None),
        (b'{"cells": [{"cell_type": "markdown"}]}', "target.notebook_no_cells", None),
        (
            b'{"metadata": {"kernelspec": {"language": "R"}}, "cells": []}',
            "target.notebook_not_python",
            None,
        ),
    ],
)
def test_a_broken_notebook_is_named_with_the_place(
    tmp_path: Path, content: bytes, message_id: str, place: tuple[str, str] | None
) -> None:
    (tmp_path / "n.ipynb").write_bytes(content)
    error = refused("n.ipynb:Scheduler")
    assert error.message_id == message_id
    if place:
        assert (error.fields["line"], error.fields["column"]) == place


def test_an_exercise_in_a_notebook_is_seen_too(tmp_path: Path) -> None:
    notebook(
        tmp_path / "n.ipynb",
        "class Scheduler:\n    def enqueue(self):\n        # request = ???\n"
        "        return request\n    def step(self): ...\n",
    )
    cls = load_class(parse_target("n.ipynb:Scheduler")).cls
    assert open_todos(cls) == ["enqueue", "step"]
