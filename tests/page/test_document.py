"""The page as a document: whole without a script, closed to the outside, safe, and small."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from tests.page.conftest import Read, Reader
from tests.telling.conftest import FOUND, LosesProgress, Make, enqueue, found_in

import schedproof.page
from schedproof.page.document import EXAMPLES_MAX, SCRIPTS
from schedproof.page.words import WORDS
from schedproof.search.results import RunResult
from schedproof.subjects.actions import STEP
from schedproof.telling.language import LANGUAGES
from schedproof.telling.story import story_of

Found = Callable[[str], RunResult]
ASSETS = Path(schedproof.page.__file__).parent / "assets"
BYTES_MAX = 150_000
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&"


@pytest.mark.parametrize("name", FOUND)
def test_page_is_well_formed_and_small(name: str, found: Found, read: Read) -> None:
    seen = read(found(name))
    assert seen.open == []
    assert len(seen.source.encode()) < BYTES_MAX


def test_ten_actions_stay_small(read: Read) -> None:
    first, second = enqueue(1, 2, max_new_tokens=5, priority=1), enqueue(3, max_new_tokens=4)
    last = enqueue(2, 2, max_new_tokens=1, priority=9)
    run = found_in(LosesProgress, [first, STEP, STEP, second, *[STEP] * 4, last, STEP], "aging")
    seen = read(run)
    assert len(seen.data["examples"][0]["scenes"]) == 11
    assert len(seen.source.encode()) < BYTES_MAX


@pytest.mark.parametrize("name", FOUND)
def test_the_whole_story_can_be_read_in_both_languages_without_a_script(
    name: str, found: Found, read: Read
) -> None:
    run = found(name)
    text = read(run).text
    for language in LANGUAGES:
        story = story_of(run.counterexamples[0], language, run)
        parts = [story.claim, story.title, story.broken, *story.wrong, *story.follows]
        parts += [story.why, story.rule, story.matters, story.irrelevant, *story.where]
        parts += [part for line in story.steps for part in (line.verb, line.what, line.free)]
        parts += [part for line in story.books for part in (line.label, line.text, line.note)]
        rows = story.differences.rows if story.differences else ()
        parts += [part for row in rows for part in (row.what, row.before, row.after, row.note)]
        assert [part for part in parts if " ".join(part.split()) not in text] == []


def test_every_state_on_the_way_stands_in_the_page(found: Found, read: Read) -> None:
    text = read(found("progress-2")).text
    assert "free 3 + held 0 = 3" in text
    assert "free 1 + held 2 (r1) = 3" in text
    assert "1/3 ✗ 0/3" in text


def test_missing_blocks_are_told_in_the_states(found: Found, read: Read) -> None:
    assert "free 0 + held 2 (r2) = 2 ✗ 1 block is missing" in read(found("ledger-1")).text


def test_nothing_is_loaded_from_anywhere(found: Found, read: Read) -> None:
    seen = read(found("progress-2"))
    links = [part.get(name) for _, part in seen.tags for name in ("src", "href", "action")]
    assert {link for link in links if link and not link.startswith("#")} == {"data:,"}
    assert "url(" not in seen.source.replace("url(#", "")
    assert "@import" not in seen.source
    assert not any(name == "style" for _, part in seen.tags for name in part)
    assert not any(name.startswith("on") for _, part in seen.tags for name in part)


def test_policy_allows_the_styles_and_scripts_of_the_page_only(found: Found, read: Read) -> None:
    seen = read(found("progress-2"))
    (policy,) = [p["content"] for p in seen.of("meta") if "http-equiv" in p]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    inline = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", seen.source, re.S)
    digests = {base64.b64encode(sha256(t.encode()).digest()).decode() for t in inline}
    assert set(re.findall(r"sha256-([^']+)", policy)) == digests
    assert len(digests) == 4


def test_what_users_wrote_is_text(found: Found, read: Read) -> None:
    run = found("progress-2")
    own = {"PROGRESS-2": {"title": HOSTILE, "why": HOSTILE, "rule": HOSTILE}}
    seen = read(replace(run, own_claims=own, policy=HOSTILE), subject=HOSTILE)
    assert "<img" not in seen.source
    assert seen.text.count(HOSTILE) >= 2 * 3
    assert len(seen.of("script")) == 3


def test_trouble_is_told_with_its_place_and_what_to_do(trouble_run: Make, read: Read) -> None:
    seen = read(trouble_run(), trouble_run(policy="deadline"))
    assert "aging, deadline: the scheduler could not be judged" in seen.text
    assert "step raised KeyError: 'x'" in seen.text
    assert "return self.x" in seen.text
    assert seen.text.count("What to do") == 1
    assert seen.open == []


def test_trace_that_was_taken_again_tells_of_no_search(found: Found, read: Read) -> None:
    run = found("ledger-1")
    blank = RunResult.blank(run.policy, run.search, run.bounds)
    again = replace(blank, verdict="violated", counterexamples=run.counterexamples)
    assert "What was checked" in read(run).text
    assert "What was checked" not in read(again).text
    assert "✗ LEDGER-1" in read(again).text


def test_clean_result_tells_what_was_exercised(clean_run: Make, read: Read) -> None:
    seen = read(clean_run())
    assert "✓ no violation found" in seen.text
    assert "1 claim was exercised, none is broken." in seen.text
    assert "up to 3 requests, 3 blocks, priorities -1 to 3" in seen.text
    assert "LEDGER-1 Free blocks + held blocks = capacity" in seen.text
    assert [p for p in seen.of("details") if "open" in p]
    assert seen.data["examples"] == []


def test_claim_that_was_exercised_under_one_policy_is_told_by_that(
    clean_run: Make, read: Read
) -> None:
    silent = replace(clean_run().claims[0], verdict="not_exercised", exercised=0)
    seen = read(clean_run(), clean_run(policy="fcfs", claims=(silent,)))
    assert "not exercised under fcfs: LEDGER-1" in seen.text
    row = seen.text.partition("LEDGER-1 Free blocks")[2]
    assert row.index("✓ no violation found") < row.index("60")


def test_several_violations_can_be_chosen(found: Found, read: Read) -> None:
    seen = read(found("progress-2"), found("ledger-1"))
    links = [part.get("href") for part in seen.of("a")]
    assert links == ["#example-1", "#example-2"]
    assert {"example-1", "example-2"} <= {part.get("id") for part in seen.of("article")}
    assert [e["claim"] for e in seen.data["examples"]] == ["PROGRESS-2", "LEDGER-1"]


def test_same_actions_under_several_policies_are_told_once(found: Found, read: Read) -> None:
    run = found("ledger-1")
    (example,) = run.counterexamples
    other = replace(run, policy="aging", counterexamples=(replace(example, policy="aging"),))
    seen = read(run, other)
    assert len(seen.data["examples"]) == 1
    assert "The same actions" in seen.text
    assert "aging" in seen.text


def test_what_is_left_out_is_counted(found: Found, read: Read) -> None:
    run = found("ledger-1")
    (example,) = run.counterexamples
    claims = [f"MINE-{number}" for number in range(EXAMPLES_MAX + 2)]
    many = tuple(replace(example, claim=claim) for claim in claims)
    seen = read(replace(run, counterexamples=many))
    assert len(seen.data["examples"]) == EXAMPLES_MAX
    assert "2 more violations are not shown here" in seen.text


def test_same_result_makes_the_same_page(found: Found, read: Read) -> None:
    assert read(found("ledger-1")).source == read(found("ledger-1")).source


def test_page_opens_in_the_language_that_was_asked_for(found: Found, read: Read) -> None:
    def chosen(seen: Reader) -> list[str | None]:
        boxes = [p for p in seen.of("input") if p.get("name") == "lang"]
        return [p["value"] for p in boxes if "checked" in p]

    english, chinese = read(found("ledger-1")), read(found("ledger-1"), lang="zh")
    assert (chosen(english), chosen(chinese)) == (["en"], ["zh"])
    assert english.of("html") == [{"lang": "en"}]
    assert chinese.of("html") == [{"lang": "zh-Hans"}]


def test_script_says_the_words_that_it_is_given() -> None:
    source = "\n".join((ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)
    written = set(re.findall(r'"((?:web|ledger|list|arg|blocks)\.[\w.]+)"', source))
    holes = {re.escape(start) for start in re.findall(r"`(web\.[\w.]*)\$\{", source)}
    assert written <= set(WORDS)
    unused = set(WORDS) - written
    assert {word for word in unused if not re.match("|".join(holes), word)} == set()
