"""The command in this process, away from anybody's configuration; and made-up results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from schedproof import api
from schedproof.cli.main import run as run_command
from schedproof.search.profiles import PROFILES, Profile
from schedproof.search.results import ClaimResult, RunResult
from schedproof.settings import resolve
from schedproof.telling.report import Summary


@dataclass(frozen=True)
class Said:
    """What a command came to: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, no variables of ours, an English locale, short searches."""
    for name in ("SCHEDPROOF_LANG", "LC_ALL", "LC_MESSAGES", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C")
    monkeypatch.setitem(PROFILES, "quick", Profile("quick", examples=12, actions=10))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command with these words."""

    def words(*arguments: str) -> Said:
        code = run_command(list(arguments))
        written = capsys.readouterr()
        assert "Traceback" not in written.out + written.err
        return Said(code, written.out, written.err)

    return words


def made_up(**fields: Any) -> RunResult:
    """A run that found nothing; any field can be given."""
    usual: dict[str, Any] = {
        "policy": "aging",
        "search": "random",
        "verdict": "no_violation_found",
        "identity": None,
        "bounds": {"requests": 3, "blocks": 3},
        "distinct_states": None,
        "transitions": 10,
        "depth": 5,
        "seconds": 0.1,
        "claims": (ClaimResult("LEDGER-1", "no_violation_found", 10),),
        "seed": 7,
        "examples": 1,
    }
    return RunResult(**{**usual, **fields})


Pretend = Callable[..., dict[str, Any]]


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Pretend:
    """Let searches come to these runs at once; gives back what was asked for."""

    def answer(*runs: RunResult) -> dict[str, Any]:
        heard: dict[str, Any] = {}

        def check(**said: Any) -> api.CheckResult:
            heard.update(said)
            asked = resolve({k: v for k, v in said.items() if k != "progress"})
            heard["asked"] = asked
            told = runs or (made_up(),)
            return api.CheckResult(Summary("mine", told, 0.2), asked["lang"] or "en")

        monkeypatch.setattr(api, "check", check)
        return heard

    return answer


@pytest.fixture
def make_run() -> Callable[..., RunResult]:
    """Makes up a run."""
    return made_up
