"""What can be seen of the lessons without running them; `slow_lessons.py` runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from docs import lesson_pages
from docs.site.pages import LESSONS as NAMED
from tests.docs.conftest import name_of
from tests.docs.test_documents import LINK, anchors_of

from schedproof.learn.lessons.exercises import LESSONS

PAGES = lesson_pages.pages()
ENGLISH = [page for page in PAGES if lesson_pages.language_of(page) == "en"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_notebook_is_made_of_the_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    made = lesson_pages.notebook_of(page).read_text(encoding="utf-8")
    assert made == lesson_pages.as_notebook(text), "renew it: python docs/lesson_pages.py"
    assert not any(heading in made for heading in lesson_pages.INSTRUCTORS)
    cells = json.loads(made)["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code == [cell.rstrip("\n") for cell in lesson_pages.cells_of(text)]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_is_what_it_is_made_of(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lang = lesson_pages.language_of(page)
    assert text == lesson_pages.with_outputs(text, lesson_pages.outputs_of(text), lang)


@pytest.mark.parametrize("page", ENGLISH, ids=name_of)
def test_both_languages_are_the_same_program(page: Path) -> None:
    texts = [p.read_text(encoding="utf-8") for p in (page, page.with_suffix(".zh.md"))]
    assert lesson_pages.is_same_program(*map(lesson_pages.cells_of, texts))


def test_another_program_is_noticed() -> None:
    same = lesson_pages.is_same_program
    english = ["x = 1  # one\nprint('one', f'{x} of')"]
    assert same(english, ["x = 1\nprint('一', f'{x}')"])
    assert not same(english, ["x = 2\nprint('一', f'{x} of')"])
    assert not same(english, ["x = 1\nprint('two', f'{x}')"])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_lesson_asks_ends_with_its_exercise_and_has_a_note_for_instructors(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    number = int(page.name[:2])
    en = lesson_pages.language_of(page) == "en"
    lesson, _, note = text.partition(f"{lesson_pages.INSTRUCTORS[0 if en else 1]}\n")
    assert re.search(r"^\*\*.+[?？]", lesson, re.MULTILINE), "it asks before it answers"
    assert f"learn.lesson({number})" in lesson
    assert f"learn.lesson({number}, " in lesson_pages.cells_of(text)[-1]
    assert f"`schedproof learn lesson {number} --answer" in note
    for part in ("Time", "Goals", "Answer") if en else ("时间", "目标", "答案"):
        assert f"- **{part}**" in note


def test_every_lesson_has_a_page_and_an_exercise() -> None:
    assert [f"lessons/{page.stem}" for page in ENGLISH] == list(NAMED)
    assert [int(page.name[:2]) for page in ENGLISH] == [lesson.number for lesson in LESSONS]


@pytest.mark.parametrize("page", sorted(lesson_pages.FOLDER.glob("*.md")), ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{path} of {name_of(page)} is not there"
        if anchor:
            assert anchor in anchors_of(target), f"{path}#{anchor} is not there"
