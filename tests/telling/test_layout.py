"""Widths, wrapping and tables, with Chinese and English in one line."""

from __future__ import annotations

import pytest

from schedproof.telling.layout import on_both_sides, pad, table, width_of, wrap


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("abc", 3),
        ("空闲", 4),
        ("（r1）", 6),
        ("e\u0301", 1),
        ("✗ −", 3),
        ("3 个 block", 10),
    ],
)
def test_a_width_is_a_number_of_terminal_cells(text: str, width: int) -> None:
    assert width_of(text) == width


def test_padding_counts_cells() -> None:
    assert pad("空闲", 6) == "空闲  "
    assert pad("空闲", 6, right=True) == "  空闲"
    assert pad("too long", 3) == "too long"


def test_chinese_is_broken_between_characters_and_english_between_words() -> None:
    assert wrap("空闲块数", 4) == ["空闲", "块数"]
    assert wrap("free blocks", 6) == ["free", "blocks"]


def test_no_line_begins_with_a_mark_that_closes_or_ends_with_one_that_opens() -> None:
    for width in range(6, 30):
        lines = wrap("总共（3 个）块，空闲的，应在 0 到 3 之间（含）。", width)
        assert not any(line[0] in "）。，" for line in lines), lines
        assert not any(line[-1] == "（" for line in lines), lines


def test_a_number_stays_with_what_it_counts() -> None:
    for width in range(12, 40):
        lines = wrap("占用的一共是 1,234 个，在第 5 个动作之后", width)
        assert not any(line.endswith(("1,234", "5", "第")) for line in lines), lines


def test_the_first_line_may_have_an_indent_of_its_own() -> None:
    assert wrap("one two", 7, "    ", "- ") == ["- one", "    two"]


def test_a_word_that_is_too_long_stands_alone() -> None:
    assert wrap("a incomprehensible b", 6) == ["a", "incomprehensible", "b"]


def test_an_empty_text_is_one_empty_line() -> None:
    assert wrap("", 10, "  ") == [""]


def test_a_table_is_aligned_and_ends_in_no_spaces() -> None:
    rows = table([("空闲", "1", ""), ("held", "12", "x")], right=(1,))
    assert rows == ["空闲   1", "held  12  x"]


def test_two_texts_share_a_line_where_they_fit() -> None:
    assert on_both_sides("左", "right", 10) == ["左   right"]
    assert on_both_sides("left", "right", 10) == ["left", "     right"]
