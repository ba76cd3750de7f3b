"""Reports as files: where they go, what is refused and how, and reports of kept traces."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Pretend, Run

import schedproof
from schedproof import api
from schedproof.reports import places
from schedproof.reports.formats import FORMATS
from schedproof.search.results import RunResult
from schedproof.settings import UsageError, resolve
from schedproof.telling.report import Summary

LOST = str(Path(__file__).parents[2] / "examples" / "lost_progress.py") + ":LostProgress"


def places_of(*said: str) -> list[str]:
    return [str(wanted.path) for wanted in resolve({"report": list(said)})["report"]]


@pytest.fixture
def clean(make_run: Callable[..., RunResult]) -> api.CheckResult:
    return api.CheckResult(Summary("mine", (make_run(),), 0.2), "en")


def test_usual_names_and_others() -> None:
    assert places_of("html") == ["schedproof-report.html"]
    assert places_of("html=bug.html,json", "html") == [
        "bug.html",
        "schedproof-report.json",
        "schedproof-report.html",
    ]
    assert places_of("html=new/") == [str(Path("new") / "schedproof-report.html")]
    Path("there").mkdir()
    assert places_of("json=there") == [str(Path("there") / "schedproof-report.json")]
    assert places_of("html=a=b.html") == ["a=b.html"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("htm", "report: there is no htm. Did you mean html? Allowed: html, json"),
        ("html=", "report: html= names no place. Type html=PATH"),
        ("html,html=schedproof-report.html", "Two reports would be written to"),
        ("json=-", "A report goes into a file, and - is none."),
        ("html=mine.py", "mine.py is already there and does not end in .html"),
        ("html=mine.py/report.html", "mine.py is not a folder"),
    ],
)
def test_what_cannot_be_written_is_told_before_anything_is_searched(
    run: Run, pretend: Pretend, said: str, told: str
) -> None:
    Path("mine.py").write_text("kept", encoding="utf-8")
    heard = pretend()
    answer = run("check", "--report", said)
    assert (answer.code, answer.out) == (2, "")
    assert told in " ".join(answer.err.split())
    assert Path("mine.py").read_text(encoding="utf-8") == "kept"
    assert "progress" not in heard


def test_reports_can_stand_in_the_configuration(alone: Path) -> None:
    (alone / "pyproject.toml").write_text(
        '[tool.schedproof]\nreport = ["html", "json=out/x.json"]\n', encoding="utf-8"
    )
    paths = [str(wanted.path) for wanted in resolve({})["report"]]
    assert paths == ["schedproof-report.html", str(Path("out") / "x.json")]


def test_every_format_writes_a_file(clean: api.CheckResult, alone: Path) -> None:
    wanted = [places.wanted(name, "out/") for name in FORMATS]
    written = api.write_reports(wanted, clean.summary, "en")
    assert [path.name for path in written] == [made.file_name for made in FORMATS.values()]
    assert all(path.stat().st_size for path in written)
    assert sorted(Path("out").iterdir()) == sorted(written)
    document = json.loads(Path("out", "schedproof-report.json").read_text(encoding="utf-8"))
    assert document["schema"] == "schedproof/check"


def test_report_replaces_an_older_one_as_a_whole(clean: api.CheckResult) -> None:
    Path("bug.html").write_text("old", encoding="utf-8")
    path = clean.to_html("bug.html")
    assert path == Path("bug.html")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(Path().iterdir()) == [Path("bug.html")]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_report_in_another_language(clean: api.CheckResult) -> None:
    path = clean.to_html("bug.html", lang="zh")
    assert '<html lang="zh-Hans">' in path.read_text(encoding="utf-8")


def test_failing_disk_leaves_the_old_report_and_nothing_else(
    clean: api.CheckResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("bug.html").write_text("old", encoding="utf-8")

    def full(_self: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match=r"bug\.html cannot be written: No space left"):
        clean.to_html("bug.html")
    assert list(Path().iterdir()) == [Path("bug.html")]
    assert Path("bug.html").read_text(encoding="utf-8") == "old"


def test_check_writes_its_reports_and_a_kept_trace_can_be_reported_again(run: Run) -> None:
    """One real search, so that states along the way come out of the child process."""
    words = ("--policy", "aging", "--claims", "PROGRESS-2", "--report", "html,json=out/x.json")
    answer = run("check", LOST, *words, "--lang", "zh")
    assert answer.code == 1
    assert "报告：schedproof-report.html" in answer.err
    assert f"报告：{Path('out') / 'x.json'}" in answer.err
    page = Path("schedproof-report.html").read_text(encoding="utf-8")
    assert "free 1 + held 2" in page
    (kept,) = Path(".schedproof").glob("PROGRESS-2-*.json")
    again = run("report", kept.stem, "--report", "html=again.html,md")
    assert (again.code, again.out) == (0, "")
    assert again.err.splitlines() == ["Report: again.html", "Report: schedproof-report.md"]
    retold = Path("again.html").read_text(encoding="utf-8")
    assert "✗ PROGRESS-2" in retold
    assert "free 1 + held 2" in retold
    fixed = run("report", kept.stem, "--on", "schedmodel:DecodeSchedulerSim", "--report", "json")
    assert fixed.code == 5
    assert fixed.out.startswith("✓ PROGRESS-2")
    assert "No report was written" in fixed.err
    assert not Path("schedproof-report.json").exists()


def test_python_call_takes_the_option_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "run_plan", lambda _plan, _progress: [])
    with pytest.raises(UsageError, match="there is no pdf"):
        schedproof.check(report="pdf")
