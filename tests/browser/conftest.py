"""Pages of every kind, opened by double click, so to speak, in a real Chromium without a window.

Rules. These tests have a command of their own (`python3 dev.py browser-tests`); no test runner
collects them unless they are named. Where Playwright or Chromium is missing they are skipped
and say what is missing; with SCHEDPROOF_BROWSER=required, as in CI, they fail instead. What a
page logs, asks for or fails at is collected and must be nothing in every test.
"""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.telling.conftest import FOUND, clean_run, enqueue, trouble_run
from tests.telling.conftest import Make as MakeRun

from schedproof.api import check
from schedproof.claims.catalogue import BY_ID
from schedproof.claims.edge import Breach
from schedproof.page.document import page as page_of
from schedproof.search.replay import counterexample
from schedproof.search.results import RunResult
from schedproof.search.session import Violation
from schedproof.subjects.actions import STEP, Action
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config
from schedproof.telling.report import Summary
from schedproof.zoo.plain import PlainScheduler

__all__ = ["clean_run", "trouble_run"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
HOSTILE = "<img src=x onerror=alert(1)>"
LONG = (200, 20)
PAGED = "fault:known-before-it-is-computed"


def missing(what: str) -> NoReturn:
    """Skip, or fail where the browser is required."""
    told = f"{what}; see CONTRIBUTING.md on browser tests"
    if os.environ.get("SCHEDPROOF_BROWSER") == "required":
        pytest.fail(told)
    pytest.skip(told)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A running Chromium."""
    try:
        playwright = importlib.import_module("playwright.sync_api")
    except ImportError:
        missing("the Python package playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing(f"no Chromium was found (looked for {', '.join(NAMES)})")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=path)
        yield chromium
        chromium.close()


def long_run() -> RunResult:
    """A made-up violation at the end of a trace of many actions and requests."""
    actions, requests = LONG
    config = Config("aging", 8, 2)

    def start(config: Config) -> ChapterSubject:
        return ChapterSubject(from_class(PlainScheduler), config)

    taken: list[Action] = [
        enqueue(i, 1 + i % 3, max_new_tokens=8 + i % 5, priority=i % 7) for i in range(requests)
    ]
    taken += [STEP] * (actions - requests)
    values = {"bound": 1, "steps": 2, "request": 3, "generated": 0, "limit": 4}
    breach = Breach("LIVE-1", values, ((3, "generated_len"),))
    violation = Violation(BY_ID["LIVE-1"], breach, (), config, tuple(taken))
    example = counterexample(start, violation, "random")
    return run_of(example, "aging")


def run_of(example: Any, policy: str) -> RunResult:
    blank = RunResult.blank(policy, "random", {"requests": 20, "blocks": 8})
    fields = {"verdict": "violated", "counterexamples": (example,), "transitions": 9}
    return RunResult(**{**vars(blank), **fields})


def hostile_run() -> RunResult:
    """A violation whose requests are called by what would be an element of its own."""
    config = Config("fixed_priority", 3, 2)

    def start(config: Config) -> ChapterSubject:
        return ChapterSubject(from_class(PlainScheduler), config)

    taken = (enqueue(1, 2), enqueue(2, 1), STEP, STEP)
    values = {"request": HOSTILE}
    breach = Breach("LIFE-4.lost", values, ((1, "status"),))
    violation = Violation(BY_ID["LIFE-4"], breach, (), config, taken)
    example = counterexample(start, violation, "random")
    frames = tuple(
        type(frame)(
            frame.clock,
            frame.free,
            {HOSTILE + i: {**f, "status": HOSTILE} for i, f in frame.changed.items()},
            served=tuple(f"{HOSTILE}{i}" for i in frame.served),
        )
        for frame in example.frames
    )
    return run_of(type(example)(**{**vars(example), "frames": frames}), "fixed_priority")


@pytest.fixture(scope="session")
def runs(clean_run: MakeRun, trouble_run: MakeRun) -> dict[str, list[RunResult]]:
    """What each page tells, by the page's name."""
    made = {name: [make()] for name, make in FOUND.items()}
    return {
        **made,
        "several": [run for runs in made.values() for run in runs],
        "long": [long_run()],
        "hostile": [hostile_run()],
        "clean": [clean_run()],
        "trouble": [trouble_run()],
        "paged": list(check(PAGED, policy="fcfs", time="5m", no_save=True).runs),
    }


PAGES = (*FOUND, "several", "long", "hostile", "clean", "trouble", "paged")


@dataclass
class Opened:
    """An open page, and all that it complained of or asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list[str])

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.inner_text())

    @property
    def status(self) -> str:
        """The line that says where the trace is."""
        return self.text(".example:not([hidden]) .status")

    def rows(self) -> list[str]:
        """The lines of the table of requests."""
        rows = self.page.locator(".example:not([hidden]) .requests tbody tr")
        return [" ".join(str(row).split()) for row in rows.all_inner_texts()]


Open = Callable[..., Opened]


@pytest.fixture
def open_page(browser: Any, runs: dict[str, list[RunResult]], tmp_path: Path) -> Iterator[Open]:
    """Opens a page as a file; `more` are options of the browser's context."""
    opened: list[Opened] = []

    def open_it(name: str, width: int = 1280, lang: str = "en", **more: Any) -> Opened:
        path = tmp_path / f"{name}.{lang}.html"
        text = page_of(Summary(f"mine.py:{HOSTILE}", tuple(runs[name]), 1.5), lang)
        path.write_text(text, encoding="utf-8")
        anchor = more.pop("anchor", "")
        viewport = {"width": width, "height": 800}
        page = browser.new_context(viewport=viewport, **more).new_page()
        seen = Opened(page)
        opened.append(seen)
        page.on("console", lambda message: seen.complaints.append(message.text))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("dialog", lambda dialog: seen.complaints.append(dialog.message))
        page.on("request", lambda asked: _note(seen, asked.url, path))
        page.goto(path.as_uri() + anchor)
        return seen

    yield open_it
    complaints = [complaint for seen in opened for complaint in seen.complaints]
    for seen in opened:
        seen.page.context.close()
    assert complaints == []


def _note(seen: Opened, url: str, path: Path) -> None:
    if url.partition("#")[0] != path.as_uri() and not url.startswith("data:"):
        seen.complaints.append(f"asked for {url}")
