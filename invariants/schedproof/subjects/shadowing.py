"""Files beside a subject that it may think it imports, and does not.

Rule. A file that bears the name of a module of Python's standard library never takes its place,
as it would in a script. Where the subject imports such a name, that is noted.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from schedproof.subjects.load_errors import Note
from schedproof.subjects.targets import Target


def shadowed_notes(target: Target) -> tuple[Note, ...]:
    """A note for each file beside the subject that it may think it imports, and does not."""
    if target.kind != "file":
        return ()
    names = _imported_names(target.path) & sys.stdlib_module_names
    beside = sorted(name for name in names if target.path.with_name(f"{name}.py").is_file())
    return tuple(Note("note.standard_name", {"file": f"{name}.py"}) for name in beside)


def _imported_names(path: Path) -> set[str]:
    """The top-level names of all modules that a file imports absolutely."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names
