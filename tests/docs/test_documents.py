"""The documents tell what is so: made parts are up to date, links lead somewhere, code runs.

A part that differs is renewed by `python docs/generate.py`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType

import pytest
from _pytest.mark import ParameterSet
from tests.docs.conftest import DOCUMENTS, ROOT, name_of

import schedproof
from schedproof.search.exhaustive.scopes import load_scope
from schedproof.traces.trace import Trace

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks_of(language: str) -> list[ParameterSet]:
    """Every fenced block in that language, with its document and number as a name."""
    blocks: list[ParameterSet] = []
    for document in DOCUMENTS:
        found = FENCE.findall(document.read_text(encoding="utf-8"))
        texts = [text for tag, text in found if tag == language]
        blocks += [
            pytest.param(text, id=f"{name_of(document)}-{place}")
            for place, text in enumerate(texts)
        ]
    return blocks


def anchors_of(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_made_parts_are_what_is_made_now(document: Path, generate: ModuleType) -> None:
    text = document.read_text(encoding="utf-8")
    assert text == generate.renew(text), "renew it: python docs/generate.py"


def test_every_maker_makes_a_part_and_every_mark_is_one(generate: ModuleType) -> None:
    texts = [document.read_text(encoding="utf-8") for document in DOCUMENTS]
    named = {part["name"].split()[0] for text in texts for part in generate.PART.finditer(text)}
    assert named == set(generate.MAKERS)
    marks = sum(text.count("<!-- generated: ") for text in texts)
    assert marks == sum(len(generate.PART.findall(text)) for text in texts)


def test_a_part_that_was_changed_by_hand_is_noticed(generate: ModuleType) -> None:
    text = "before\n<!-- generated: lifecycle -->\nby hand\n<!-- end -->\nafter\n"
    renewed = generate.renew(text)
    assert "by hand" not in renewed
    assert renewed.startswith("before\n<!-- generated: lifecycle -->\n```mermaid\n")
    assert renewed.endswith("```\n<!-- end -->\nafter\n")
    assert generate.renew(renewed) == renewed


def test_times_are_left_out_of_reports(generate: ModuleType) -> None:
    report = "scheduler: s\npolicy  verdict  miss  seconds\naging  violated  1,182  10.4\n\n"
    last = "✗ violated · depth 4 ·\n  12.5 s\n"
    assert generate.without_times(report + last) == (
        "scheduler: s\npolicy  verdict  miss\naging  violated  1,182\n\n✗ violated · depth 4"
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document: Path) -> None:
    for path, anchor in LINK.findall(document.read_text(encoding="utf-8")):
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{path} of {name_of(document)} is not there"
        if anchor:
            assert anchor in anchors_of(target), f"{path}#{anchor} is not there"


@pytest.mark.parametrize("text", blocks_of("python"))
def test_python_runs(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("SCHEDPROOF_TIME", "5m")
    monkeypatch.syspath_prepend(str(ROOT))
    exec(compile(text, "<document>", "exec"), {"__name__": "document"})
    printed = capsys.readouterr().out
    for said in re.findall(r"print\(.+?\) +# ([\w-]+ \d+)$", text, re.MULTILINE):
        assert said in printed


@pytest.mark.parametrize("text", blocks_of("json"))
def test_json_is_json_and_scopes_and_traces_are_what_they_say(text: str, tmp_path: Path) -> None:
    record = json.loads(text)
    if "schema" not in record:
        return
    if record["schema"] == "schedproof/trace":
        assert Trace.from_json(record).id == record["id"]
        return
    path = tmp_path / "scope.json"
    path.write_text(text, encoding="utf-8")
    scope = load_scope(str(path))
    result = schedproof.check(scope=str(path), policy="deadline", time="5m")
    assert result.verdict == "holds_within_bounds"
    assert result.runs[0].bounds["scope"] == scope.name
