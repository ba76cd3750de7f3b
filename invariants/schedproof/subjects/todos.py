"""Which parts of an exercise are still open.

The course leaves four methods of the scheduler to the learner. An unfinished one is no bug, so it
is told apart, and only where it is certain: a method is open if its body is empty (`...`, `pass`,
`return ...` or nothing but a docstring), if a `raise NotImplementedError` stands at the top of its
body where every call may get to, if it gives a name `...` and no other value (`request = ...`), or
if it uses a placeholder that nothing defines. A placeholder is one of the names that the exercise
leaves out, or a name that a comment of the same method announces as `# name = ???`. Any other
undefined name is a slip, not an open part; so is a NotImplementedError in one branch of a finished
method.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import re
import textwrap
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from schedproof.subjects.places import Spot, is_written, spots_of

if TYPE_CHECKING:
    from collections.abc import Iterator

TODO_NUMBERS = {"enqueue": 1, "_schedule_key": 2, "_ensure_capacity": 3, "step": 4}
PLACEHOLDERS = frozenset({"request", "deadline_slack", "chosen", "preempted_request_id"})

_ANNOUNCED = r"^\s*#\s*{name}\s*(?::[^=]*)?=\s*(?:\?+|\.\.\.|…|TODO\b)"
_QUOTED = re.compile(r"'(\w+)'")
_LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})


def open_todos(cls: type[Any]) -> list[str]:
    """The methods of TODO_NUMBERS that `cls` still leaves open, in that order.

    A method that the class does not have is not open. Where the source cannot be read, only
    undefined placeholders are seen. Nothing of the class is called.
    """
    return [name for name in TODO_NUMBERS if _is_open(_method(cls, name))]


def is_open_todo(error: BaseException) -> bool:
    """Whether an exception from the subject means "not written yet" rather than "wrong".

    True for a NotImplementedError raised by a line of the subject itself, and for a NameError or
    UnboundLocalError of such a line about a placeholder.
    """
    spots = list(spots_of(error))
    if not spots or not is_written(spots[-1]):
        return False
    if isinstance(error, NotImplementedError):
        return True
    return isinstance(error, NameError) and _is_placeholder(_missing_name(error), spots[-1])


def _method(cls: type[Any], name: str) -> FunctionType | None:
    """The plain function behind a method, under decorators; None if it is something else."""
    found: Any = inspect.getattr_static(cls, name, None)
    while found is not None and hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    return found if isinstance(found, FunctionType) else None


def _is_open(method: FunctionType | None) -> bool:
    if method is None:
        return False
    spot = Spot(method.__code__.co_filename, 0, method.__name__, code=method.__code__)
    if any(_is_placeholder(name, spot) for name in _undefined_names(method)):
        return True
    body = _body(method)
    if body is None:
        return False
    return _is_empty(body) or _raises_at_top(body) or _leaves_a_name_open(body)


def _undefined_names(method: FunctionType) -> Iterator[str]:
    """The global names that the method and the functions in it use, and that nothing defines."""
    for code in _code_objects(method.__code__):
        for step in dis.get_instructions(code):
            name = step.argval
            if step.opname in _LOADS and not _is_defined(name, method):
                yield name


def _is_defined(name: str, method: FunctionType) -> bool:
    return name in method.__globals__ or hasattr(builtins, name)


def _code_objects(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_objects(constant)


def _is_placeholder(name: str, spot: Spot) -> bool:
    if name in PLACEHOLDERS:
        return True
    pattern = _ANNOUNCED.format(name=re.escape(name))
    return bool(name) and re.search(pattern, _source(spot.code), re.MULTILINE) is not None


def _missing_name(error: NameError) -> str:
    # `error.name` is empty for a local variable that was not assigned; the text has it.
    quoted = _QUOTED.search(str(error))
    return error.name or (quoted[1] if quoted else "")


def _source(code: CodeType | None) -> str:
    """The text of a function; "" where it cannot be read."""
    if code is None:
        return ""
    try:
        return inspect.getsource(code)
    except (OSError, TypeError, IndexError, SyntaxError):
        return ""


def _body(method: FunctionType) -> list[ast.stmt] | None:
    """The statements of a method without its docstring; None where the source cannot be read."""
    try:
        tree = ast.parse(textwrap.dedent(_source(method.__code__)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not tree.body or not isinstance(tree.body[0], ast.FunctionDef):
        return None
    body = tree.body[0].body
    return body[1:] if ast.get_docstring(tree.body[0], clean=False) is not None else body


def _is_empty(body: list[ast.stmt]) -> bool:
    return all(isinstance(step, ast.Pass) or _is_ellipsis(step) for step in body)


def _is_ellipsis(step: ast.stmt) -> bool:
    return _is_dots(step.value) if isinstance(step, (ast.Expr, ast.Return)) else False


def _is_dots(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _leaves_a_name_open(body: list[ast.stmt]) -> bool:
    """Whether some name is given `...` wherever it is given a value."""
    stored: list[str] = []
    dotted: list[str] = []
    for node in (inner for step in body for inner in ast.walk(step)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.append(node.id)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_dots(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            dotted += [target.id for target in targets if isinstance(target, ast.Name)]
    return any(stored.count(name) == dotted.count(name) for name in dotted)


def _raises_at_top(body: list[ast.stmt]) -> bool:
    """Whether a NotImplementedError stands in the body itself, before anything that leaves it."""
    for step in body:
        if isinstance(step, ast.Raise):
            return _names_not_implemented(step.exc)
        if _always_leaves(step):
            return False
    return False


def _names_not_implemented(node: ast.expr | None) -> bool:
    node = node.func if isinstance(node, ast.Call) else node
    return isinstance(node, ast.Name) and node.id == "NotImplementedError"


def _always_leaves(step: ast.stmt) -> bool:
    """Whether no call gets past this statement, as far as its shape tells."""
    if isinstance(step, (ast.Return, ast.Raise)):
        return True
    if isinstance(step, ast.If):
        branches = (step.body, step.orelse)
        return all(any(_always_leaves(inner) for inner in branch) for branch in branches)
    if isinstance(step, ast.With):
        return any(_always_leaves(inner) for inner in step.body)
    return False
