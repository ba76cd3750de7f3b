"""The four parts of the exercise, and a class in which all but one of them are ours.

Rules.
1. A TODO is judged alone: every other part is replaced by ours, so that what is seen is its own
   doing. The replaced parts belong to a subclass; the learner's class is never changed.
2. The two helpers of the key belong to TODO 2: whoever breaks them changes the order.
3. Our enqueue makes requests of the learner's own class, as long as that can hold the fields.
"""

from __future__ import annotations

import inspect
import re
import types
from dataclasses import dataclass
from typing import Any

from schedproof.learn import solved
from schedproof.subjects.todos import TODO_NUMBERS

POLICIES = ("fixed_priority", "aging", "deadline")
LEVELS = (1, 2, 3)


@dataclass(frozen=True)
class Todo:
    """One part. `method` is what the learner writes, `helpers` what is judged with it."""

    number: int
    method: str
    helpers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As it is written everywhere."""
        return f"TODO {self.number}"


_HELPERS = {"_schedule_key": ("_effective_priority", "_remaining_steps")}
TODOS = tuple(Todo(n, method, _HELPERS.get(method, ())) for method, n in TODO_NUMBERS.items())


def todo_named(text: str | int) -> Todo | None:
    """The part that "TODO 3", "todo3", "3", 3 or its method's name means; None for none."""
    wanted = str(text).strip().lower()
    number = re.fullmatch(r"(?:todo)?\s*#?(\d+)", wanted)
    for todo in TODOS:
        if (number and int(number[1]) == todo.number) or wanted == todo.method:
            return todo
    return None


def alone(cls: type[Any], todo: Todo | None) -> type[Any]:
    """A subclass of `cls` in which every part but this one is ours; all of them for None."""
    request_class = request_class_of(cls)
    parts = {
        name: _ours(name, request_class)
        for part in TODOS
        if part is not todo
        for name in (part.method, *part.helpers)
    }
    return types.new_class(cls.__name__, (cls,), exec_body=lambda space: space.update(parts))


def _ours(name: str, request_class: type[Any]) -> types.FunctionType:
    """Our method, making requests of this class."""
    method: types.FunctionType = vars(solved.DecodeSchedulerSim)[name]
    known = {**method.__globals__, "RequestState": request_class}
    made = types.FunctionType(method.__code__, known, name, method.__defaults__)
    made.__kwdefaults__ = method.__kwdefaults__
    return made


def request_class_of(cls: type[Any]) -> type[Any]:
    """The learner's class of requests, if it can be used; else ours."""
    known = getattr(inspect.getattr_static(cls, "enqueue", None), "__globals__", {})
    found = known.get("RequestState")
    return found if isinstance(found, type) and _holds_the_fields(found) else solved.RequestState


def _holds_the_fields(request_class: type[Any]) -> bool:
    """Whether a request of this class can be made and moved as the exercise needs it."""
    try:
        request = request_class(
            request_id=1,
            prompt_len=1,
            max_new_tokens=2,
            priority=0,
            cache_hit=False,
            required_blocks=1,
            deadline_step=None,
            preemptible=True,
        )
        for name in solved.RequestState.__dataclass_fields__:
            setattr(request, name, getattr(request, name))
        return (request.total_len, request.done, request.status) == (1, False, "waiting")
    except Exception:  # whatever a stranger's class raises
        return False
