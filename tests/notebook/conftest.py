"""Notebooks that are really run, by a kernel of this Python; they need the extra `notebook`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schedproof.learn.writing import ALL, skeleton

Execute = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
VICTIM = '                victim.status = "preempted"\n'


@pytest.fixture(autouse=True)
def _own_jupyter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jupyter away from anybody's files, this checkout for the kernel, and English."""
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    sources = [str(ROOT / folder) for folder in ("model", "invariants")]
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*sources, *filter(None, [before])]))
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    monkeypatch.setenv("SCHEDPROOF_LANG", "en")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def classes() -> dict[str, str]:
    """Cells that define the class: still open, right, one that loses tokens, one that crashes."""
    right = skeleton("en", solved=ALL)
    lost = f"{VICTIM}                victim.generated_len = 0\n"
    return {
        "open": skeleton("en"),
        "right": right,
        "loses tokens": right.replace(VICTIM, lost),
        "crashes": right.replace("victim.preemptions += 1", "victim.preemtions += 1"),
    }


@pytest.fixture
def execute() -> Execute:
    """Runs cells in a kernel of this very Python; the notebook with its outputs."""
    client, formats, manager, specs = (
        _needed(name)
        for name in (
            "nbclient",
            "nbformat.v4",
            "jupyter_client.manager",
            "jupyter_client.kernelspec",
        )
    )
    _needed("ipykernel")
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = specs.KernelSpec(argv=command, display_name="this", language="python")
    # A kernel that no kernel file has to be installed for.
    this = type(
        "ThisPython", (manager.AsyncKernelManager,), {"kernel_spec": property(lambda _self: spec)}
    )

    def run(*cells: str) -> Any:
        notebook = formats.new_notebook(cells=[formats.new_code_cell(cell) for cell in cells])
        client.NotebookClient(notebook, timeout=300, kernel_manager_class=this).execute()
        return notebook

    return run


def _needed(name: str) -> Any:
    return pytest.importorskip(name, reason="needs the extra: pip install '.[notebook]'")
