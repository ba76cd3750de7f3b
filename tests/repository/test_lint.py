"""The judges of style, types and floors, one test each, configured in pyproject.toml."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

JUDGES = {
    "ruff finds nothing": ["ruff", "check"],
    "ruff would format nothing": ["ruff", "format", "--check"],
    "mypy finds nothing": ["mypy"],
    "pyright finds nothing": ["pyright", "--pythonpath", sys.executable],
    "no import goes upward": ["lint-imports", "--no-cache", "--no-logo"],
}


@pytest.mark.unmeasured
@pytest.mark.parametrize("command", JUDGES.values(), ids=JUDGES.keys())
def test_judge(
    command: list[str], run: Callable[..., subprocess.CompletedProcess[str]], root: Path
) -> None:
    judge = Path(sysconfig.get_path("scripts")) / command[0]
    verdict = run(judge, *command[1:], cwd=root)
    if verdict.returncode != 0:
        said = verdict.stdout + verdict.stderr
        pytest.fail(f"{' '.join(command[:2])} says no\n{said}", pytrace=False)
