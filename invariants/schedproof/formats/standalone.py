"""A trace as a test for pytest without our library: the user's class and plain asserts.

Rules.
1. Every call is written out with all its arguments, so that the test depends on nobody's
   defaults; what must hold afterwards comes from `asserts`.
2. The class is imported as the user would: by its module, or from its file's folder, which
   is put on the path relative to the test. A notebook or a fault has no such name.
3. What cannot be written this way is refused, with what to do instead.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from schedproof.formats.asserts import Check, check_of, variable
from schedproof.formats.regression import (
    NotExportable,
    action_name,
    check_exportable,
    comments,
    docstring,
    heading,
    quoted,
    story,
    test_name,
    without_drain,
    written,
)
from schedproof.search.results import Counterexample
from schedproof.subjects.actions import ENQUEUE_ARGUMENTS
from schedproof.subjects.load_errors import TargetError
from schedproof.subjects.targets import Target, parse_target
from schedproof.telling.messages import Say, join, tell
from schedproof.traces.trace import Trace

_REQUEST = """
def request(scheduler, request_id):
    return next(r for r in scheduler.queue if r.request_id == request_id)

"""


def to_standalone(
    trace: Trace, found: Counterexample, language: str, folder: Path | None = None
) -> str:
    """The text of a test file that will lie in `folder`. Raises `NotExportable`."""
    check_exportable(trace)
    if trace.config.limits is not None:
        raise NotExportable("export.not_standalone.batches", {})
    if found.claim != trace.claim:
        raise NotExportable("export.not_standalone", {"claim": trace.named_for})
    say = tell(language)
    check = check_of(found)
    body = _body(say, trace, found, check)
    name, importing = _import(trace, folder)
    needs_pytest = any("pytest." in line for line in body)
    lines = [*docstring(heading(say, trace, "--standalone"), ""), ""]
    lines += _imports(importing, needs_pytest)
    if any("request(scheduler" in line for line in body):
        lines += ["", *_REQUEST.rstrip("\n").splitlines()]
    lines += ["", "", f"def {test_name(trace)}() -> None:"]
    lines += docstring(story(say, trace, found, language), "    ")
    lines += [f"    {line}".rstrip() for line in (_made(trace, name), *body)]
    return "\n".join(lines) + "\n"


def _imports(importing: list[str], needs_pytest: bool) -> list[str]:
    standard = [line for line in importing if line in ("import sys", "from pathlib import Path")]
    rest = [line for line in importing if line not in standard]
    third = ["import pytest", ""] if needs_pytest else []
    return [*standard, *([""] if standard else []), *third, *rest]


def _body(say: Say, trace: Trace, found: Counterexample, check: Check) -> list[str]:
    """The actions, what stands around the last one, and the asserts."""
    actions = without_drain(trace, found)
    drained = trace.actions[len(actions) :]
    told = comments(say, found)
    lines: list[str] = []
    for number, action in enumerate((*actions, *drained), start=1):
        last = number == trace.length
        if last:
            lines += ["", *_fetched(found, check), *check.before]
        refused = check.refused if last else found.trail[number - 1].refused
        comment = join(
            say, "semicolon", [p for p in (action_name(say, action), told[number - 1]) if p]
        )
        lines.append(f"# {number}. {comment}")
        wants_event = last and any("event" in line for line in check.after)
        lines += _action(action, refused, "event = " if wants_event else "")
    return [*lines, "", *check.after] if check.after else lines


def _fetched(found: Counterexample, check: Check) -> list[str]:
    """The requests that the asserts name, as they are before the last action."""
    before = found.before
    known = list(before.requests) if before else _enqueued(found)
    text = " ".join(check.after)
    named = [i for i in known if f"{variable(i)}." in text]
    return [f"{variable(i)} = request(scheduler, {i})" for i in named]


def _enqueued(found: Counterexample) -> list[str]:
    return [str(a["args"]["request_id"]) for a in found.actions if a["op"] == "enqueue"]


def _action(action: Mapping[str, Any], refused: bool, event: str) -> list[str]:
    if action["op"] == "step":
        return [f"{event}scheduler.step()"]
    if action["op"] != "enqueue":
        raise NotExportable("export.not_standalone", {"claim": str(action["op"])})
    told = [f"{name}={written(action['args'][name])}" for name in ENQUEUE_ARGUMENTS]
    call = [
        "scheduler.enqueue(",
        f"    {', '.join(told[:4])},",
        f"    {', '.join(told[4:])},",
        ")",
    ]
    if not refused:
        return call
    return ["with pytest.raises(ValueError):", *(f"    {line}" for line in call)]


def _made(trace: Trace, name: str) -> str:
    config = trace.config
    blocks = "blocks" if trace.factory is not None else "free_kv_blocks"
    arguments = f"policy={quoted(config.policy)}, {blocks}={config.blocks}"
    return f"scheduler = {name}({arguments}, aging_interval={config.aging_interval})"


def _import(trace: Trace, folder: Path | None) -> tuple[str, list[str]]:
    """What the class or factory is called, and the lines that import it."""
    text = trace.factory or trace.subject
    try:
        target = parse_target(text)
    except TargetError:
        raise NotExportable("export.no_import", {"subject": text}) from None
    name = target.name or _only_class(target)
    first = name.split(".")[0]
    if target.kind == "module" and name and _exists(target.where):
        return name, [f"from {target.where} import {first}"]
    if target.kind != "file" or not name or not target.path.stem.isidentifier():
        raise NotExportable("export.no_import", {"subject": text})
    where = os.path.relpath(target.path.parent, folder or Path.cwd())
    path = "Path(__file__).parent"
    path = path if where == "." else f"{path} / {quoted(Path(where).as_posix())}"
    lines = ["import sys", "from pathlib import Path", f"sys.path.insert(0, str({path}))"]
    return name, [*lines, f"from {target.path.stem} import {first}  # noqa: E402"]


def _exists(module: str) -> bool:
    """Whether there is such a module; only packages around it are imported to find out."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _only_class(target: Target) -> str:
    """The one class of a file that has the two methods; "" where there is no such one."""
    if target.kind != "file":
        return ""
    try:
        tree = ast.parse(target.path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return ""
    found = [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and {"enqueue", "step"} <= {getattr(part, "name", "") for part in node.body}
    ]
    return found[0] if len(found) == 1 else ""
