"""Going through a trace: buttons, keys, the list of steps, the timeline, several violations."""

from __future__ import annotations

import pytest
from tests.browser.conftest import LONG, PAGES, Open

MILLISECONDS_MAX = 50


@pytest.mark.parametrize("name", PAGES)
def test_page_opens_without_complaint(open_page: Open, name: str) -> None:
    seen = open_page(name)
    seen.page.wait_for_function("document.readyState === 'complete'")
    assert seen.page.locator("main").is_visible()


def test_page_opens_where_the_claim_broke(open_page: Open) -> None:
    seen = open_page("progress-2")
    assert seen.status.startswith("✗ PROGRESS-2 is broken by action 5 of 5")
    guilty = seen.page.locator(".requests .guilty")
    assert guilty.count() == 1
    assert "✗ 0/3" in guilty.inner_text()
    assert guilty.locator("del").inner_text() == "1/3"


def test_buttons_go_through_the_trace(open_page: Open) -> None:
    seen = open_page("progress-2")
    seen.page.get_by_role("button", name="One action back").click()
    assert seen.status.startswith("✓ PROGRESS-2 still holds after action 4 of 5")
    assert seen.rows() == [
        "r1 prompt 1 ▶ running decode 1/3 1 0 2/2 0",
        "r2 prompt 1 ○ waiting prefill 0/1 9 0 0/2 0",
    ]
    seen.page.get_by_role("button", name="To the start").click()
    assert seen.status.startswith("○ Before the first action")
    assert seen.text(".requests-part").startswith("Requests")
    assert seen.page.get_by_role("button", name="One action back").is_disabled()
    seen.page.get_by_role("button", name="One action on").click()
    assert seen.rows() == ["r1 prompt 1 ○ waiting prefill 0/3 1 0 0/2 0"]
    seen.page.get_by_role("button", name="To the violation").click()
    assert seen.status.startswith("✗ PROGRESS-2 is broken")


def test_keys_go_through_the_trace(open_page: Open) -> None:
    seen = open_page("progress-2")
    for key, action in (
        ("ArrowLeft", 4),
        ("k", 3),
        ("Home", 0),
        ("ArrowLeft", 0),
        ("ArrowRight", 1),
        ("j", 2),
        ("End", 5),
        ("j", 5),
        ("Home", 0),
        ("v", 5),
    ):
        seen.page.keyboard.press(key)
        wanted = f"action {action} of 5" if action else "Before the first action"
        assert wanted in seen.status, key


def test_keys_with_control_belong_to_the_browser(open_page: Open) -> None:
    seen = open_page("progress-2")
    seen.page.keyboard.press("Control+k")
    assert "action 5 of 5" in seen.status


def test_space_plays_from_the_start_and_stops_at_the_end(open_page: Open) -> None:
    seen = open_page("ledger-1")
    seen.page.clock.install()
    seen.page.keyboard.press(" ")
    assert "Before the first action" in seen.status
    assert seen.page.get_by_role("button", name="Pause").is_visible()
    seen.page.clock.run_for(2500)
    assert "action 2 of 4" in seen.status
    seen.page.clock.run_for(9000)
    assert "action 4 of 4" in seen.status
    assert seen.page.get_by_role("button", name="Play").is_visible()


def test_step_list_leads_to_a_step_and_shows_where_it_is(open_page: Open) -> None:
    seen = open_page("progress-2")
    steps = seen.page.locator(".steps button")
    assert steps.count() == 5
    steps.nth(1).click()
    assert "action 2 of 5" in seen.status
    assert steps.nth(1).get_attribute("aria-current") == "step"
    assert seen.page.locator(".steps [aria-current]").count() == 1


def test_timeline_leads_to_a_step(open_page: Open) -> None:
    seen = open_page("progress-2")
    box = seen.page.locator(".scroll .lanes").bounding_box()
    seen.page.mouse.click(box["x"] + 1.5 * box["width"] / 5, box["y"] + 40)
    assert "action 2 of 5" in seen.status


