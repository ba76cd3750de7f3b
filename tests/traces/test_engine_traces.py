"""A kept trace of an engine that nobody here wrote: taken again, explained, made smaller."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from schedproof.cli.main import run
from schedproof.engines.named import EngineTarget
from schedproof.engines.source import engine_source
from schedproof.subjects.contract import Config, Limits, PolicyRefused

TINY = Path(__file__).resolve().parents[1] / "engines" / "tiny"
RIGHT, WRONG = "len(batch) == self.config.max_num_seqs", "len(batch) > self.config.max_num_seqs"
TARGET = "nano-vllm:tiny"
Say = Callable[..., tuple[int, str]]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """Types a command in a folder with an engine that lets in one request too many."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(TINY, tmp_path / "tiny")
    edit(RIGHT, WRONG)

    def typed(*words: str) -> tuple[int, str]:
        code = run(list(words))
        return code, capsys.readouterr().out

    return typed


def edit(old: str, new: str) -> None:
    """Put another text into the engine."""
    file = Path("tiny/engine/scheduler.py")
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_a_trace_of_an_engine_is_kept_and_taken_again(say: Say) -> None:
    code, text = say("check", TARGET, "--claims", "BATCH")
    assert code == 1
    assert "schedproof replay BATCH-1-" in text

    code, text = say("replay")
    assert code == 1
    assert "still broken" in text
    assert "Its source is the same as when this trace was found." in " ".join(text.split())

    edit(WRONG, RIGHT)
    code, text = say("replay", "--json")
    (replayed,) = json.loads(text)["replays"]
    assert (code, replayed["status"], replayed["edited"]) == (0, "fixed", True)


def test_it_is_explained_by_what_was_seen_and_by_no_rules_of_ours(say: Say) -> None:
    say("check", TARGET, "--claims", "BATCH")
    code, text = say("explain")
    assert code == 0
    assert "gets token" in text
    assert "rules" not in text

    code, text = say("explain", "--lang", "zh")
    assert "个 token 的计算" in text
    assert "规则" not in text


def test_it_is_made_smaller_compared_and_exported(say: Say) -> None:
    say("check", TARGET, "--claims", "BATCH")
    code, text = say("minimize")
    assert code == 0
    assert "BATCH-1" in text

    shutil.copytree("tiny", "other/tiny")
    code, text = say("diff", TARGET, "nano-vllm:other/tiny")
    assert code == 0

    code, text = say("export", "--pytest")
    assert code == 0
    space: dict[str, object] = {}
    exec(compile(text, "test_it.py", "exec"), space)
    (test,) = [made for name, made in space.items() if name.startswith("test_")]
    assert callable(test)
    with pytest.raises(AssertionError, match="BATCH-1"):
        test()


def test_a_trace_under_another_policy_does_not_fit(say: Say) -> None:
    say("check", "fault:known-before-it-is-computed", "--policy", "fixed_priority", "--time", "5m")
    code, text = say("replay", "--on", TARGET)
    assert code == 5
    assert "this engine is fcfs" in text


def test_an_engine_without_a_package_has_no_fingerprint(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from schedproof.engines.paged_model import PagedModel\nclass Mine(PagedModel): pass\n",
        encoding="utf-8",
    )
    target = EngineTarget("adapter", str(file), f"adapter:{file}")
    loaded = engine_source(target).load(lambda _part: None)
    assert loaded.fingerprint is None
    start = loaded.subject
    assert start(loaded.make, Config("fcfs", 2, 2, Limits())).observe().capacity == 2
    with pytest.raises(PolicyRefused):
        start(loaded.make, Config("aging", 2, 2, Limits()))
