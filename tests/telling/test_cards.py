"""Cards of a notebook: nothing that an untrusted notebook takes out, and nothing left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from schedproof.api import CheckResult
from schedproof.notebook.blocks import Block, Code, Fold, Heading, Row, Steps, Table, Text
from schedproof.notebook.bundle import MOST_BYTES
from schedproof.notebook.card import check_card, mime_bundle, story_blocks
from schedproof.notebook.html import html
from schedproof.notebook.markdown import markdown
from schedproof.notebook.picture import AWAY, FINISHED, PREEMPTED, SERVED, WAITS, lanes_of
from schedproof.notebook.plain import plain_text
from schedproof.search.results import Counterexample, RunResult
from schedproof.telling.report import Summary
from schedproof.telling.steps import StepLine
from schedproof.telling.story import story_of
from schedproof.telling.text import BAD, story_text

Make = Callable[..., RunResult]
Get = Callable[[str], RunResult]

ALLOWED_TAGS = set("code details div h3 h4 img p pre span summary table td th tr".split())
ALLOWED_ATTRIBUTES = {"alt", "lang", "src", "style", "title"}
HOSTILE = '<script>alert(1)</script> & "x" `<b>` |*_#'


class Reader(HTMLParser):
    """Collects what is in a piece of HTML, and sees that every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def summary(*runs: RunResult) -> Summary:
    return Summary("Mine", runs, 2.5)


def letters(text: str) -> str:
    """The letters, numbers and signs of a text, without layout and without escapes."""
    return re.sub(r"[\s\\`|*#-]+", "", text)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["progress-2", "ledger-1", "victim-2-aging"])
def test_a_card_is_made_of_what_no_notebook_takes_out(found: Get, name: str, language: str) -> None:
    card = Reader(html(check_card(summary(found(name)), language), language))
    assert card.tags <= ALLOWED_TAGS
    assert {attribute for attribute, _ in card.attributes} <= ALLOWED_ATTRIBUTES
    sources = [value for attribute, value in card.attributes if attribute == "src"]
    assert len(sources) == 1
    assert sources[0].startswith("data:image/svg+xml;base64,")
    styles = " ".join(value for attribute, value in card.attributes if attribute == "style")
    assert "url" not in styles
    assert "var(" not in styles


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["progress-2", "ledger-1", "ledger-2", "victim-2-aging"])
def test_every_part_of_a_story_is_in_every_form(found: Get, name: str, language: str) -> None:
    run = found(name)
    story = replace(
        story_of(run.counterexamples[0], language, run),
        steps_end="and again",
        follows=("what follows",),
        matters="what matters",
        irrelevant="what does not",
        where=("line one", "line two"),
        again=("again this",),
    )
    blocks = story_blocks(story, run.counterexamples[0])
    forms = (plain_text(blocks), markdown(blocks), Reader(html(blocks, language)).text)
    told = re.split(r"\s{2,}|\n", story_text(story, 10_000))
    for form in map(letters, forms):
        assert [part for part in told if part and letters(part) not in form] == []


def test_a_card_begins_with_the_verdict_and_ends_with_what_next(found: Get) -> None:
    run = found("progress-2")
    blocks = check_card(summary(run), "en")
    headings = [
        block.text if isinstance(block, Heading) else block.summary
        for block in blocks
        if isinstance(block, (Heading, Fold))
    ]
    assert headings[0].startswith("✗ violated")
    assert "claims were exercised, broken: PROGRESS-" in headings[1]
    assert headings[2].startswith(f"✗ {run.counterexamples[0].claim}  ")
    assert headings[-1] == "What next"
    assert isinstance(blocks[1], Fold)


def test_a_clean_card_is_short_and_asks_for_nothing(clean_run: Make) -> None:
    text = plain_text(check_card(summary(clean_run()), "en"))
    assert text.startswith("✓ no violation found")
    assert "What next" not in text


def test_trouble_is_told_with_its_lines_and_its_actions(trouble_run: Make) -> None:
    blocks = check_card(summary(trouble_run()), "en")
    assert Code(("  1  def step(self):", "> 2      return self.x")) in blocks
    assert any(isinstance(block, Steps) and len(block.lines) == 2 for block in blocks)
    assert "Traceback" not in markdown(blocks)


