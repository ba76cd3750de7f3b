"""Both languages have every page, no translation is behind, and every page has its place."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from docs import translations
from docs.reference import ABOUT_ZH
from docs.site import staging
from docs.site.lifecycle import PLACES, lifecycle_svg
from docs.site.pages import DOCS, LANGUAGES, SECTIONS, TITLES, all_pages, file_of, title_of
from tests.docs.conftest import name_of

from schedmodel.diagrams import moves_between
from schedmodel.lifecycle import State
from schedproof.search.exhaustive import scopes


@pytest.mark.parametrize("page", translations.chinese_pages(), ids=name_of)
def test_no_translation_is_behind(page: Path) -> None:
    assert not translations.is_behind(page), (
        f"{translations.english_of(page).name} has changed: bring {page.name} up to date, then "
        f"python docs/translations.py {page.relative_to(translations.ROOT)}"
    )


def test_a_page_that_has_changed_is_noticed(tmp_path: Path) -> None:
    english, chinese = tmp_path / "a.md", tmp_path / "a.zh.md"
    english.write_text("# A\n\nOne.\n<!-- generated: x -->\n1\n<!-- end -->\n", encoding="utf-8")
    chinese.write_text("# 甲\n\n一。\n", encoding="utf-8")
    assert translations.is_behind(chinese)
    translations.record(chinese)
    translations.record(chinese)
    assert not translations.is_behind(chinese)
    assert chinese.read_text(encoding="utf-8").count("translates") == 1
    english.write_text(english.read_text("utf-8").replace("\n1\n", "\n2\n"), encoding="utf-8")
    assert not translations.is_behind(chinese), "generated parts do not count"
    english.write_text(english.read_text("utf-8").replace("One", "Two"), encoding="utf-8")
    assert translations.is_behind(chinese)


def test_another_name_is_no_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert translations.main(["docs/cli.md"]) == 2
    assert "docs/cli.md is no Chinese page" in capsys.readouterr().err


def test_every_page_stands_in_one_section_and_in_both_languages() -> None:
    pages = [page for page in all_pages() if file_of(page, "en").is_relative_to(DOCS)]
    there = {
        path.relative_to(DOCS).as_posix().removesuffix(".md")
        for path in DOCS.rglob("*.md")
        if not path.name.endswith(".zh.md")
    }
    assert sorted(pages) == sorted(there), "docs/site/pages.py says where a page stands"
    assert all(file_of(page, lang).is_file() for page in all_pages() for lang in LANGUAGES)
    assert all(TITLES[lang].keys() == SECTIONS.keys() for lang in LANGUAGES)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_index_leads_to_every_page(lang: str) -> None:
    text = file_of("index", lang).read_text(encoding="utf-8")
    suffix = ".zh.md" if lang == "zh" else ".md"
    lessons = [page for page in all_pages() if page.startswith("lessons/0") or page[8:9] == "1"]
    for page in set(all_pages()) - {"index", "start", *lessons}:
        assert f"]({page}{suffix})" in text, page
        assert title_of(page, lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_lifecycle_is_drawn_as_it_is(lang: str) -> None:
    picture = ElementTree.fromstring(lifecycle_svg(lang))
    texts = [
        " ".join("".join(t.itertext()).split()) for t in picture.iter() if t.tag.endswith("text")
    ]
    assert set(PLACES) == {state.value for state in State} <= set(texts)
    labels = [label.replace(", ", "").replace(" [", "[") for _, _, label in moves_between()]
    assert sorted(text for text in texts if text not in PLACES) == sorted(labels)


def test_pages_are_turned_for_the_site(tmp_path: Path) -> None:
    text = staging.as_sphinx_reads_it(file_of("model", "zh"), "model", "zh", tmp_path)
    assert "```mermaid" not in text
    assert "![](lifecycle.svg)" in text
    assert "[English](" not in text
    assert "](liveness.md)" in text
    text = staging.as_sphinx_reads_it(file_of("start", "en"), "start", "en", tmp_path)
    assert "](files/examples/lost_progress.py)" in text
    assert (tmp_path / "files" / "examples" / "lost_progress.py").is_file()
    text = staging.as_sphinx_reads_it(
        file_of("lessons/01-life", "zh"), "lessons/01-life", "zh", tmp_path
    )
    assert "](../model.md" in text


def test_every_scope_is_told_in_chinese() -> None:
    assert set(ABOUT_ZH) == set(scopes.shipped())
