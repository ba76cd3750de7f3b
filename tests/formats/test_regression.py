"""Tests that are exported: they read well, fail on the broken class and pass on the mended one."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.formats.exports import TARGET, broken_file, failure_of, mended_file, trace_to
from tests.telling.conftest import FOUND

from schedproof.claims.catalogue import BY_ID
from schedproof.claims.claim import Kind
from schedproof.formats.asserts import _CHECKS
from schedproof.formats.regression import NotExportable, docstring, to_pytest
from schedproof.formats.standalone import to_standalone
from schedproof.search.results import Counterexample
from schedproof.subjects.actions import to_json
from schedproof.subjects.contract import Limits
from schedproof.telling.messages import catalogue, tell
from schedproof.testing import enqueue, step
from schedproof.traces.trace import Trace
from schedproof.zoo.chapter_faults import CHAPTER_FAULTS

FAULTS = {
    "progress-2": "preempt-forgets-tokens",
    "ledger-1": "preempt-returns-challengers-blocks",
    "ledger-2": "preempt-keeps-blocks",
    "victim-2": "protected-victim",
    "victim-2-aging": "protected-victim",
}
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCHEDPROOF_LANG", "en")
    (tmp_path / "mine.py").write_text(mended_file(), encoding="utf-8")
    return tmp_path


def found(name: str) -> Counterexample:
    (example,) = FOUND[name]().counterexamples
    return example


def text_of(kind: str, example: Counterexample, language: str = "en", **more: Any) -> str:
    trace = trace_to(example, **more)
    if kind == "pytest":
        return to_pytest(trace, example, language)
    return to_standalone(trace, example, language)


@pytest.mark.parametrize("kind", ["pytest", "standalone"])
@pytest.mark.parametrize("name", FOUND)
def test_it_fails_while_the_bug_is_there_and_passes_once_it_is_mended(
    kind: str, name: str, here: Path
) -> None:
    test = here / "test_it.py"
    test.write_text(text_of(kind, found(name)), encoding="utf-8")
    (here / "mine.py").write_text(broken_file(FAULTS[name]), encoding="utf-8")
    failure = failure_of(test)
    assert failure is not None
    assert failure.startswith("AssertionError")
    assert kind == "standalone" or found(name).claim in failure
    (here / "mine.py").write_text(mended_file(), encoding="utf-8")
    assert failure_of(test) is None


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["pytest", "standalone"])
def test_the_claim_is_its_name_and_the_story_its_docstring(kind: str, language: str) -> None:
    text = text_of(kind, found("progress-2"), language)
    tree = ast.parse(text)
    (test,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name[:5] == "test_")
    assert test.name == "test_progress_2_a_preempted_request_keeps_its_generated_tokens"
    story = ast.get_docstring(test) or ""
    assert tell(language)("story.how_to_get_there") in story
    assert max(len(line) for line in text.splitlines()) <= 100
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {name for name in imported if str(name).startswith(("schedproof", "schedmodel"))}
    assert ours == ({"schedproof.testing"} if kind == "pytest" else set())


def test_the_actions_are_those_of_the_trace() -> None:
    example = found("victim-2")
    text = text_of("pytest", example)
    lines = text[text.index("actions=[") :].splitlines()[1:-2]
    made = eval("[\n" + "\n".join(lines) + "\n]", {"enqueue": enqueue, "step": step})
    assert [to_json(action) for action in made] == list(example.actions)
    assert "enqueue(1, priority=1, required_blocks=2, preemptible=False),  # free 3" in text
    assert "step(),  # r1 preempted, r2 admitted, prefill → decode" in text


def test_the_asserts_are_the_guilty_fields() -> None:
    assert "    assert r1.generated_len == 1\n" in text_of("standalone", found("progress-2"))
    ledger = text_of("standalone", found("ledger-1"))
    assert "    assert scheduler.free_kv_blocks + held == 3\n" in ledger


def test_words_of_the_story_cannot_end_the_docstring() -> None:
    example = found("progress-2")
    values = {**example.values, "changes": 'x """ + \\N{nonsense} "'}
    ast.parse(text_of("pytest", replace(example, values=values)))
    for lines in (['"""', "x"], ['the "end"'], ['"'], ["\\"]):
        (made,) = ast.parse("\n".join(docstring(lines, ""))).body
        assert isinstance(made, ast.Expr)
        assert ast.literal_eval(made.value).rstrip("\n") == "\n".join(lines)


def test_the_class_is_found_from_another_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "tests").mkdir()
    (here / "mine.py").write_text(mended_file(), encoding="utf-8")
    test = here / "tests" / "test_it.py"
    example = found("ledger-1")
    for text in (
        to_pytest(trace_to(example), example, "en"),
        to_standalone(trace_to(example), example, "en", here / "tests"),
    ):
        test.write_text(text, encoding="utf-8")
        monkeypatch.chdir("/")
        assert failure_of(test) is None
        monkeypatch.chdir(here)


