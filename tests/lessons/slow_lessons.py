"""Every notebook of every lesson is run by a kernel, and prints what its page says.

Rules. These tests have a command of their own (`python3 dev.py docs-tests`). They need the
extra `docs`. Nothing that a cell raises is accepted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from docs import lesson_pages
from tests.docs.conftest import ROOT, name_of

from schedproof import learn
from schedproof.learn.lessons.exercises import LESSONS, Lesson

PAGES = lesson_pages.pages()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_notebook_runs_and_prints_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _own_jupyter(tmp_path, monkeypatch)
    notebook = _executed(lesson_pages.notebook_of(page), tmp_path)
    printed = [_printed(cell) for cell in notebook.cells if cell.cell_type == "code"]
    said = lesson_pages.outputs_of(page.read_text(encoding="utf-8"))
    assert printed == said, "renew it: python docs/lesson_pages.py"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: str(lesson.number))
def test_the_answer_of_every_exercise_is_right(lesson: Lesson, tmp_path: Path) -> None:
    file = tmp_path / "answer.py"
    file.write_text(lesson.answer, encoding="utf-8")
    result = learn.lesson(lesson.number, file)
    assert result, str(result)


def _own_jupyter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(folder / name.lower()))
    sources = [str(ROOT / part) for part in ("model", "invariants")]
    monkeypatch.setenv("PYTHONPATH", ":".join(sources))
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    monkeypatch.setenv("SCHEDPROOF_TIME", lesson_pages.SECONDS)
    monkeypatch.delenv("COLUMNS", raising=False)


def _executed(path: Path, folder: Path) -> Any:
    client, formats, manager, specs = (
        pytest.importorskip(name, reason="needs the extra: pip install '.[docs]'")
        for name in ("nbclient", "nbformat", "jupyter_client.manager", "jupyter_client.kernelspec")
    )
    pytest.importorskip("ipykernel")
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = specs.KernelSpec(argv=command, display_name="this", language="python")
    # A kernel that no kernel file has to be installed for.
    this = type(
        "ThisPython", (manager.AsyncKernelManager,), {"kernel_spec": property(lambda _self: spec)}
    )
    notebook = formats.read(path, as_version=4)
    settings = {"metadata": {"path": str(folder)}}
    client.NotebookClient(
        notebook, timeout=600, kernel_manager_class=this, resources=settings
    ).execute()
    return notebook


def _printed(cell: Any) -> str:
    text = "".join(out["text"] for out in cell.outputs if out.get("name") == "stdout")
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())
