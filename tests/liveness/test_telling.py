"""Endless waits as a person reads them, in both languages, letter by letter.

To renew the snapshots after a text was changed on purpose, run
`RENEW_SNAPSHOTS=1 python -m pytest tests/liveness`, read the difference, and commit it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.liveness.conftest import ALL, search
from tests.liveness.test_trouble import Leaks

from schedproof.search.results import RunResult
from schedproof.telling.document import check_schema, to_document
from schedproof.telling.layout import width_of
from schedproof.telling.report import Summary, render_text
from schedproof.telling.story import story_of
from schedproof.telling.text import story_text

SNAPSHOTS = Path(__file__).parent / "snapshots"
LANGUAGES = ("en", "zh")
each_language = pytest.mark.parametrize("language", LANGUAGES)


@cache
def run(name: str) -> RunResult:
    """A run by name, after a trip through JSON as from a child process."""
    searches: dict[str, Callable[[], RunResult]] = {
        "hits": lambda: search("endless-hits", "aging", 2, claims=ALL),
        "small": lambda: search("endless-small", "fixed_priority", 3, claims=ALL),
        "answer": lambda: search("endless-small", "reserved_aging", 3, claims=ALL),
        "idle": lambda: search("endless-small", "fixed_priority", 2, scheduler=Leaks),
    }
    found = searches[name]()
    return RunResult.from_json(json.loads(json.dumps(found.to_json())))


def compare(name: str, language: str, text: str) -> None:
    path = SNAPSHOTS / f"{name}.{language}.txt"
    if os.environ.get("RENEW_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8")


@each_language
@pytest.mark.parametrize("name", ["hits", "small", "idle"])
def test_a_lasso_reads_as_its_snapshot(name: str, language: str) -> None:
    (example,) = run(name).counterexamples
    text = story_text(story_of(example, language, run(name)))
    compare(name, language, text)
    assert max(map(width_of, text.splitlines())) <= 80


@each_language
def test_a_report_reads_as_its_snapshot(language: str) -> None:
    told = render_text(Summary("built-in model", (run("answer"),), 0.0), language)
    compare("answer", language, re.sub(r" +\d+\.\d$", "", told, count=1, flags=re.MULTILINE))


def test_every_snapshot_belongs_to_a_test() -> None:
    names = ("hits", "small", "idle", "answer")
    expected = {f"{name}.{language}.txt" for name in names for language in LANGUAGES}
    assert {path.name for path in SNAPSHOTS.iterdir()} == expected


def test_the_loop_is_told_once_and_marked() -> None:
    (example,) = run("small").counterexamples
    steps = story_of(example, "en").steps
    assert [step.again for step in steps] == [False] * 6 + [True] * 3
    assert not any(step.guilty for step in steps)


def test_documents_fit_the_schema() -> None:
    for name in ("hits", "answer", "idle"):
        document = to_document(Summary("built-in model", (run(name),), 0.5), "0")
        Draft202012Validator(check_schema()).validate(document)
    note = document["counterexamples"][0]["message"]["values"]
    assert len(note["waits"]) == note["rounds"]
