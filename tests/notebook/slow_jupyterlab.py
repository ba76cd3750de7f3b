"""The card in a real JupyterLab in Chromium: in a notebook nobody trusts, and in a running one.

Not collected by name, because it starts a server and a browser; run it by its path:

    python -m pytest tests/notebook/slow_jupyterlab.py

It needs the extra `notebook` and a Chromium, which the variable CHROMIUM may name.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # of Jupyter's own packages

Execute = Callable[..., Any]
CARD = ".jp-RenderedHTML div[lang]"
CELLS = ("from schedproof import check", "check(DecodeSchedulerSim, policy='fixed_priority')")


@pytest.fixture
def notebooks(tmp_path: Path, execute: Execute, classes: dict[str, str]) -> Path:
    """A folder with an executed notebook that is not signed, and one that was never run."""
    formats = pytest.importorskip("nbformat")
    folder = tmp_path / "notebooks"
    folder.mkdir()
    notebook = execute(CELLS[0], classes["loses tokens"], CELLS[1])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    formats.write(notebook, folder / "untrusted.ipynb")
    for cell in notebook.cells:
        cell.outputs = []
    formats.write(notebook, folder / "live.ipynb")
    return folder


@pytest.fixture
def server(notebooks: Path) -> Iterator[str]:
    """The address of a JupyterLab that serves the folder."""
    pytest.importorskip("jupyterlab")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={notebooks}"]
    command.append("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate")
    command.append("--LabApp.news_url=None")
    log = (notebooks.parent / "server.log").open("wb")
    process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait_for(f"{address}/api/status", process)
        yield address
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "JupyterLab did not start; see server.log"
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=1):
            return
        time.sleep(0.1)
    raise AssertionError("JupyterLab did not answer within a minute")


class Watched:
    """A page, and every request that it made to somewhere else."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address
        self.foreign: list[str] = []
        page.on("request", self._note)

    def _note(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:", "ws:")):
            self.foreign.append(request.url)

    def open(self, name: str) -> None:
        """Open a notebook and wait until it is drawn."""
        self.page.goto(f"{self.address}/lab/tree/{name}?reset", wait_until="domcontentloaded")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)


@pytest.fixture
def lab(server: str) -> Iterator[Watched]:
    """A browser with a page of the server."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
    with playwright.sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 1400})
        yield Watched(page, server)
        browser.close()


def look_at(lab: Watched, picture: str) -> dict[str, Any]:
    """What can be seen of the one card on the page; it is also photographed."""
    card = lab.page.wait_for_selector(CARD, timeout=120_000)
    card.scroll_into_view_if_needed()
    fold = card.query_selector("details")
    before = fold.bounding_box()["height"]
    fold.query_selector("summary").click()
    after = fold.bounding_box()["height"]
    image = card.query_selector("img")
    lab.page.wait_for_function("image => image.complete", arg=image)
    card.screenshot(path=picture)
    heading = card.query_selector("h3")
    return {
        "text": card.inner_text(),
        "folded": after > before,
        "drawn": image.evaluate("image => image.naturalWidth > 0"),
        "colour": heading.evaluate("element => getComputedStyle(element).color"),
        "edge": card.evaluate("element => getComputedStyle(element).borderLeftWidth"),
        "bold": card.query_selector("h4").evaluate("e => getComputedStyle(e).fontWeight"),
        "faint": card.query_selector("th").evaluate("e => getComputedStyle(e).opacity"),
    }


def test_the_card_survives_in_a_notebook_that_nobody_trusts(lab: Watched, tmp_path: Path) -> None:
    lab.open("untrusted.ipynb")
    seen = look_at(lab, str(tmp_path / "untrusted.png"))
    lab.open("live.ipynb")
    lab.page.click("text=Run >> nth=0")
    lab.page.click("text=Run All Cells >> nth=0")
    live = look_at(lab, str(tmp_path / "live.png"))
    for each in (seen, live):
        assert "PROGRESS-2" in each["text"]
        assert "How to get there" in each["text"]
        assert "What next" in each["text"]
    same = ("folded", "drawn", "colour", "edge", "bold", "faint")
    assert {name: seen[name] for name in same} == {name: live[name] for name in same}
    assert (seen["folded"], seen["drawn"], seen["edge"]) == (True, True, "4px")
    assert seen["colour"] == "rgb(209, 52, 60)"
    assert lab.foreign == []
