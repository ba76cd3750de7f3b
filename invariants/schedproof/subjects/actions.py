"""What can be done to a scheduler: enqueue a request, step, deliver, abort.

Rules. An action is a small immutable value with one JSON form, `{"op": ..., "args": ...}`,
which is what traces, counterexamples and replays are written in. An enqueue always names
all eight arguments, so that a trace never depends on somebody's defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Enqueue:
    """Submit a request. Fields and defaults are those of the chapter's `enqueue`.

    Values are handed on as they are: probes of refusal put wrong ones here on purpose.
    """

    request_id: Any
    prompt_len: Any
    max_new_tokens: Any = 2
    priority: Any = 0
    cache_hit: Any = False
    required_blocks: Any = 1
    deadline_step: Any = None
    preemptible: Any = True

    def arguments(self) -> dict[str, Any]:
        """All eight arguments by name; not to be changed."""
        return self.__dict__


ENQUEUE_ARGUMENTS = tuple(field.name for field in fields(Enqueue))


@dataclass(frozen=True)
class Step:
    """Let the scheduler take one step."""


@dataclass(frozen=True)
class Deliver:
    """Hand the results of a batch in flight back: the `index`-th oldest, from 0.

    Only for schedulers whose step decides a batch and does not yet execute it.
    """

    index: int = 0


@dataclass(frozen=True)
class Abort:
    """Withdraw a request."""

    request_id: int


Action = Enqueue | Step | Deliver | Abort
STEP = Step()


_KINDS: dict[str, type[Action]] = {
    "enqueue": Enqueue,
    "step": Step,
    "deliver": Deliver,
    "abort": Abort,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def to_json(action: Action) -> dict[str, Any]:
    """The JSON form of an action; `args` is left out where there are none."""
    args = {field.name: getattr(action, field.name) for field in fields(action)}
    record: dict[str, Any] = {"op": _NAMES[type(action)]}
    return {**record, "args": args} if args else record


def from_json(record: Mapping[str, Any]) -> Action:
    """The action of a JSON form; `ValueError` says what is wrong with it."""
    op = record.get("op")
    if op not in _KINDS:
        raise ValueError(f"op must be one of {', '.join(_KINDS)}, got {op!r}")
    try:
        return _KINDS[op](**record.get("args", {}))
    except TypeError as error:
        raise ValueError(f"{op} does not take these args: {error}") from None
