"""The plugin for pytest, in runs of pytest of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.formats.conftest import clean, troubled
from tests.formats.exports import broken_file, mended_file
from tests.telling.conftest import FOUND

from schedproof import api
from schedproof.search.results import RunResult
from schedproof.settings import resolve
from schedproof.telling.report import Summary

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
OURS = ("-p", "schedproof.pytest_plugin", "-p", "no:cacheprovider", "--strict-markers")
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs these tests in this process, with our plugin and no other."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("SCHEDPROOF_LANG", "en")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    def tests(text: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=text)
        return pytester.runpytest_inprocess(*OURS, *arguments)

    return tests


Pretend = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Pretend:
    """Let checks come to these runs at once; gives back what they were asked."""
    heard: list[dict[str, Any]] = []

    def answer(*runs: RunResult) -> list[dict[str, Any]]:
        def check(target: Any = None, policy: Any = None, **said: Any) -> api.CheckResult:
            asked = {"target": target, "policy": policy, **said}
            heard.append(asked)
            lang = resolve(asked)["lang"] or "en"
            return api.CheckResult(Summary(str(target), runs, 0.5), lang)

        monkeypatch.setattr(api, "check", check)
        # What the plugin allows is read off the function.
        names = ("scope", "claims", "profile", "lang", "no_save")
        hints = dict.fromkeys(names)
        check.__signature__ = _signature(hints)  # type: ignore[attr-defined]
        return heard

    return answer


def _signature(names: dict[str, Any]) -> Any:
    import inspect

    kinds = inspect.Parameter
    known = [kinds(n, kinds.KEYWORD_ONLY, default=None) for n in ("policy", *names)]
    return inspect.Signature([kinds("target", kinds.POSITIONAL_OR_KEYWORD), *known])


def kept(name: str, as_: str) -> RunResult:
    """A violation that was kept under that id."""
    found = FOUND[name]()
    (example,) = found.counterexamples
    return replace(found, counterexamples=(replace(example, kept_as=as_),))


FIXTURE = """
def test_mine(schedproof_check):
    result = schedproof_check("mine.py:A", policy="aging")
    assert result.ok
"""


def test_the_story_stands_in_place_of_the_traceback(run: Run, pretend: Pretend) -> None:
    pretend(kept("progress-2", "PROGRESS-2-7c1e"))
    ended = run(FIXTURE)
    ended.assert_outcomes(failed=1)
    text = ended.stdout.str()
    assert "How to get there" in text
    for traceback in ("schedproof_check(", "test_it.py:3", "Traceback", "pytest_plugin.py"):
        assert traceback not in text
    ended.stdout.fnmatch_lines(["FAILED test_it.py::test_mine - Failed: ? PROGRESS-2*"])


def test_the_summary_names_the_tests_and_what_to_type(run: Run, pretend: Pretend) -> None:
    pretend(kept("progress-2", "PROGRESS-2-7c1e"), kept("ledger-1", "LEDGER-1-00aa"))
    ended = run(FIXTURE)
    ended.stdout.fnmatch_lines(
        [
            "*= schedproof =*",
            "test_it.py::test_mine",
            "    schedproof replay PROGRESS-2-7c1e",
            "    schedproof replay LEDGER-1-00aa",
        ]
    )


@pytest.mark.parametrize("server", ["", "true"], ids=["a desk", "a build server"])
def test_a_mistake_under_several_policies_is_told_once(
    server: str, run: Run, pretend: Pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", server)
    lost = kept("progress-2", "A")
    (example,) = lost.counterexamples
    other = replace(lost, policy="deadline", counterexamples=(replace(example, policy="deadline"),))
    pretend(lost, other)
    text = run(FIXTURE).stdout.str()
    assert text.count("How to get there") == 1
    assert "Found under: fixed_priority, deadline." in text


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (troubled(), "KeyError"),
        (clean(verdict="vacuous"), "Failed: ✗ vacuous: No step served anybody"),
        (clean(verdict="incomplete"), "stopped before its bound"),
    ],
    ids=["trouble", "vacuous", "incomplete"],
)
def test_what_shows_nothing_does_not_pass(
    found: RunResult, told: str, run: Run, pretend: Pretend
) -> None:
    pretend(found)
    ended = run(FIXTURE)
    ended.assert_outcomes(failed=1)
    assert told in ended.stdout.str()


def test_a_clean_check_passes_and_says_nothing(run: Run, pretend: Pretend) -> None:
    pretend(clean())
    ended = run(FIXTURE)
    ended.assert_outcomes(passed=1)
    assert "= schedproof =" not in ended.stdout.str()


MARKED = """
import pytest

pytestmark = pytest.mark.schedproof(scope="small", policy="fcfs")

class A: ...

@pytest.mark.schedproof(A, policy="aging")
def test_marked():
    print("the body runs")

@pytest.mark.schedproof(policy="deadline")
class TestAll:
    def test_in_class(self, schedproof_check):
        schedproof_check(A, claims="LEDGER")

def test_without():
    pass
