"""What users install: two packages and nothing else, whole, and working from any folder."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
DATA = (
    "schedproof/telling/messages/zh.json",
    "schedproof/telling/schema/check.schema.json",
    "schedproof/telling/schema/hunt.schema.json",
    "schedproof/search/exhaustive/scopes/default.json",
    "schedproof/search/exhaustive/scopes/scope.schema.json",
)
SOURCES = (Path("model/schedmodel"), Path("invariants/schedproof"))

pytestmark = pytest.mark.unmeasured


@pytest.fixture(scope="module")
def names_in_wheel(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


@pytest.fixture(scope="module")
def fresh_python(wheel: Path, run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that has the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    made = run(sys.executable, "-m", "venv", folder)
    assert made.returncode == 0, made.stdout + made.stderr
    python = folder / "bin" / "python"
    installed = run(python, "-m", "pip", "install", "--quiet", "--no-compile", wheel)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    return python


def test_wheel_has_two_packages_and_its_metadata(names_in_wheel: set[str], wheel: Path) -> None:
    distribution = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    tops = {name.split("/")[0] for name in names_in_wheel}
    assert tops == {"schedmodel", "schedproof", distribution}


def test_wheel_holds_the_packages_whole(
    names_in_wheel: set[str], repository_files: list[Path]
) -> None:
    """Code, type marks and data alike: what is in the packages' folders, and no more."""
    expected = {
        str(name.relative_to(source.parent))
        for source in SOURCES
        for name in repository_files
        if source in name.parents
    }
    held = {name for name in names_in_wheel if ".dist-info/" not in name}
    assert held == expected
    assert {"schedmodel/py.typed", "schedproof/py.typed"} <= held
    assert set(DATA) <= held


def test_wheel_carries_its_licence(names_in_wheel: set[str]) -> None:
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names_in_wheel)


def test_installed_command_checks_the_built_in_model(
    fresh_python: Path, run: Run, tmp_path: Path
) -> None:
    words = ("check", "--quiet", "--time", "5m")
    checked = run(fresh_python.with_name("schedproof"), *words, cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("folder", ["model", "invariants"])
def test_source_folders_are_not_importable(
    fresh_python: Path, run: Run, tmp_path: Path, folder: str
) -> None:
    imported = run(fresh_python, "-c", f"import {folder}", cwd=tmp_path)
    assert f"No module named '{folder}'" in imported.stderr
