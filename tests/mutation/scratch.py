"""A scratch folder in which mutmut changes one module, and what came of each change.

Rules.
1. The packages are laid side by side, because mutmut finds names of modules from folders. Tests
   that read our own source text are left out: a mutated file holds every mutant at once.
2. mutmut asks a mutant by the tests that reach its function, quickest first, until one fails. A
   function that none reaches is asked by all tests of its module.
3. Where no test reaches any function, none can be asked: what runs when a module is imported runs
   before a mutant is chosen.
4. A mutant that makes a test run out of time is noticed, and counted apart.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
READS_SOURCE = [
    "tests/claims/test_edge_claims.py::test_every_text_that_tells_a_breach_is_brought_about",
    "tests/claims/test_run_claims.py::test_every_text_that_tells_a_breach_is_brought_about",
]
TAKES_LONG = ["tests/exhaustive/test_options.py::test_a_slow_scheduler_is_stopped_in_time"]
"""It waits, and is about time: every survivor would cost it."""
NOBODY = "nobody.*"
"""A name that no mutant has."""


@dataclass
class Came:
    """What came of the mutants of a module."""

    mutants: int = 0
    killed: int = 0
    timed_out: int = 0
    survived: list[str] = field(default_factory=list[str])

    def to_json(self) -> dict[str, Any]:
        """As it stands in the record."""
        return asdict(self)


class Scratch:
    """A copy of what the tests need, of which one module is mutated."""

    def __init__(self, folder: Path, package: str, module: str, tests: list[str]) -> None:
        self.folder = folder
        self.module = f"schedproof/{package}/{module}.py"
        for source in ("model/schedmodel", "invariants/schedproof", "tests", "examples", "docs"):
            shutil.copytree(ROOT / source, folder / Path(source).name)
        (folder / "pyproject.toml").write_text(self._settings(tests), "utf-8")

    def _settings(self, tests: list[str]) -> str:
        ours = (ROOT / "pyproject.toml").read_text("utf-8")
        options = re.search(r"^\[tool\.pytest\.ini_options\]\n.*?(?=^\[)", ours, re.M | re.S)
        assert options is not None
        words = [f"--deselect={name}" for name in (*READS_SOURCE, *TAKES_LONG)]
        words += ["-p", "tests.mutation.in_process"]
        settings = {
            "source_paths": ["schedproof", "schedmodel"],
            "only_mutate": [self.module],
            "pytest_add_cli_args_test_selection": tests,
            "pytest_add_cli_args": words,
            "also_copy": ["tests", "examples", "docs"],
            "timeout_multiplier": 4.0,
            "timeout_constant": 3.0,
            "use_git_change_detection": False,
        }
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        return "\n".join([options[0], "[tool.mutmut]", *lines, ""])

    def run(self, children: int) -> Came:
        """Change one thing after the other; what the tests said to each."""
        said = self._mutmut("run", "--max-children", str(children), NOBODY)  # learns who asks what
        names = self._names()
        if not names:
            raise SystemExit(f"No mutant was made of {self.module}:\n{said[-3000:]}")
        if not self._let_all_tests_ask_what_none_reached(names):
            return Came(len(names), survived=names)
        self._mutmut("run", "--max-children", str(children))
        fates = [line.split(":") for line in self._mutmut("results", "--all", "true").splitlines()]
        came = Came(len(names))
        for name, fate in ((words[0].strip(), words[1].strip()) for words in fates if words[1:]):
            if fate in ("killed", "segfault"):
                came.killed += 1
            elif fate == "timeout":
                came.timed_out += 1
            else:
                came.survived.append(name if fate == "survived" else f"{name} ({fate})")
        return came

    def _names(self) -> list[str]:
        """The mutants of the module."""
        about = self.folder / "mutants" / f"{self.module}.meta"
        return [*json.loads(about.read_text("utf-8"))["exit_code_by_key"]] if about.exists() else []

    def _let_all_tests_ask_what_none_reached(self, names: list[str]) -> bool:
        """Give functions without tests all that there are; False if no test reaches anything."""
        path = self.folder / "mutants" / "mutmut-stats.json"
        if not path.exists():
            return False
        known = json.loads(path.read_text("utf-8"))
        asked = known["tests_by_mangled_function_name"]
        for name in names:
            asked.setdefault(name.partition("__mutmut_")[0], [*known["duration_by_test"]])
        path.write_text(json.dumps(known), "utf-8")
        return True

    def difference(self, name: str) -> str:
        """The changed lines of a mutant."""
        lines = self._mutmut("show", name).splitlines()
        return "\n".join(f"    {line}" for line in lines if re.match(r"[-+](?![-+])", line))

    def _mutmut(self, *words: str) -> str:
        """What the mutation tester prints."""
        command = [sys.executable, "-m", "mutmut", *words]
        ours = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")  # compiled tests are kept: it is quicker
        env = {name: value for name, value in os.environ.items() if name not in ours}
        done = subprocess.run(
            command, cwd=self.folder, env=env, capture_output=True, text=True, check=False
        )
        if done.returncode and NOBODY not in words:  # which ends in an error, having learnt
            raise SystemExit(f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout
