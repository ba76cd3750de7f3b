"""What several formats read off a summary: labels of runs, titles of claims, where a class is.

Rules.
1. A run is named by its policy; where one policy was searched twice, by its search as well.
2. A place is found by reading files, never by running them: a report must not start the
   scheduler again. What cannot be found that way is left out.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from schedmodel import __version__
from schedproof.search.results import ClaimResult, Counterexample, RunResult, Verdict
from schedproof.subjects.load_errors import TargetError
from schedproof.subjects.targets import Target, parse_target
from schedproof.telling.messages import Say
from schedproof.telling.report import Summary
from schedproof.telling.story import Story, title_of
from schedproof.traces.itf import empty_itf_text, to_itf_text
from schedproof.traces.trace import Trace

CLEAN = frozenset(
    verdict.value
    for verdict in (
        Verdict.HOLDS_WITHIN_BOUNDS,
        Verdict.NO_VIOLATION_REDUCED,
        Verdict.NO_VIOLATION_FOUND,
    )
)


def labels(say: Say, runs: Sequence[RunResult]) -> list[str]:
    """A name for each run, different for each."""
    policies = [run.policy for run in runs]
    return [
        run.policy
        if policies.count(run.policy) == 1
        else f"{run.policy}, {say(f'search.{run.search}')}"
        for run in runs
    ]


def claim_title(say: Say, run: RunResult, claim: str) -> str:
    """The claim as a positive sentence; "" where nobody wrote one."""
    return run.own_claims.get(claim, {}).get("title", "") or title_of(say, claim)


def found_for(run: RunResult, claim: ClaimResult) -> Counterexample | None:
    """The counterexample that tells this claim, or else one that broke it as well."""
    own = (found for found in run.counterexamples if found.claim == claim.id)
    also = (found for found in run.counterexamples if claim.id in found.also_broken)
    return next(iter([*own, *also]), None)


def counterexamples(summary: Summary) -> Iterator[tuple[RunResult, Counterexample]]:
    """Every violation with the run that found it."""
    for run in summary.runs:
        for found in run.counterexamples:
            yield run, found


def in_short(story: Story) -> str:
    """What went wrong, as one line: what the action did, and what it broke."""
    line = ""
    for sentence in story.wrong:
        line += (" " if line and line[-1].isascii() else "") + sentence
    return line


@dataclass(frozen=True)
class CodePlace:
    """A file as a path from the current folder where it lies below it, and a line from 1."""

    path: str
    line: int


def place_of(subject: str) -> CodePlace | None:
    """Where the class that a target names is defined; None if that is not known."""
    try:
        target = parse_target(subject)
    except TargetError:
        return None
    file = _file_of(target)
    if file is None:
        return None
    return CodePlace(shown_path(file), _line_of(file, target.name))


def shown_path(file: Path) -> str:
    """The path from the current folder, or the whole path of a file that lies elsewhere."""
    try:
        return file.resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return file.as_posix()


def _file_of(target: Target) -> Path | None:
    if target.kind != "module":
        return target.path
    parts = target.where.split(".")
    for folder in (Path.cwd(), *map(Path, sys.path)):
        for file in (
            folder.joinpath(*parts).with_suffix(".py"),
            folder.joinpath(*parts, "__init__.py"),
        ):
            if file.is_file():
                return file
    return None


def _line_of(file: Path, name: str) -> int:
    """The line that defines the class; 1 where that cannot be read."""
    if file.suffix == ".ipynb" or not name:
        return 1
    try:
        tree: ast.AST = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return 1
    for part in name.split("."):
        defined = [node for node in ast.walk(tree) if getattr(node, "name", None) == part]
        if not defined:
            return 1
        tree = defined[0]
    return int(getattr(tree, "lineno", 1))


def trace_of(summary: Summary, run: RunResult, found: Counterexample) -> Trace:
    """The trace of a violation: what a person takes again, by its id."""
    return Trace.of(found, summary.subject, __version__, run=run)


def first_as_itf(summary: Summary) -> str:
    """The first violation as ITF, which holds one trace; the start alone where there is none."""
    for run, found in counterexamples(summary):
        return to_itf_text(trace_of(summary, run, found), found.frames)
    return empty_itf_text(summary.subject)
