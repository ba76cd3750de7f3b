"""Stories as a person reads them, compared letter by letter with files.

The files in `snapshots` are what a terminal shows. To renew them after a text was changed on
purpose, run `RENEW_SNAPSHOTS=1 python -m pytest tests/telling`, read the difference, and
commit it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from schedproof.search.results import Moment, RunResult
from schedproof.telling.batches import blocks_text
from schedproof.telling.layout import width_of
from schedproof.telling.messages import tell
from schedproof.telling.report import tell_story
from schedproof.telling.story import Story, story_of
from schedproof.telling.text import story_text

SNAPSHOTS = Path(__file__).parent / "snapshots"
STORIES = ("progress-2", "ledger-1", "ledger-2", "victim-2", "victim-2-aging")
LANGUAGES = ("en", "zh")

Get = Callable[[str], RunResult]

each_story = pytest.mark.parametrize("name", STORIES)
each_language = pytest.mark.parametrize("language", LANGUAGES)


def story(found: Get, name: str, language: str) -> Story:
    run = found(name)
    return story_of(run.counterexamples[0], language, run)


@each_language
@each_story
def test_a_story_reads_as_its_snapshot(found: Get, name: str, language: str) -> None:
    path = SNAPSHOTS / f"{name}.{language}.txt"
    text = story_text(story(found, name, language)) + "\n"
    if os.environ.get("RENEW_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_snapshot_belongs_to_a_story() -> None:
    expected = {f"{name}.{language}.txt" for name in STORIES for language in LANGUAGES}
    assert {path.name for path in SNAPSHOTS.iterdir()} == expected


@each_language
@each_story
@pytest.mark.parametrize("width", [80, 60, 100])
def test_lines_fit_and_end_in_no_spaces(found: Get, name: str, language: str, width: int) -> None:
    for line in story_text(story(found, name, language), width).splitlines():
        assert line == line.rstrip()
        if width >= 80:
            assert width_of(line) <= width, line


@each_language
@each_story
def test_guilty_cells_stand_in_one_column(found: Get, name: str, language: str) -> None:
    shown = story(found, name, language)
    lines = story_text(shown).splitlines()
    rows = () if shown.differences is None else shown.differences.rows
    places = {
        width_of(line[: line.index(row.note)])
        for row in rows
        if row.note
        for line in lines
        if row.note in line
    }
    assert len(places) <= 1


def test_nothing_is_called_right_without_a_run_that_judged_it(found: Get) -> None:
    allowed = "That is allowed."
    (example,) = found("progress-2").counterexamples
    assert allowed in story_text(story(found, "progress-2", "en"))
    assert allowed not in tell_story(example, "en")
    assert allowed not in story_text(story(found, "victim-2", "en"))


def test_the_books_can_be_added_up_by_hand(found: Get) -> None:
    sums = story(found, "ledger-1", "en").books
    assert [line.text for line in sums] == [
        "free 0 + held 3 (r1) = 3",
        "free 0 + held 2 (r2) = 2",
        "0 + 3 (back from r1) − 2 (to r2) = 1",
        "0",
    ]
    assert [line.guilty for line in sums] == [False, True, False, True]


def test_both_languages_tell_the_same_parts(found: Get) -> None:
    for name in STORIES:
        english, chinese = (story(found, name, language) for language in LANGUAGES)
        assert english.claim == chinese.claim
        assert len(english.wrong) == len(chinese.wrong)
        assert len(english.books) == len(chinese.books)
        assert [step.guilty for step in english.steps] == [step.guilty for step in chinese.steps]
        assert [claim for claim, _ in english.also_broken] == [
            claim for claim, _ in chinese.also_broken
        ]


def test_the_last_action_is_marked_as_guilty(found: Get) -> None:
    steps = story(found, "progress-2", "en").steps
    assert [step.guilty for step in steps] == [False] * 4 + [True]
    assert [step.verb for step in steps] == ["enqueue r1", "step", "step", "enqueue r2", "step"]


def test_a_block_that_is_never_handed_out_is_not_lost() -> None:
    paged = {
        "free_ids": [2],
        "references": [1, 0, 0],
        "running": [],
        "waiting": [],
        "reserved": [0],
    }
    text = blocks_text(tell("en"), Moment(0, 1, 0, {}, paged))
    assert text == "[0 reserved]  [1 lost]  [2 free]"
