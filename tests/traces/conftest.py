"""Traces made by hand and kept in a folder of their own, and the command beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli.main import run as run_command
from schedproof.subjects.actions import STEP, Action, Enqueue, to_json
from schedproof.subjects.contract import Config
from schedproof.traces.store import Kept, Store
from schedproof.traces.trace import Provenance, Trace
from schedproof.zoo.chapter_faults import BY_NAME
from schedproof.zoo.faults import exported

FORGETS = "preempt-forgets-tokens"


def enqueue(request_id: int, blocks: int = 1, **more: Any) -> Enqueue:
    """A request with a prompt of one token."""
    return Enqueue(request_id, 1, required_blocks=blocks, **more)


LOSES_A_TOKEN: list[Action] = [
    enqueue(0, 2),
    STEP,
    STEP,
    enqueue(1, 2, max_new_tokens=1, priority=1),
    STEP,
]


def trace_of(
    subject: str = f"fault:{FORGETS}",
    actions: list[Action] | None = None,
    claim: str | None = "PROGRESS-2",
    policy: str = "fixed_priority",
    **more: Any,
) -> Trace:
    """A trace of the fault that forgets tokens; everything can be given."""
    usual: dict[str, Any] = {
        "subject": subject,
        "fingerprint": None,
        "config": Config(policy, 3, 2),
        "actions": tuple(map(to_json, LOSES_A_TOKEN if actions is None else actions)),
        "verdict": "error" if claim is None else "violated",
        "claim": claim,
        "also_broken": (),
        "shortest": True,
        "provenance": Provenance("0.1.0", "exhaustive", None, {"requests": 3, "blocks": 3}),
        "trouble": "raised" if claim is None else None,
    }
    return Trace(**{**usual, **more})


@dataclass(frozen=True)
class Said:
    """What a command came to: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]
Keep = Callable[..., Kept]


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, no variables of ours, an English locale."""
    for name in ("SCHEDPROOF_LANG", "LC_ALL", "LC_MESSAGES", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def keep(alone: Path) -> Keep:
    """Keeps a trace; takes what `trace_of` takes."""

    def make(**fields: Any) -> Kept:
        return Store().save(trace_of(**fields))

    return make


@pytest.fixture
def broken_file(alone: Path) -> Path:
    """A file of its own with the fault that forgets tokens."""
    path = alone / "mine.py"
    path.write_text(exported(BY_NAME[FORGETS]), encoding="utf-8")
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command with these words."""

    def words(*arguments: str) -> Said:
        code = run_command(list(arguments))
        written = capsys.readouterr()
        assert "Traceback" not in written.out + written.err
        return Said(code, written.out, written.err)

    return words
