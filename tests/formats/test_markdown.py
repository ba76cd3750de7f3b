"""Markdown that shows what it should, read by a parser of the same Markdown."""

from __future__ import annotations

from typing import Any

import pytest
from markdown_it import MarkdownIt
from tests.formats.conftest import SUBJECT, clean, troubled

from schedproof.formats import markdown
from schedproof.formats.markdown import to_markdown
from schedproof.telling.report import Summary


def tokens(text: str) -> list[Any]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def blocks(text: str, kind: str) -> list[str]:
    return [token.content for token in tokens(text) if token.type == "fence" and token.info == kind]


def cells(text: str) -> list[list[str]]:
    """The table of runs, row by row, as it is shown."""
    rows: list[list[str]] = []
    inside = False
    for token in tokens(text):
        if token.type == "tr_open":
            rows.append([])
        if token.type in ("th_open", "td_open"):
            inside = True
        elif token.type == "inline" and inside:
            shown = "".join(part.content for part in token.children)
            rows[-1].append(shown)
            inside = False
    return rows


def test_verdict_then_runs_then_stories(broken: Summary) -> None:
    text = to_markdown([broken], "en")
    assert text.startswith(f"## schedproof: `{SUBJECT}`\n\n**✗ violated")
    head, *rows = cells(text)
    assert head[:2] == ["policy", "verdict"]
    assert [row[0] for row in rows] == [run.policy for run in broken.runs]
    stories = blocks(text, "text")
    assert [story.split()[1] for story in stories] == ["PROGRESS-2", "PROGRESS-2", "LEDGER-1"]
    assert len(blocks(text, "mermaid")) == 3
    assert text.count("<details open>") == 1
    assert text.count("<details") == text.count("</details>") == 3
    assert "PROGRESS-2-7c1e" in stories[0]


def test_the_same_in_chinese(broken: Summary) -> None:
    text = to_markdown([broken], "zh")
    assert "**✗ 被破坏 · " in text
    assert "怎么一步步走到这里" in text


def test_a_clean_result_names_what_is_not_known() -> None:
    text = to_markdown([Summary(SUBJECT, (clean(),), 2.0)], "en")
    assert "<details" not in text
    assert "- not exercised, so nothing is known: WORK-1" in text


def test_words_of_others_stay_words() -> None:
    text = to_markdown([Summary("a`b:<img>", (troubled(),), 2.0)], "en")
    (story,) = blocks(text, "text")
    assert "<a> | & ``` " in story
    assert not any(token.type == "html_block" for token in tokens(text))
    inline = [part for token in tokens(text) for part in token.children or ()]
    assert not any(part.type == "html_inline" for part in inline)
    assert any(part.type == "code_inline" and part.content == "a`b:<img>" for part in inline)


def test_no_text_ends_its_block() -> None:
    text = "above\n```\n`````\nbelow"
    assert blocks("\n".join(markdown._fenced(text)), "text") == [text + "\n"]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_word_of_others_never_ends_its_line(end: str) -> None:
    assert markdown._escaped(f"above{end}below").split() == ["above", "below"]
    assert not set(markdown._escaped(f"above{end}below")) & set("\r\n")


def test_after_so_many_stories_the_rest_is_named(broken: Summary, monkeypatch: Any) -> None:
    monkeypatch.setattr(markdown, "STORIES_MAX", 1)
    text = to_markdown([broken], "en")
    assert text.count("<details") == 1
    assert "2 more violations:" in text
    assert "- fcfs: The pool has 3 blocks" in text
