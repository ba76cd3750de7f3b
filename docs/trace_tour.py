"""A tour of what can be done with a kept trace, as the documents tell it.

Rules. The commands are really typed, in a folder of their own that holds a copy of the
examples: the broken one is checked, its trace is explained and compared with the model, and
then the wrong line is taken out and the trace is replayed. What is printed is shown whole.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
BROKEN = "examples/lost_progress.py"
WRONG_LINE = "the wrong line:"


@contextmanager
def folder_with_examples() -> Generator[Path]:
    """A folder of its own with a copy of the examples, away from all settings."""
    with TemporaryDirectory() as name:
        copytree(ROOT / "examples", Path(name) / "examples")
        yield Path(name)


def typed(folder: Path, words: str) -> subprocess.CompletedProcess[str]:
    """`schedproof` with these words in that folder."""
    ours = ("SCHEDPROOF_", "LC_", "LANG", "COLUMNS")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    env["SCHEDPROOF_TIME"] = "10m"  # what is written down must not depend on the machine
    command = [sys.executable, "-m", "schedproof", *words.split()]
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", check=False
    )


@cache
def tour(lang: str) -> dict[str, str]:
    """Each part of the tour by name: the commands with what they print."""
    spoken = " --lang zh" if lang == "zh" else ""
    with folder_with_examples() as folder:
        typed(folder, f"check {BROKEN}:LostProgress --policy fixed_priority")
        (kept,) = (folder / ".schedproof").iterdir()
        trace = kept.name.removesuffix(".json")
        told = {"kept_trace": f"```json\n{kept.read_text(encoding='utf-8')}```"}
        told["explained"] = _shown(folder, f"explain {trace} --step 5{spoken}")
        told["parted"] = _shown(folder, f"diff {trace} model{spoken}")
        broken = folder / BROKEN
        lines = broken.read_text(encoding="utf-8").splitlines(keepends=True)
        broken.write_text("".join(li for li in lines if WRONG_LINE not in li), encoding="utf-8")
        told["replayed"] = _shown(folder, f"replay {trace}{spoken}")
        told["replayed_all"] = _shown(folder, f"replay --all{spoken}")
    return told


def _shown(folder: Path, words: str) -> str:
    return f"```console\n$ schedproof {words}\n{typed(folder, words).stdout.rstrip()}\n```"


def kept_trace(lang: str) -> str:
    """The file of a trace, whole."""
    return tour(lang)["kept_trace"]


def explained(lang: str) -> str:
    """One step of it explained."""
    return tour(lang)["explained"]


def parted(lang: str) -> str:
    """The broken scheduler and the model on its actions."""
    return tour(lang)["parted"]


def replayed(lang: str) -> str:
    """The trace after the wrong line was taken out."""
    return tour(lang)["replayed"]


def replayed_all(lang: str) -> str:
    """The same as a regression run."""
    return tour(lang)["replayed_all"]


MAKERS = (kept_trace, explained, parted, replayed, replayed_all)