def test_slider_leads_to_a_step(open_page: Open) -> None:
    seen = open_page("progress-2")
    seen.page.locator(".strip input").focus()
    seen.page.keyboard.press("ArrowLeft")
    assert "action 4 of 5" in seen.status


def test_edge_just_taken_is_thick_and_told_in_words(open_page: Open) -> None:
    seen = open_page("progress-2")
    assert seen.page.locator(".lifecycle .taken[d]").count() >= 2
    assert "r1: decode → preempted" in seen.text(".moves")
    assert "r2: waiting → admitted → prefill → decode" in seen.text(".moves")
    seen.page.keyboard.press("ArrowLeft")
    assert "r2: waiting" in seen.text(".moves")


def test_missing_blocks_stand_in_the_ledger(open_page: Open) -> None:
    seen = open_page("ledger-1")
    assert seen.page.locator(".ledger .missing").count() == 1
    assert "✗ free 0 + held 2 (r2) = 2: 1 block is missing" in seen.text(".ledger-part .sum")
    seen.page.keyboard.press("ArrowLeft")
    assert seen.page.locator(".ledger .missing").count() == 0
    assert seen.text(".ledger-part .sum") == "✓ free 0 + held 3 (r1) = 3"


def test_blocks_by_number_show_who_holds_them_and_the_wrong_place(open_page: Open) -> None:
    seen = open_page("paged")
    blocks = seen.page.locator(".example:not([hidden]) .blocks li")
    seen.page.keyboard.press("ArrowLeft")
    assert [" ".join(t.split()) for t in blocks.all_inner_texts()] == ["0 r2", "1 r2 ✗ place 1"]
    assert seen.page.locator(".places .wrong").count() == 1
    assert seen.page.locator(".ledger-part .sum").last.inner_text() == "in flight (r2 2–3)"
    seen.page.keyboard.press("Home")
    assert [text.strip() for text in blocks.all_inner_texts()] == ["0 free", "1 free"]
    assert seen.page.locator(".places .wrong").count() == 0


def test_another_violation_can_be_chosen(open_page: Open) -> None:
    seen = open_page("several")
    assert seen.page.locator(".example:visible").count() == 1
    seen.page.locator(".choices a").nth(1).click()
    assert seen.status.startswith("✗ LEDGER-1 is broken by action 4 of 4")
    assert seen.page.locator(".example:visible").count() == 1
    assert seen.page.locator(".choices [aria-current]").inner_text().startswith("✗ LEDGER-1")
    seen.page.go_back()
    assert seen.status.startswith("✗ PROGRESS-2")


def test_link_opens_its_violation(open_page: Open) -> None:
    assert open_page("several", anchor="#example-3").status.startswith("✗ LEDGER-2")


def test_what_users_wrote_stays_text(open_page: Open) -> None:
    seen = open_page("hostile")
    for _ in range(4):
        seen.page.keyboard.press("ArrowLeft")
    seen.page.keyboard.press("End")
    assert seen.page.locator("img").count() == 0
    assert "'<img src=x onerror=alert(1)>1'" in seen.rows()[0]


def test_long_trace_stays_smooth(open_page: Open) -> None:
    """Script, style and layout of a step, in time of the processor: machines may be busy."""
    actions, requests = LONG
    seen = open_page("long")
    assert f"({actions} actions)" in seen.status
    assert len(seen.rows()) == requests
    developer = seen.page.context.new_cdp_session(seen.page)
    developer.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds() -> float:
        metrics = developer.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

    begun = seconds()
    seen.page.evaluate(
        """() => {
          for (let place = 0; place < 60; place += 1) {
            const key = place < 40 ? "ArrowLeft" : "ArrowRight";
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            document.body.getBoundingClientRect();
          }
        }"""
    )
    assert f"Action {actions - 20} of {actions}" in seen.status
    assert 0 < 1000 * (seconds() - begun) / 60 < MILLISECONDS_MAX
