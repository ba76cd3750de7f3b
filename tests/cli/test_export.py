"""`schedproof export`: a kept trace in every form, to standard output or to a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.formats.exports import broken_file, failure_of, mended_file, trace_to
from tests.telling.conftest import FOUND

from schedproof.formats.names import FORMS
from schedproof.telling.messages import tell
from schedproof.traces.store import Store

FAULT = "preempt-forgets-tokens"


@pytest.fixture
def kept(alone: Path) -> str:
    """The id of a trace of a broken scheduler in this folder."""
    (alone / "mine.py").write_text(broken_file(FAULT), encoding="utf-8")
    (found,) = FOUND["progress-2"]().counterexamples
    return Store().save(trace_to(found)).name


def test_a_test_is_written_where_it_was_wanted(run: Run, kept: str, alone: Path) -> None:
    for form in ("pytest", "standalone"):
        said = run("export", kept, f"--{form}", "--to", f"{form}/")
        (test,) = (alone / form).iterdir()
        assert said.out == f"written: {form}/{test.name}\n"
        assert test.name == "test_progress_2_a_preempted_request_keeps_its_generated_tokens.py"
        assert "But r1 also lost" in test.read_text(encoding="utf-8")
        assert failure_of(test) is not None
        (alone / "mine.py").write_text(mended_file(), encoding="utf-8")
        assert failure_of(test) is None
        (alone / "mine.py").write_text(broken_file(FAULT), encoding="utf-8")


def test_without_a_place_and_a_name_the_last_trace_is_printed(run: Run, kept: str) -> None:
    said = run("export", "--mermaid", "--lang", "zh")
    assert said.out.startswith("sequenceDiagram\n")
    assert "被抢占的请求必须保留已生成的 token" in said.out
    said = run("export", "--json")
    assert json.loads(said.out)["id"] == kept


def test_itf_goes_out_and_comes_back(run: Run, kept: str, alone: Path) -> None:
    assert run("export", kept, "--itf", "--to", "out.itf.json").code == 0
    record = json.loads((alone / "out.itf.json").read_text(encoding="utf-8"))
    assert "requests" in record["vars"]
    said = run("replay", "out.itf.json")
    assert said.code == 1
    assert "still broken, at action 5 of 5" in said.out
    said = run("export", "out.itf.json", "--json")
    assert json.loads(said.out) == Store().find(kept).trace.to_json()


def test_a_trace_of_another_tool_is_taken_on_any_scheduler(
    run: Run, kept: str, alone: Path
) -> None:
    run("export", kept, "--itf", "--to", "out.itf.json")
    record = json.loads((alone / "out.itf.json").read_text(encoding="utf-8"))
    del record["#meta"]
    (alone / "other.itf.json").write_text(json.dumps(record), encoding="utf-8")
    said = run("replay", "other.itf.json")
    assert (said.code, "nothing breaks" in said.out) == (0, True)
    said = run("replay", "other.itf.json", "--on", "mine.py")
    assert said.code == 1
    assert "these actions break PROGRESS-2 at action 5" in said.out


def test_nothing_is_overwritten(run: Run, kept: str, alone: Path) -> None:
    (alone / "test_it.py").write_text("mine", encoding="utf-8")
    said = run("export", kept, "--pytest", "--to", "test_it.py")
    assert said.code == 2
    assert "already there" in said.err
    assert (alone / "test_it.py").read_text(encoding="utf-8") == "mine"


def test_what_is_mended_has_no_violation_to_draw(run: Run, kept: str, alone: Path) -> None:
    (alone / "mine.py").write_text(mended_file(), encoding="utf-8")
    for form in ("standalone", "mermaid"):
        said = run("export", kept, f"--{form}")
        assert said.code == 2
        assert f"schedproof replay {kept}" in said.err
    said = run("export", kept, "--pytest")
    assert said.code == 0
    assert "passes already" in said.err
    assert "assert_holds(" in said.out


@pytest.mark.parametrize("words", [(), ("--itf", "--json")])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_one_form_is_needed(run: Run, kept: str, words: tuple[str, ...], lang: str) -> None:
    said = run("export", kept, *words, "--lang", lang)
    assert said.code == 2
    assert all(f"--{form}" in said.err for form in FORMS)
    assert said.err.startswith(tell(lang)("export.one_form", allowed="")[:6])


def test_a_trace_that_is_not_there_is_told(run: Run, kept: str) -> None:
    said = run("export", "NOTHING-1", "--json")
    assert said.code == 2
    assert kept in said.err
