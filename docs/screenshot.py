"""The picture in docs/report.md: the page of the README's example, as a browser shows it.

Usage: `python docs/screenshot.py`, with the extra `browser` installed and a Chromium in reach.
The scheduler is checked anew, so the picture shows what the page shows now. It is not compared
by a test: two browsers draw no two letters alike.
"""

from __future__ import annotations

import importlib
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import schedproof

ROOT = Path(__file__).resolve().parents[1]
PICTURES = {"en": ROOT / "docs" / "report.png", "zh": ROOT / "docs" / "report.zh.png"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TARGET = "examples/lost_progress.py:LostProgress"
SIZE = {"width": 1264, "height": 860}
MARGIN = 20
BYTES_MAX = 200_000


def main() -> int:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.stderr.write(f"No Chromium was found: install one of {', '.join(BROWSERS)}.\n")
        return 1
    try:
        playwright: Any = importlib.import_module("playwright.sync_api")
    except ImportError:
        sys.stderr.write("playwright is missing: install the extra `browser`.\n")
        return 1
    result = schedproof.check(str(ROOT / TARGET), policy="fixed_priority")
    result.summary = replace(result.summary, subject=TARGET)
    with tempfile.TemporaryDirectory() as folder, playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path)
        for lang, picture in PICTURES.items():
            page = result.to_html(Path(folder) / f"{lang}.html", lang)
            take(browser, page, picture)
        browser.close()
    return 0


def take(browser: Any, page: Path, picture: Path) -> None:
    """Take a picture of a page, from the story's head to the end of the player."""
    seen = browser.new_page(viewport=SIZE, color_scheme="light")
    seen.goto(page.as_uri())
    top, player = (seen.locator(part).bounding_box() for part in (".example", ".player"))
    height = player["y"] + player["height"] - top["y"] + 2 * MARGIN
    clip = {"x": 0, "y": top["y"] - MARGIN, "width": SIZE["width"], "height": height}
    seen.screenshot(path=picture, full_page=True, clip=clip)
    seen.close()
    bytes_now = picture.stat().st_size
    if bytes_now > BYTES_MAX:
        sys.stderr.write(f"{picture.name} has {bytes_now} bytes, more than {BYTES_MAX}.\n")


if __name__ == "__main__":
    sys.exit(main())
