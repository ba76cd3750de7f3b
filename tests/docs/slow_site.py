"""The site as a reader has it: built without a warning, opened from the disk in a real Chromium.

Rules. These tests have a command of their own (`python3 dev.py docs-tests`). Where the extra
`docs` or Chromium is missing they are skipped; with SCHEDPROOF_BROWSER=required they fail.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from docs.site import build
from docs.site.pages import LANGUAGES, all_pages, title_of

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FOREIGN = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=\"(?:https?:)?//")
SEARCHES = (
    ("en", "preemption", "model.html"),
    ("en", "lasso", "liveness.html"),
    ("zh", "抢占", "model.html"),
    ("zh", "账", "lessons/02-ledger.html"),
    ("zh", "最短反例", "lessons/02-ledger.html"),
    ("zh", "deadline", "glossary.html"),
    ("zh", "缺陷库里的一个", "cli.html"),
)


def missing(what: str) -> NoReturn:
    """Skip, or fail where all of it is required."""
    if os.environ.get("SCHEDPROOF_BROWSER") == "required":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both sites, built; a warning of Sphinx fails the tests."""
    for name in ("sphinx", "myst_parser", "furo", "sphinx_intl"):
        if importlib.util.find_spec(name) is None:
            missing("needs the extra: pip install '.[docs]' on Python 3.11 or newer")
    folder = tmp_path_factory.mktemp("site") / "docs"
    assert build.main([str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
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
        chromium = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A new page; whatever it asks for must be on the disk, and nothing in it may fail."""
    asked: list[str] = []
    failed: list[str] = []
    opened = browser.new_page()
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("pageerror", lambda error: failed.append(str(error)))
    yield opened
    opened.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert failed == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_page_is_there_and_asks_nobody(site: Path, lang: str) -> None:
    for name in all_pages():
        text = (site / lang / f"{name}.html").read_text(encoding="utf-8")
        assert title_of(name, lang).replace("`", "") in re.sub(r"<[^>]+>", "", text)
        assert not FOREIGN.search(text), name


@pytest.mark.parametrize(("lang", "query", "found"), SEARCHES)
def test_search_finds_without_a_network(
    site: Path, page: Any, lang: str, query: str, found: str
) -> None:
    page.goto(f"{(site / lang / 'search.html').as_uri()}?q={query}")
    page.wait_for_selector("#search-results ul.search li a")
    page.wait_for_timeout(800)
    links = [link.get_attribute("href") for link in page.locator("ul.search li a").all()]
    assert any(found in link for link in links), links


def test_search_says_when_there_is_nothing(site: Path, page: Any) -> None:
    page.goto(f"{(site / 'zh' / 'search.html').as_uri()}?q=量子引力")
    page.wait_for_function("document.querySelector('.search-summary')?.innerText.includes('没有')")
    assert page.locator("ul.search li").count() == 0


@pytest.mark.parametrize("name", ["model", "lessons/01-life"])
def test_a_page_leads_to_itself_in_the_other_language(site: Path, page: Any, name: str) -> None:
    page.goto((site / "zh" / f"{name}.html").as_uri())
    page.click(".language-switch a")
    assert page.url.endswith(f"/en/{name}.html")
    page.click(".language-switch a")
    assert page.url.endswith(f"/zh/{name}.html")
    assert page.evaluate("document.documentElement.lang") == "zh-CN"


def test_the_lifecycle_is_a_picture_that_is_drawn(site: Path, page: Any) -> None:
    page.goto((site / "en" / "model.html").as_uri())
    picture = page.locator("img[src$='lifecycle.svg']")
    assert picture.evaluate("image => image.complete && image.naturalWidth > 0")


def test_the_theme_speaks_chinese(site: Path) -> None:
    text = (site / "zh" / "model.html").read_text(encoding="utf-8")
    told = re.findall(r"(?:aria-label|title)=\"([^\"]+)\"", text)
    assert [word for word in told if word.isascii() and " " in word] == []
    assert not any(english in text for english in build.THEME_IN_CHINESE)