"""


def test_options_come_from_the_nearest_place(run: Run, pretend: Pretend) -> None:
    heard = pretend(clean())
    run(MARKED, "--schedproof-profile", "ci").assert_outcomes(passed=3)
    marked, in_class = heard
    assert (marked["policy"], marked["scope"], marked["profile"]) == ("aging", "small", "ci")
    assert marked["target"].__name__ == "A"
    assert (in_class["policy"], in_class["scope"]) == ("deadline", "small")
    assert in_class["claims"] == "LEDGER"


def test_a_marked_test_that_fails_its_check_does_not_run(run: Run, pretend: Pretend) -> None:
    pretend(kept("ledger-1", "A"))
    ended = run(MARKED, "-k", "test_marked")
    ended.assert_outcomes(failed=1, deselected=2)
    assert "the body runs" not in ended.stdout.str()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_wrong_options_are_told_in_words(run: Run, pretend: Pretend, language: str) -> None:
    pretend(clean())
    text = f"""
import pytest

@pytest.mark.schedproof("mine.py:A", polcy="aging", lang="{language}")
def test_marked(): ...
"""
    ended = run(text)
    ended.assert_outcomes(failed=1)
    assert "Did you mean policy?" in ended.stdout.str()
    assert "During handling" not in ended.stdout.str()


def test_a_target_that_is_not_there_is_told_in_words(run: Run) -> None:
    ended = run(FIXTURE)
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines(["*mine.py*"])
    assert "Traceback" not in ended.stdout.str()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--schedproof-profile", "quik"), "Did you mean quick?"),
        (("--schedproof-report", "htm"), "Did you mean html?"),
    ],
)
def test_wrong_options_of_the_command_end_it(
    run: Run, arguments: tuple[str, str], told: str
) -> None:
    ended = run("def test_it(): ...", *arguments)
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    assert told in ended.stderr.str()
    assert "Traceback" not in ended.stderr.str()


def test_reports_hold_all_checks(run: Run, pretend: Pretend, pytester: pytest.Pytester) -> None:
    pretend(kept("ledger-1", "A"), clean())
    text = FIXTURE + FIXTURE.replace("test_mine", "test_b").replace("mine.py:A", "mine.py:B")
    ended = run(text, "--schedproof-report", "junit,json=out/", "--schedproof-report=md")
    ended.assert_outcomes(failed=2)
    suites = ElementTree.parse(pytester.path / "schedproof-report.xml").getroot()
    names = [suite.attrib["name"] for suite in suites]
    assert names == [f"mine.py:{c} [{p}]" for c in "BA" for p in ("fixed_priority", "aging")]
    made = [pytester.path / f"out/schedproof-report{n}.json" for n in ("", "-2")]
    subjects = [json.loads(p.read_text(encoding="utf-8"))["subject"] for p in made]
    assert subjects == ["mine.py:B", "mine.py:A"]
    assert (pytester.path / "schedproof-report.md").read_text(encoding="utf-8").count("## ") == 2
    ended.stdout.fnmatch_lines(["Report: *schedproof-report.xml"])


def test_without_a_check_no_report_is_written(run: Run, pytester: pytest.Pytester) -> None:
    run("def test_it(): ...", "--schedproof-report", "junit").assert_outcomes(passed=1)
    assert not (pytester.path / "schedproof-report.xml").exists()


REAL = """
import pytest

@pytest.mark.schedproof(scope="small", policy="fixed_priority")
@pytest.mark.parametrize("claims", ["PROGRESS", "VICTIM"])
def test_real(schedproof_check, claims):
    schedproof_check("mine.py", claims=claims, time="2m")
"""


def test_it_is_the_same_in_workers(
    run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    (pytester.path / "mine.py").write_text(broken_file("preempt-forgets-tokens"), encoding="utf-8")
    summary = pytester.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    ended = run(REAL, "-p", "xdist.plugin", "-n", "2", "--schedproof-report", "junit,md")
    ended.assert_outcomes(failed=1, passed=1)
    assert "But r0 also lost what it had already generated" in ended.stdout.str()
    assert summary.read_text(encoding="utf-8").count("## schedproof") == 2  # by one process only
    (trace,) = (pytester.path / ".schedproof").glob("*.json")
    ended.stdout.fnmatch_lines([f"    schedproof replay {trace.stem}"])
    suites = ElementTree.parse(pytester.path / "schedproof-report.xml").getroot()
    assert [int(suite.attrib["failures"]) > 0 for suite in suites] == [True, False]
    assert [path.name for path in pytester.path.glob("*.xml*")] == ["schedproof-report.xml"]


def test_a_mended_scheduler_passes(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "mine.py").write_text(mended_file(), encoding="utf-8")
    text = REAL.replace('["PROGRESS", "VICTIM"]', '["PROGRESS"]').replace("fixed_priority", "aging")
    run(text).assert_outcomes(passed=1)


PROBE = """
import sys

def pytest_unconfigure():
    ours = ("schedproof", "schedmodel")
    print("loaded:", *sorted(m for m in sys.modules if m.partition(".")[0] in ours))
"""


def test_installed_and_not_used_it_loads_nothing(tmp_path: Path) -> None:
    """As pytest finds it: by the entry point that pyproject.toml declares."""
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (entry,) = (line for line in declared.splitlines() if "schedproof.pytest_plugin" in line)
    made = tmp_path / "schedproof-0.1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: schedproof\nVersion: 0.1.0\n")
    (made / "entry_points.txt").write_text("[pytest11]\n" + entry.replace('"', "") + "\n")
    (tmp_path / "probe.py").write_text(PROBE)
    (tmp_path / "test_it.py").write_text("def test_it(): ...\n")
    path = os.pathsep.join(map(str, (tmp_path, ROOT / "model", ROOT / "invariants")))
    said = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "probe", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={"PYTHONPATH": path, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert "loaded: schedproof schedproof.pytest_plugin\n" in said.stdout
