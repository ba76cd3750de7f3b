"""Mutants of the claims and the searches: the small changes to them that no test notices.

    python -m tests.mutation claims                    every module of the claims
    python -m tests.mutation search --only 'lasso*'    some modules of the searches
    python -m tests.mutation search --missing          those that the record does not have

Each module is copied into a scratch folder, where mutmut changes one thing after the other; what
no test noticed is printed as a difference, unless `survivors.json` beside this file explains it.
The numbers of each module go into `results.json` when it is done, so a run that is stopped is
taken up by `--missing`. A module takes minutes; none of this is part of the test suite.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import sys
import tempfile
from pathlib import Path

from tests.mutation import record
from tests.mutation.scratch import Scratch
from tests.mutation.selection import tests_of


def main() -> int:
    """Run what was asked for; 1 if a mutant survives that nobody has explained."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("package", choices=("claims", "search"))
    parser.add_argument("--only", default="*", help="modules, as in 'victim*'")
    parser.add_argument("--missing", action="store_true", help="only what was not run yet")
    parser.add_argument("--children", type=int, default=os.cpu_count() or 1, metavar="N")
    asked = parser.parse_args()
    unknown = 0
    for module, tests in tests_of(asked.package).items():
        if not fnmatch.fnmatch(module.rpartition("/")[2], asked.only):
            continue
        if not (asked.missing and module in record.results().get(asked.package, {})):
            unknown += run(asked.package, module, tests, asked.children)
    return bool(unknown)


def run(package: str, module: str, tests: list[str], children: int) -> int:
    """Run a module, print and record what came of it; how many survivors nobody explained."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        scratch = Scratch(Path(folder) / "all", package, module, tests)
        came = scratch.run(children)
        unknown = [name for name in came.survived if name not in record.explained()]
        for name in unknown:
            say(f"{name}\n{scratch.difference(name.partition(' ')[0])}\n")
    record.keep(package, module, came)
    say(f"{package}/{module}: {came.mutants} mutants, {came.killed} killed,")
    say(f" {came.timed_out} out of time, {len(came.survived)} survived,")
    say(f" {len(unknown)} without explanation\n")
    return len(unknown)


def say(text: str) -> None:
    """Print at once: a run takes long."""
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
