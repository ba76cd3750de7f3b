"""Mutants of the claims and the searches: the small changes to them that no test notices.

`python -m tests.mutation claims` (or `search`) copies the packages and the tests into a scratch
folder, lets mutmut change one thing after the other there, and prints every mutant that no test
killed, as a difference. It takes hours on two processors, and is no part of the test suite. With
`--known` only those are printed that `survivors.json` beside this file does not explain.

Rules. The packages are laid side by side, because mutmut finds names of modules from folders. Tests
that read our own source text are left out: a mutated file holds every mutant at once.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SURVIVORS = Path(__file__).with_name("survivors.json")
TESTS = {
    "claims": ["tests/claims"],
    "search": ["tests/search", "tests/exhaustive", "tests/liveness"],
}
READS_SOURCE = [
    "tests/claims/test_edge_claims.py::test_every_text_that_tells_a_breach_is_brought_about",
    "tests/claims/test_run_claims.py::test_every_text_that_tells_a_breach_is_brought_about",
]
IN_CHILDREN = ["tests/claims/test_own_claims.py", "tests/search/test_interrupts.py"]
"""Files whose subjects run in processes of their own, where no mutant is chosen."""


def main() -> int:
    """Run what was asked for; 1 if a mutant survives that nobody has explained."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("package", choices=TESTS)
    parser.add_argument("--only", default="*", help="modules, as in 'victim*'")
    parser.add_argument("--known", action="store_true", help="print only what is not explained")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        scratch = Path(folder)
        lay_out(scratch, asked.package, asked.only)
        mutmut(scratch, "run", "--max-children", str(os.cpu_count() or 1))
        alive = survivors(scratch)
        explained = json.loads(SURVIVORS.read_text("utf-8")) if asked.known else {}
        unknown = [name for name in alive if name not in explained]
        for name in unknown:
            sys.stdout.write(f"{name}\n{difference(scratch, name)}\n")
    sys.stdout.write(f"{len(alive)} survived, {len(unknown)} of them without explanation\n")
    return bool(unknown)


def lay_out(scratch: Path, package: str, only: str) -> None:
    """The packages, the tests and a configuration, as mutmut needs them."""
    shutil.copytree(ROOT / "model" / "schedmodel", scratch / "schedmodel")
    shutil.copytree(ROOT / "invariants" / "schedproof", scratch / "schedproof")
    for name in ("tests", "examples", "docs"):
        shutil.copytree(ROOT / name, scratch / name)
    ours = (ROOT / "pyproject.toml").read_text("utf-8")
    options = re.search(r"^\[tool\.pytest\.ini_options\]\n.*?(?=^\[)", ours, re.M | re.S)
    assert options is not None
    left_out = [f"--deselect={name}" for name in READS_SOURCE]
    left_out += [f"--ignore={name}" for name in IN_CHILDREN]
    settings = {
        "source_paths": ["schedproof", "schedmodel"],
        "only_mutate": [f"schedproof/{package}/{only}"],
        "pytest_add_cli_args_test_selection": TESTS[package],
        "pytest_add_cli_args": left_out,
        "also_copy": ["tests", "examples", "docs"],
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    text = "\n".join([options[0], "[tool.mutmut]", *lines, ""])
    (scratch / "pyproject.toml").write_text(text, "utf-8")


def mutmut(scratch: Path, *words: str) -> str:
    """What the mutation tester prints; its own progress goes to standard error."""
    command = [sys.executable, "-m", "mutmut", *words]
    output = None if words[0] == "run" else subprocess.PIPE
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=scratch, env=env, stdout=output or sys.stderr, text=True)
    return done.stdout or ""


def survivors(scratch: Path) -> list[str]:
    """Names of the mutants that a test reached and none noticed."""
    lines = (line.partition(":") for line in mutmut(scratch, "results").splitlines())
    return [name.strip() for name, _, fate in lines if fate.strip() == "survived"]


def difference(scratch: Path, name: str) -> str:
    """The changed lines of a mutant."""
    lines = mutmut(scratch, "show", name).splitlines()
    return "\n".join(f"    {line}" for line in lines if re.match(r"[-+](?![-+])", line))


if __name__ == "__main__":
    sys.exit(main())