def test_an_open_exercise_is_sent_to_the_check_of_the_exercise(trouble_run: Make) -> None:
    run = trouble_run()
    assert run.trouble is not None
    run = replace(run, trouble=replace(run.trouble, kind="open_todo"))
    assert "schedproof.learn.check" in plain_text(check_card(summary(run), "en"))


def test_further_violations_are_folded_and_told(found: Get) -> None:
    runs = summary(found("progress-2"), found("ledger-1"), found("victim-2"))
    folds = [b for b in check_card(runs, "en", 2) if isinstance(b, Fold)][1:]
    assert ["LEDGER-1" in fold.summary for fold in folds] == [True, False]
    assert "1 more violation" in plain_text(check_card(runs, "en", 1))


def test_the_bundle_stays_below_its_limit(found: Get) -> None:
    run = found("victim-2-aging")
    example = run.counterexamples[0]
    others = (_with_first_priority(example, number) for number in range(15))
    many = replace(run, counterexamples=(example, *others))
    bundle = mime_bundle(summary(many), "zh")
    assert set(bundle) == {"text/plain", "text/markdown", "text/html"}
    assert sum(len(text.encode()) for text in bundle.values()) < MOST_BYTES
    assert "print(result)" in bundle["text/plain"]
    assert "print(result)" in bundle["text/html"]
    long = replace(run, counterexamples=(_very_long(run.counterexamples[0]),))
    bundle = mime_bundle(summary(long), "en")
    assert sum(len(text.encode()) for text in bundle.values()) < MOST_BYTES
    assert "too long" in bundle["text/html"]


def _with_first_priority(example: Counterexample, priority: int) -> Counterexample:
    first = {**example.actions[0], "args": {**example.actions[0]["args"], "priority": priority}}
    return replace(example, actions=(first, *example.actions[1:]))


def _very_long(example: Counterexample) -> Counterexample:
    return replace(example, actions=example.actions * 900, trail=example.trail * 900)


def test_a_result_shows_itself_as_a_card(found: Get) -> None:
    result = CheckResult(summary(found("progress-2")), "en")
    shown = result._repr_mimebundle_(include=None, exclude=None)
    assert not result
    assert shown["text/plain"] == str(result) == repr(result)
    assert "PROGRESS-2" in shown["text/html"]


def test_a_schedulers_words_are_never_markup() -> None:
    blocks: list[Block] = [
        Heading(HOSTILE, BAD, aside=HOSTILE),
        Text(HOSTILE),
        Code((HOSTILE, "```", "````")),
        Table((Row((HOSTILE, "x")),), (HOSTILE, "y")),
        Steps((StepLine(1, HOSTILE, HOSTILE, "free 3"),)),
        Fold(HOSTILE, (Text(HOSTILE),)),
    ]
    read = Reader(html(blocks, "en"))
    assert read.tags <= ALLOWED_TAGS
    assert "script" not in read.tags
    written = markdown(blocks)
    outside = re.sub(r"(?s)(`{5,})text\n.*?\1", "", written)
    assert outside != written
    plain = outside.replace("`<b>`", "")
    assert re.findall(r"(?<!\\)[<>]", plain) == []
    rows = [line for line in plain.split("\n") if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3, 6}


def test_a_picture_shows_how_each_request_stands(found: Get) -> None:
    lanes = lanes_of(found("progress-2").counterexamples[0])
    assert lanes == {
        1: {0: WAITS, 1: SERVED, 2: SERVED, 3: 1, 4: PREEMPTED},
        2: {3: WAITS, 4: SERVED},
    }
    assert AWAY not in lanes[1].values()
    aged = lanes_of(found("victim-2-aging").counterexamples[0])
    assert FINISHED not in aged[1].values()


def test_a_wide_table_goes_on_below_in_plain_text() -> None:
    blocks: list[Block] = [Table((Row(("a", "b", "word " * 30)),))]
    lines = plain_text(blocks, 60).split("\n")
    assert len(lines) > 2
    assert max(map(len, lines)) <= 60
