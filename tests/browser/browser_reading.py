"""Reading the page: languages, colours, widths, paper, no script, contrast, names of controls."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.browser.conftest import PAGES, Open

WIDTHS = (360, 768, 1280)
CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_sticks_out(open_page: Open, name: str, width: int) -> None:
    seen = open_page(name, width)
    for _ in range(2):
        wide = seen.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, seen.page.evaluate("document.documentElement.lang")
        seen.page.keyboard.press("l")


def test_language_changes_everything_that_is_read(open_page: Open) -> None:
    seen = open_page("progress-2")
    seen.page.get_by_text("中文").click()
    assert "第 5 个动作（共 5 个）破坏了 PROGRESS-2" in seen.status
    assert seen.page.evaluate("document.documentElement.lang") == "zh-Hans"
    assert seen.page.locator("[lang=en]:not(label):visible").count() == 0
    assert seen.text(".lead h2") == "被抢占的请求必须保留已生成的 token"
    assert "请求" in seen.text(".requests-part h3")
    assert seen.page.get_by_role("button", name="后退一个动作").is_visible()
    seen.page.keyboard.press("l")
    assert "PROGRESS-2 is broken" in seen.status
    assert seen.page.locator("[lang=zh-Hans]:not(label):visible").count() == 0


def test_language_and_colours_are_remembered(open_page: Open) -> None:
    seen = open_page("ledger-1")
    seen.page.keyboard.press("l")
    seen.page.locator("label[for=theme-dark]").click()
    seen.page.reload()
    assert "破坏了 LEDGER-1" in seen.status
    assert seen.page.locator("#theme-dark").is_checked()
    assert _is_dark(seen.page)


def test_page_opens_in_its_language(open_page: Open) -> None:
    assert "破坏了 LEDGER-1" in open_page("ledger-1", lang="zh").status


def _is_dark(page: object) -> bool:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")  # type: ignore[attr-defined]
    return max(int(part) for part in colour[4:-1].split(",")) < 60


def test_colours_follow_the_system_until_somebody_chooses(open_page: Open) -> None:
    dark = open_page("clean", color_scheme="dark")
    assert _is_dark(dark.page)
    dark.page.locator("label[for=theme-light]").click()
    assert not _is_dark(dark.page)
    light = open_page("clean", color_scheme="light")
    assert not _is_dark(light.page)
    light.page.locator("label[for=theme-dark]").click()
    assert _is_dark(light.page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["progress-2", "ledger-1", "victim-2-aging", "clean", "trouble"])
def test_text_stands_out_from_its_ground(open_page: Open, name: str, scheme: str) -> None:
    seen = open_page(name, color_scheme=scheme)
    assert seen.page.evaluate(CONTRAST) == []


def test_without_a_script_everything_can_be_read(open_page: Open) -> None:
    seen = open_page("progress-2", java_script_enabled=False)
    page = seen.page
    assert page.locator(".player").is_hidden()
    assert page.locator(".states table").is_visible()
    assert page.locator(".states tr.action").count() == 6
    assert page.locator(".steps li").count() == 5
    assert "✗ 0/3" in page.locator(".states .guilty").inner_text()
    page.locator("label[for=lang-zh]").click()
    assert page.locator(".lead h2").inner_text() == "被抢占的请求必须保留已生成的 token"
    page.locator("label[for=theme-dark]").click()
    assert page.locator("body").is_visible()


def test_several_violations_are_all_there_without_a_script(open_page: Open) -> None:
    seen = open_page("several", java_script_enabled=False)
    assert seen.page.locator(".example:visible").count() == 5


def test_paper_shows_every_state_and_no_buttons(open_page: Open) -> None:
    seen = open_page("progress-2", width=720, color_scheme="dark")
    seen.page.emulate_media(media="print")
    assert seen.page.locator(".states tr.action:visible").count() == 6
    assert seen.page.locator("button:visible").count() == 0
    assert seen.page.locator(".lanes:visible").count() == 2
    assert not _is_dark(seen.page)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 720
    assert seen.page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_controls_have_names_and_can_be_reached_by_keyboard(open_page: Open, lang: str) -> None:
    seen = open_page("several", lang=lang)
    unnamed = seen.page.evaluate(
        """() => [...document.querySelectorAll("button, input, a")]
          .filter((node) => node.checkVisibility())
          .filter((node) => !(node.ariaLabel || node.textContent.trim() || node.labels?.length))
          .map((node) => node.outerHTML)"""
    )
    assert unnamed == []
    reached = set()
    for _ in range(60):
        seen.page.keyboard.press("Tab")
        if seen.page.evaluate("document.activeElement === document.body"):
            break
        reached.add(seen.page.evaluate("document.activeElement.className"))
        outline = seen.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        inner = "document.activeElement.matches('input[type=radio]')"
        assert outline != "none" or seen.page.evaluate(inner)
    assert {"first", "back", "violation"} <= reached


def test_nothing_moves_for_those_who_asked_for_rest(open_page: Open) -> None:
    seen = open_page("ledger-1", reduced_motion="reduce")
    duration = "getComputedStyle(document.querySelector('.transport button')).transitionDuration"
    assert seen.page.evaluate(duration) == "0s"
    assert seen.page.evaluate("document.getAnimations().length") == 0


def test_signs_stand_beside_colours(open_page: Open) -> None:
    """What is red has a cross, and each status has a sign of its own."""
    seen = open_page("victim-2-aging")
    red = seen.page.locator(".badge.bad:visible, .requests .guilty, .status").all_inner_texts()
    assert all("✗" in text for text in red)
    statuses = seen.page.locator(".requests tbody td:nth-child(2)").all_inner_texts()
    assert all(text.split()[-2] in "○◔◑▶◆■" for text in statuses)