def test_a_module_and_a_factory_are_imported_by_name(here: Path) -> None:
    example = found("ledger-1")
    text = text_of("standalone", example, target="json:JSONDecoder")
    assert "from json import JSONDecoder" in text
    (here / "mine.py").write_text(mended_file() + FACTORY, encoding="utf-8")
    test = here / "test_it.py"
    for kind in ("pytest", "standalone"):
        test.write_text(text_of(kind, example, factory="mine.py:make"), encoding="utf-8")
        assert failure_of(test) is None


FACTORY = """

def make(policy, blocks, aging_interval):
    return DecodeSchedulerSim(policy, blocks, aging_interval)
"""


@pytest.mark.parametrize("target", ["fault:two-victims", "here.ipynb:A", "nowhere.at_all:A", "A"])
def test_what_cannot_be_imported_says_what_to_do(target: str, here: Path) -> None:
    (here / "here.ipynb").write_text("{}", encoding="utf-8")
    with pytest.raises(NotExportable) as caught:
        text_of("standalone", found("ledger-1"), target=target)
    assert caught.value.message_id == "export.no_import"
    assert "--pytest" in tell("en")(caught.value.message_id, **caught.value.values)


def test_what_no_single_run_shows_says_what_to_do() -> None:
    example = replace(found("ledger-1"), claim="ORDER-4", text="ORDER-4.blocks")
    with pytest.raises(NotExportable, match="not_standalone"):
        text_of("standalone", example)
    to_pytest(trace_to(example), None, "en")
    with pytest.raises(NotExportable, match=r"export\.claim_unknown"):
        to_pytest(trace_to(replace(example, claim="HIT-1")), None, "en")


def test_a_scheduler_of_batches_is_set_up_in_the_test() -> None:
    trace = trace_to(found("ledger-1"))
    trace = replace(trace, config=replace(trace.config, limits=Limits(2, 3, 6)))
    text = to_pytest(trace, None, "en")
    limits = '{"block_size": 2, "max_num_seqs": 3, "max_num_batched_tokens": 6}'
    assert f"        limits={limits},\n" in text
    with pytest.raises(NotExportable, match=r"not_standalone\.batches"):
        to_standalone(trace, found("ledger-1"), "en")


def test_a_loop_and_a_claim_of_a_file_are_named_in_the_test() -> None:
    lasso = {"request": 1, "stem": 2, "loop": 3}
    trace = replace(trace_to(found("ledger-1")), claim="LIVE-2", lasso=lasso)
    assert 'lasso={"request": 1, "stem": 2, "loop": 3},' in to_pytest(trace, None, "en")
    with pytest.raises(NotExportable, match="not_standalone"):
        to_standalone(trace, replace(found("ledger-1"), claim="LIVE-2", text="LIVE-2"), "en")
    trace = replace(trace, claim="HIT-1", lasso=None, claims_from="own.py")
    text = to_pytest(trace, None, "en")
    assert 'claims_from="own.py",' in text
    assert "def test_hit_1()" in text


def test_every_claim_that_a_fault_breaks_in_a_single_run_has_its_asserts() -> None:
    told = {text.partition(".")[0] for text in _CHECKS}
    broken = {fault.claim for fault in CHAPTER_FAULTS if fault.claim in BY_ID}
    assert {name for name in broken - told if BY_ID[name].kind is not Kind.RELATION} == set()
    breaches = {i.removeprefix("breach.") for i in catalogue("en") if i.startswith("breach.")}
    assert {*_CHECKS} - breaches == set()


def crash(trouble: str = "raised") -> Trace:
    trace = trace_to(found("ledger-1"))
    return replace(trace, verdict="error", claim=None, trouble=trouble, actions=({"op": "step"},))


def test_a_crash_is_a_test_too(here: Path) -> None:
    test = here / "test_it.py"
    test.write_text(to_pytest(crash(), None, "en"), encoding="utf-8")
    (here / "mine.py").write_text(broken_file("empty-step-raises"), encoding="utf-8")
    failure = str(failure_of(test))
    assert "mine.py" in failure
    assert "The actions until then" in failure
    (here / "mine.py").write_text(mended_file(), encoding="utf-8")
    assert failure_of(test) is None


def test_a_hang_is_no_test() -> None:
    with pytest.raises(NotExportable, match="no_test_of_trouble"):
        to_pytest(crash("hung"), None, "en")


def test_under_pytest_the_story_is_what_is_read(here: Path) -> None:
    (here / "mine.py").write_text(broken_file("preempt-forgets-tokens"), encoding="utf-8")
    for kind in ("pytest", "standalone"):
        text = text_of(kind, found("progress-2"))
        (here / f"test_{kind}.py").write_text(text, encoding="utf-8")
    path = f"{ROOT / 'model'}:{ROOT / 'invariants'}"
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "2 failed" in ended.stdout
    assert "But r1 also lost what it had already generated" in ended.stdout
    assert "assert 0 == 1" in ended.stdout
    assert TARGET in ended.stdout
