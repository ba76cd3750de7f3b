"""Every command of README and docs is typed, in a copy of the repository, and does not fail.

Rules.
1. These tests have a command of their own (`python3 dev.py docs-tests`). A line of a `sh` fence
   is typed as it stands, in a folder with what its page speaks of; the comment behind it stays.
2. `ENDS` says where another exit code than 0 or 1 is right: 1 is a violation that was found.
3. `NOT_TYPED` has the lines that are left out, each with its reason. A line of it that stands
   on no page any more is an error.
4. Settings are tried as settings, and the commands in files for CI services are typed.
5. What a `console` fence shows is made by a program and compared by `test_documents.py`; here
   it is only seen to that every one of them is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest
from docs.site.pages import LANGUAGES, all_pages, file_of
from docs.translations import MADE
from tests.docs.conftest import DOCUMENTS, ROOT, name_of

from schedproof.learn.writing import ALL, as_notebook, as_python

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TOML = re.compile(r"^```toml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
YAML = re.compile(r"^```yaml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CONSOLE = re.compile(r"^```console\n", re.MULTILINE)
NOT_TYPED = {
    "git clone <": "needs the network; what follows it is what CI begins with",
    "nano-vllm:": "needs a checkout of the engine",
    "tests/engines/vllm.sh": "installs a large engine, from the network",
    "adapter:my_fork.py": "needs an engine of the reader's",
    "python -m pytest tests/conformance": "a part of the suite, typed by the command of the suite",
    "python tests/bench": "measures minutes of processor time",
    "--scope medium": "the same search as without, minutes longer",
}
STANDS_FOR = {"FILE.py:CLASS": "examples/lost_progress.py:LostProgress"}
ENDS = {"learn check homework": (0, 1, 3), "--liveness": (0, 1, 2), "learn lesson 1 answer": (0,)}
PAGES = sorted({*DOCUMENTS, *(file_of(page, lang) for page in all_pages() for lang in LANGUAGES)})


def lines_of(page: Path) -> list[str]:
    """The commands of a page, each on one line."""
    text = MADE.sub("", page.read_text(encoding="utf-8"))
    fences = "".join(SHELL.findall(text)).replace("\\\n", " ")
    return [line for line in fences.splitlines() if line.strip() and not line.startswith("#")]


def left_out(line: str) -> str | None:
    """Why a line is not typed; None for one that is."""
    return next((why for part, why in NOT_TYPED.items() if part in line), None)


TYPED = [page for page in PAGES if any(left_out(line) is None for line in lines_of(page))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the repository's files, and what the pages take for granted."""
    place = tmp_path / "work"
    unwanted = ignore_patterns(".*", "__pycache__", "build")
    for part in ("examples", "tests/data", "tests/engines"):
        copytree(ROOT / part, place / part, ignore=unwanted)
    solved = as_python("en", "my_scheduler.py", ALL)
    renamed = solved.replace("DecodeSchedulerSim", "MyScheduler")
    (place / "my_scheduler.py").write_text(renamed, encoding="utf-8")
    (place / "my_package").mkdir()
    (place / "my_package" / "__init__.py").touch()
    (place / "my_package" / "engine.py").write_text(renamed, encoding="utf-8")
    notebook = as_notebook("en", ALL).replace("DecodeSchedulerSim", "MyScheduler")
    (place / "notebook.ipynb").write_text(notebook, encoding="utf-8")
    make = "from my_scheduler import MyScheduler\n\n\ndef make(policy, blocks, aging_interval):\n"
    make += "    return MyScheduler(policy, blocks, aging_interval)\n"
    (place / "setup.py").write_text(make, encoding="utf-8")
    answer = "def run(s):\n    s.enqueue(0, 4, max_new_tokens=2, required_blocks=3)\n    s.step()\n"
    answer += "    s.step()\n    s.enqueue(1, 4, priority=1, required_blocks=3)\n    s.run()\n"
    (place / "answer.py").write_text(answer, encoding="utf-8")
    return place


def typed(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The line as a shell does it; `schedproof` is this checkout's."""
    script = folder.parent / "bin" / "schedproof"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m schedproof "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    sources = [str(ROOT / part) for part in ("model", "invariants")]
    env = {name: value for name, value in os.environ.items() if not name.startswith("SCHEDPROOF")}
    env["PATH"] = os.pathsep.join(
        [str(script.parent), str(Path(sys.executable).parent), env["PATH"]]
    )
    env["PYTHONPATH"] = os.pathsep.join(sources)
    env["SCHEDPROOF_TIME"] = "10m"
    for word, meant in STANDS_FOR.items():
        line = line.replace(word, meant)
    return subprocess.run(
        ["/bin/sh", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=900
    )


@pytest.mark.parametrize("page", TYPED, ids=name_of)
def test_commands_do_not_fail(page: Path, folder: Path) -> None:
    (folder / "homework.ipynb").write_bytes((folder / "notebook.ipynb").read_bytes())
    typed("schedproof check examples/lost_progress.py:LostProgress --policy aging", folder)
    for line in lines_of(page):
        if left_out(line) is not None:
            continue
        if "learn new homework" in line:
            (folder / "homework.ipynb").unlink()
        done = typed(line, folder)
        allowed = next((codes for part, codes in ENDS.items() if part in line), (0, 1))
        assert done.returncode in allowed, f"{line}\n{done.stdout[-800:]}\n{done.stderr[-800:]}"
        assert "Traceback" not in done.stderr, line


@pytest.mark.parametrize(
    "page", [page for page in PAGES if TOML.search(page.read_text("utf-8"))], ids=name_of
)
def test_settings_are_settings(page: Path, folder: Path) -> None:
    (settings,) = TOML.findall(page.read_text(encoding="utf-8"))
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
    _put_scheduler(folder / "src" / "engine" / "scheduler.py", folder)
    done = typed("schedproof check --requests 2 --scope small", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "src/engine/scheduler.py:Scheduler" in done.stdout


@pytest.mark.parametrize(
    "page", [page for page in PAGES if YAML.search(page.read_text("utf-8"))], ids=name_of
)
def test_commands_in_the_files_of_ci_services(page: Path, folder: Path) -> None:
    _put_scheduler(folder / "src" / "scheduler.py", folder)
    fences = "".join(YAML.findall(page.read_text(encoding="utf-8")))
    commands = re.findall(r"^ *- (schedproof [^\n]+)$", fences, re.MULTILINE)
    args = re.findall(r"^ *args: ([^\n]+)$", fences, re.MULTILINE)
    commands += [f"schedproof check src/scheduler.py:Scheduler {each}" for each in args]
    assert commands
    for line in commands:
        done = typed(f"{line} --requests 2", folder)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


def _put_scheduler(path: Path, folder: Path) -> None:
    path.parent.mkdir(parents=True)
    text = (folder / "my_scheduler.py").read_text(encoding="utf-8")
    path.write_text(text.replace("MyScheduler", "Scheduler"), encoding="utf-8")


def test_lines_that_are_left_out_are_there() -> None:
    lines = [line for page in PAGES for line in lines_of(page)]
    assert [part for part in NOT_TYPED if not any(part in line for line in lines)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_console_shows_is_made_by_a_program(page: Path) -> None:
    assert not CONSOLE.search(MADE.sub("", page.read_text(encoding="utf-8")))
