"""The command: what it prints, writes and refuses, in both languages."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator
from tests.compare.conftest import BURST, CODE, MOONCAKE

from schedmodel import KNOWN_POLICIES
from schedproof.cli.main import run as run_command
from schedproof.compare import comparing, verdicts
from schedproof.compare.drawing import marks_of
from schedproof.compare.files import HEADING
from schedproof.telling.language import LANGUAGES
from schedproof.telling.layout import width_of


class Said(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]
SMALL = (str(CODE), "--rows", "40", "--step-ms", "10", "--blocks", "350", "--starved-after", "1s")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Runs `schedproof compare` with these words, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LANG", "C")
    monkeypatch.delenv("SCHEDPROOF_LANG", raising=False)
    monkeypatch.setattr(verdicts, "DRAWS", 40)  # what is told does not hang on how many

    def words(*arguments: str) -> Said:
        code = run_command(["compare", *arguments])
        said = Said(code, *capsys.readouterr())
        assert "Traceback" not in said.out + said.err
        return said

    return words


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_policies_are_told_with_their_counts(run: Run, language: str) -> None:
    said = run(*SMALL, "--lang", language)
    assert said.code == 0
    assert all(policy in said.out for policy in KNOWN_POLICIES)
    assert CODE.name in said.out
    assert all(width_of(line) <= 80 or str(CODE) in line for line in said.out.splitlines())


def test_the_same_call_gives_the_same_document_and_it_fits_its_schema(run: Run) -> None:
    first, again = (run(*SMALL, "--json", "--seed", "3") for _ in range(2))
    assert first.out == again.out
    document = json.loads(first.out)
    folder = files("schedproof.compare") / "schema"
    schema = json.loads((folder / "comparison.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    assert document["policies"][0]["policy"] == "fcfs"
    assert document["synthetic"]["seed"] == 3


def test_batches_have_their_own_policies(run: Run) -> None:
    said = run(*SMALL, "--batch", "8", "--json", "--policy", "fixed_priority,fcfs")
    names = [policy["policy"] for policy in json.loads(said.out)["policies"]]
    assert names == ["fixed_priority", "fcfs"]
    refused = run(*SMALL, "--batch", "8", "--policy", "aging")
    assert refused.code == 2
    assert "With --batch 8 there are: fcfs, fixed_priority." in refused.err
    mistyped = run(*SMALL, "--batch", "8", "--policy", "agin")
    assert mistyped.code == 2
    assert "fcfs, fixed_priority" in mistyped.err
    assert "--batch" not in mistyped.err


def test_a_line_for_each_request_is_written(run: Run) -> None:
    said = run(*SMALL, "--policy", "fcfs,aging", "--csv", "all.csv")
    assert "all.csv" in said.err
    rows = list(csv.DictReader(Path("all.csv").read_text("utf-8").splitlines()))
    assert list(rows[0]) == HEADING
    assert [row["policy"] for row in rows] == ["fcfs"] * 40 + ["aging"] * 40
    drawn = [[(r["synthetic_priority"], r["synthetic_deadline"]) for r in rows[:40]]]
    drawn.append([(r["synthetic_priority"], r["synthetic_deadline"]) for r in rows[40:]])
    assert drawn[0] == drawn[1]
    assert all((row["ttft"] == "") == row["outcome"].startswith("rejected") for row in rows)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_has_pictures_and_needs_nothing_else(run: Run, language: str) -> None:
    run(*SMALL, "--html", "page.html", "--lang", language)
    page = Path("page.html").read_text("utf-8")
    assert page.count("<polyline") == 4 * len(KNOWN_POLICIES)
    assert not re.search(r"(src|href)=|<script|@import|url\(", page)
    assert f'id="lang-{language}" checked' in page
    assert "NaN" not in page
    assert "nan" not in re.findall(r'points="([^"]*)"', page)[0]


def test_cache_hits_are_named_where_they_are_derived(run: Run) -> None:
    said = run(str(MOONCAKE), "--rows", "20", "--blocks", "9000", "--policy", "fcfs", "--json")
    assert json.loads(said.out)["derived"] == ["cache_hit"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((str(BURST),), "line 22"),
        (("none.csv",), "cannot be read"),
        ((*SMALL, "--time-factor", "0"), "more than 0"),
        ((*SMALL, "--blocks", "0"), "at least 1"),
        ((*SMALL, "--slo-ttft", "soon"), "2m"),
        ((*SMALL, "--format", "azur"), "Did you mean azure"),
        ((*SMALL, "--policy", "agin"), "aging"),
        ((*SMALL, "--blocks", "9" * 9), "to 10000000"),
        ((*SMALL, "--step-ms", "1e-300"), "larger --step-ms"),
        ((*SMALL, "--csv", "."), "is a folder"),
        ((*SMALL, "--csv", "-"), "A report goes into a file"),
        ((*SMALL, "--csv", "all", "--html", "./all"), "Two files"),
        ((*SMALL, "--html", str(CODE)), "the trace itself"),
        ((*SMALL, "--csv", f"{CODE}/all.csv"), "not a folder"),
        ((), "TRACE"),
    ],
)
def test_a_mistake_is_told_and_ends_with_two(run: Run, words: tuple[str, ...], text: str) -> None:
    said = run(*words)
    assert said.code == 2
    assert text in said.err
    assert not said.out


def test_a_file_that_cannot_be_written_after_all_is_told(run: Run) -> None:
    said = run(*SMALL, "--csv", "/proc/none/x.csv")
    assert said.code == 2
    assert "cannot be written" in said.err


def test_without_numpy_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden: Any = None
    monkeypatch.setitem(sys.modules, "numpy", hidden)
    said = run(*SMALL)
    assert said.code == 2
    assert "schedproof[compare]" in said.err


def test_an_interrupted_comparison_leaves_nothing_behind(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_values: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(comparing, "simulate", interrupted)
    said = run(*SMALL, "--csv", "all.csv", "--html", "all.html")
    assert (said.code, said.out) == (130, "")
    assert "nothing was written" in said.err
    assert not list(Path.cwd().iterdir())


@pytest.mark.parametrize(("top", "expected"), [(1, "0 1"), (2, "0 1 2"), (19, "0 5 10 14 19")])
def test_marks_of_counts_are_whole_and_stand_where_they_belong(top: int, expected: str) -> None:
    marks = marks_of(top, 4)
    assert [text for _, text in marks] == expected.split()
    assert [y * top for y, _ in marks] == pytest.approx([int(text) for text in expected.split()])
