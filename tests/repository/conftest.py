"""What the tests of the repository share: its folder, its files, a wheel and `dev.py`.

Commands run here without coverage's variables: linters, builds and fresh environments
are not what coverage counts, and it would slow them down.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def run() -> Run:
    """Run a command to its end; its output is text, its exit code is the test's to judge."""
    own = ("COVERAGE_", "PYTHONPATH", "PYTHONHOME")
    env = {name: value for name, value in os.environ.items() if not name.startswith(own)}

    def run_command(*command: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in command]
        return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True)

    return run_command


@pytest.fixture(scope="session")
def repository_files(run: Run) -> list[Path]:
    """Every file that is committed or would be, relative to the root."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    assert listed.returncode == 0, listed.stderr
    names = {Path(name) for name in listed.stdout.split("\0") if name}
    return sorted(name for name in names if (ROOT / name).is_file())


@pytest.fixture(scope="session")
def wheel(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel made from the source archive, so that the archive is known to be whole."""
    folder = tmp_path_factory.mktemp("dist")
    built = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder)
    assert built.returncode == 0, built.stdout + built.stderr
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture
def dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """`dev.py` as a module whose project is an empty one in a temporary folder."""
    spec = importlib.util.spec_from_file_location("dev", ROOT / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv" / "stamp")
    return module
