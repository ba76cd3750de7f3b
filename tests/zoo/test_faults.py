"""What every fault has to be: one change, well told, in a file that needs nothing else."""

from __future__ import annotations

import io
import os
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest
from tests.exhaustive.conftest import THE_FOUR, THE_SEVEN

from schedproof.claims.catalogue import BY_ID
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import catalogue
from schedproof.zoo import export as exporting
from schedproof.zoo.all_faults import BY_NAME as ALL
from schedproof.zoo.chapter_faults import BY_NAME, CHAPTER_FAULTS
from schedproof.zoo.export import export
from schedproof.zoo.faults import (
    FAMILIES,
    Fault,
    Misplaced,
    apply,
    change,
    exported,
    plain_text,
)
from schedproof.zoo.loading import load_class
from schedproof.zoo.plain import POLICIES

SCREEN_LINES = 24
ROOT = Path(__file__).resolve().parents[2]
each_fault = pytest.mark.parametrize("fault", CHAPTER_FAULTS, ids=lambda fault: fault.name)


def fault_of(old: str, new: str) -> Fault:
    return Fault("made-up", "order", "ORDER-1", 3, old, new)


@each_fault
def test_a_fault_is_one_change_that_fits_a_screen(fault: Fault) -> None:
    assert plain_text().count(fault.old) == 1
    assert apply(fault) != plain_text()
    lines = change(fault)
    assert len(lines) <= SCREEN_LINES
    assert sum(line.startswith("@@") for line in lines) == 1
    assert max(map(len, lines)) <= 101


@each_fault
def test_a_fault_names_what_exists(fault: Fault) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", fault.name)
    assert fault.family in FAMILIES
    assert set(fault.policies) <= set(POLICIES)
    assert fault.policies
    assert set(fault.otherwise) < set(fault.policies)
    assert fault.policies[0] not in fault.otherwise
    for kill in map(fault.kill, fault.policies):
        assert kill.claim in BY_ID or kill.claim == "raised"
    assert not fault.report or re.fullmatch(r"[\w-]+/[\w.-]+#\d+", fault.report)


@pytest.mark.parametrize("language", LANGUAGES)
@each_fault
def test_a_fault_is_told_in_a_few_sentences(fault: Fault, language: str) -> None:
    texts = catalogue(language)
    assert not texts[f"fault.{fault.name}.title"].endswith((".", "。"))
    sentences = re.findall(r"[.。?!？！](?:\s|$|(?=[^\s]))", texts[f"fault.{fault.name}.story"])
    assert 1 <= len(sentences) <= 3
    assert bool(fault.report) == (f"fault.{fault.name}.report" in texts)


def test_every_text_of_a_fault_belongs_to_one() -> None:
    about = {"count", "under", "report", "chapter", "passes_chapter", "length", "whole_runs"}
    about |= {"try", "exported", "caught_by"}
    named = {key.split(".")[1] for key in catalogue("en") if key.startswith("fault.")}
    assert named - about == set(ALL)


def test_names_are_unique_and_families_stand_together() -> None:
    assert len(BY_NAME) == len(CHAPTER_FAULTS) >= 25
    families = [fault.family for fault in CHAPTER_FAULTS]
    assert list(dict.fromkeys(families)) == sorted(set(families), key=families.index)
    assert all(count >= 4 for count in Counter(families).values())
    assert set(families) == set(FAMILIES)


def test_what_was_measured_before_is_marked() -> None:
    """The four of the comparison of tools, and the seven that pass the tests of the chapter."""
    by_edit = {(fault.old, fault.new): fault for fault in CHAPTER_FAULTS}
    four = [by_edit[edit] for edit, _ in THE_FOUR.values()]
    assert [fault for fault in CHAPTER_FAULTS if fault.measured] == sorted(
        four, key=CHAPTER_FAULTS.index
    )
    assert [fault.length for fault in four] == [length for _, length in THE_FOUR.values()]
    assert all(by_edit[edit].passes_chapter for edit in THE_SEVEN.values())


@pytest.mark.parametrize("old", ["nowhere to be found", "self.clock", ""])
def test_a_text_that_does_not_stand_exactly_once_is_refused(old: str) -> None:
    with pytest.raises(Misplaced, match="made-up"):
        apply(fault_of(old, "x"))


def test_a_change_that_changes_nothing_is_refused() -> None:
    with pytest.raises(Misplaced):
        apply(fault_of("self.clock = 0", "self.clock = 0"))


# As a file of its own.


@each_fault
def test_the_exported_file_is_the_class_that_is_hunted_and_does_not_give_it_away(
    fault: Fault, tmp_path: Path
) -> None:
    path = export(fault, tmp_path / "new" / "folder")
    text = path.read_text(encoding="utf-8")
    assert [name.name for name in path.parent.iterdir()] == [path.name]
    assert text == exported(fault)
    assert fault.name not in text
    assert fault.name not in path.name
    assert "schedproof" not in text
    assert "schedmodel" not in text
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    assert [token for token in tokens if token.type == tokenize.COMMENT] == []
    assert load_class(fault).__name__ == "DecodeSchedulerSim"


def test_an_exported_file_differs_from_the_plain_one_by_two_names_and_the_fault() -> None:
    fault = BY_NAME["finish-keeps-blocks"]
    back = exported(fault).replace("DecodeSchedulerSim", "PlainScheduler")
    back = re.sub(r"\bRequestState\b", "Request", back)
    assert back == apply(fault)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    there = tmp_path / exporting.FILE_NAME
    there.write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError):
        export(CHAPTER_FAULTS[0], tmp_path)
    assert there.read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.iterdir()) == [there]


def test_nothing_is_overwritten_where_there_are_no_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    path = export(CHAPTER_FAULTS[0], tmp_path)
    assert path.read_text(encoding="utf-8") == exported(CHAPTER_FAULTS[0])
    with pytest.raises(FileExistsError):
        export(CHAPTER_FAULTS[1], tmp_path)
    assert path.read_text(encoding="utf-8") == exported(CHAPTER_FAULTS[0])
    assert list(tmp_path.iterdir()) == [path]
