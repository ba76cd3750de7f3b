"""`dev.py` on machines that are not ready for it, and on one that is.

Nothing is installed here: the making of the environment is replaced by a stand-in. The
real one is what this very suite was started with.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


class Maker:
    """Stands in for `make_environment`; fails halfway when told to."""

    def __init__(self, dev: ModuleType) -> None:
        self.dev = dev
        self.made: list[bool] = []
        self.failure: BaseException | None = None

    def __call__(self, with_tools: bool) -> None:
        self.dev.VENV.mkdir()
        if self.failure is not None:
            raise self.failure
        self.made.append(with_tools)


@pytest.fixture
def maker(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Maker:
    maker = Maker(dev)
    monkeypatch.setattr(dev, "make_environment", maker)
    return maker


def test_parses_on_python_3_6(root: Path) -> None:
    ast.parse((root / "dev.py").read_text(encoding="utf-8"), feature_version=(3, 6))


def test_old_python_is_told_what_to_do(
    root: Path, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    script = "import runpy, sys; sys.version_info = (3, 6, 15); runpy.run_path('dev.py')"
    told = run(sys.executable, "-c", script, cwd=root)
    assert told.returncode == 1
    assert told.stderr.startswith("schedproof needs Python 3.10 or newer, and this is Python 3.6:")
    assert told.stderr.count("\n") == 1


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_missing_venv_is_one_sentence_and_leaves_nothing(
    dev: ModuleType,
    maker: Maker,
    module: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert dev.main(["check"]) == 1
    told = capsys.readouterr().err
    assert f"its module {module} is missing" in told
    assert "sudo apt install python{}.{}-venv".format(*sys.version_info[:2]) in told
    assert told.count("\n") == 1
    assert not dev.VENV.exists()


def test_complete_environment_is_used_again(dev: ModuleType, maker: Maker) -> None:
    dev.ensure_environment(with_tools=True)
    dev.ensure_environment(with_tools=True)
    dev.ensure_environment(with_tools=False)
    assert maker.made == [True]


def test_tools_are_added_when_tests_are_wanted(dev: ModuleType, maker: Maker) -> None:
    dev.ensure_environment(with_tools=False)
    dev.ensure_environment(with_tools=True)
    assert maker.made == [False, True]


def test_changed_project_is_installed_again(dev: ModuleType, maker: Maker) -> None:
    dev.ensure_environment(with_tools=False)
    (dev.ROOT / "pyproject.toml").write_text("[project]\nname = 'other'\n", encoding="utf-8")
    dev.ensure_environment(with_tools=False)
    assert maker.made == [False, False]


def test_half_made_environment_is_made_anew(dev: ModuleType, maker: Maker) -> None:
    dev.VENV.mkdir()
    leftover = dev.VENV / "leftover"
    leftover.touch()
    dev.ensure_environment(with_tools=False)
    assert maker.made == [False]
    assert not leftover.exists()


def test_linked_environment_loses_the_link_only(
    dev: ModuleType, maker: Maker, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    dev.VENV.symlink_to(elsewhere)
    dev.ensure_environment(with_tools=False)
    assert elsewhere.is_dir()
    assert not dev.VENV.is_symlink()


@pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()])
def test_failure_leaves_no_half_made_environment(
    dev: ModuleType, maker: Maker, failure: BaseException
) -> None:
    maker.failure = failure
    assert dev.main(["test"]) == (130 if isinstance(failure, KeyboardInterrupt) else 1)
    assert not dev.VENV.exists()


def test_failed_command_is_told_with_its_last_lines(dev: ModuleType) -> None:
    script = "import sys; print(*range(100), sep='\\n'); sys.exit(3)"
    with pytest.raises(dev.SetupError) as told:
        dev.run_quietly("install schedproof", sys.executable, "-c", script)
    lines = str(told.value).splitlines()
    assert lines[0] == "Could not install schedproof; its last lines were:"
    assert lines[1:] == [f"  {number}" for number in range(88, 100)]


def test_unknown_command_is_answered_with_the_usage(
    dev: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.main(["chek"]) == 2
    assert "usage: python3 dev.py check" in capsys.readouterr().err
    assert dev.main(["--help"]) == 0
    assert "usage: python3 dev.py check" in capsys.readouterr().out


@pytest.mark.parametrize(("pytest_says", "dev_says"), [(0, 0), (1, 1), (5, 5)])
def test_outcome_of_the_suite_is_the_outcome_of_pytest(
    dev: ModuleType,
    maker: Maker,
    monkeypatch: pytest.MonkeyPatch,
    pytest_says: int,
    dev_says: int,
) -> None:
    def run_module(*command: str) -> int:
        return pytest_says if "pytest" in command else 0

    monkeypatch.setattr(dev, "run_module", run_module)
    assert dev.main(["test"]) == dev_says
    assert dev.main(["test", "-k", "one"]) == dev_says


def test_only_the_whole_suite_is_measured(
    dev: ModuleType, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, ...]] = []

    def run_module(*command: str) -> int:
        ran.append(command)
        return 0

    monkeypatch.setattr(dev, "run_module", run_module)
    monkeypatch.setenv("COVERAGE_FILE", "")
    dev.main(["test"])
    whole = ran.copy()
    dev.main(["test", "-k", "one"])
    measured, unmeasured = whole
    covered = [Path(part.partition("=")[2]) for part in measured if part.startswith("--cov=")]
    assert [path.is_absolute() and path.name for path in covered] == ["model", "invariants"]
    assert Path(dev.os.environ["COVERAGE_FILE"]).is_absolute()
    assert not any(part.startswith("--cov") for part in unmeasured)
    assert (measured[-2:], unmeasured[-2:]) == (("-m", "not unmeasured"), ("-m", "unmeasured"))
    assert ran[2:] == [("pytest", "-k", "one")]


@pytest.mark.parametrize("failing", [0, 1])
def test_a_failure_in_one_part_of_the_suite_fails_it(
    dev: ModuleType, maker: Maker, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    said = [0, 0]
    said[failing] = 1
    monkeypatch.setenv("COVERAGE_FILE", "")
    monkeypatch.setattr(dev, "run_module", lambda *_command: said.pop(0))
    assert dev.main(["test"]) == 1
    assert not said


def test_browser_tests_are_a_command_of_their_own(
    dev: ModuleType, maker: Maker, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, ...]] = []

    def run_module(*command: str) -> int:
        ran.append(command)
        return 0

    monkeypatch.setattr(dev, "run_module", run_module)
    monkeypatch.setattr(dev.subprocess, "call", lambda *_command, **_how: 0)
    assert dev.main(["browser-tests", "-x"]) == 0
    assert ran == [("pytest", *dev.BROWSER_TESTS, "-x")]
    assert maker.made == [True]
    there = sorted(path.name for path in (root / "tests" / "browser").glob("browser_*.py"))
    assert [Path(name).name for name in dev.BROWSER_TESTS] == there


def test_documents_have_commands_of_their_own(
    dev: ModuleType, maker: Maker, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, ...]] = []

    def run_module(*command: str) -> int:
        ran.append(command)
        return 0

    monkeypatch.setattr(dev, "run_module", run_module)
    monkeypatch.setattr(dev.subprocess, "call", lambda *_command, **_how: 0)
    assert dev.main(["docs", "somewhere"]) == 0
    assert dev.main(["docs-tests", "-x"]) == 0
    assert ran == [("docs.site.build", "somewhere"), ("pytest", *dev.DOCS_TESTS, "-x")]
    there = [*(root / "tests").glob("docs/slow_*.py"), *(root / "tests").glob("lessons/slow_*.py")]
    assert sorted(dev.DOCS_TESTS) == sorted(str(path.relative_to(root)) for path in there)


def test_variables_that_lead_pip_astray_are_dropped(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    environment = dev.clean_environment()
    assert environment["PIP_USER"] == "0"
    assert "PYTHONPATH" not in environment
