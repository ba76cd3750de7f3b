"""What can be done to a scheduler: enqueue a request, step, deliver, abort.

Rules. An action is a small immutable value with one JSON form, `{"op": ..., "args": ...}`,
which is what traces, counterexamples and replays are written in. An enqueue always names
all the arguments that its scheduler has, so that a trace never depends on somebody's defaults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


@dataclass(frozen=True)
class BatchEnqueue(Enqueue):
    """The same for a scheduler of batches, which knows four of the arguments only."""

    def arguments(self) -> dict[str, Any]:
        """The four arguments by name."""
        return {name: getattr(self, name) for name in BATCH_ARGUMENTS}


@dataclass(frozen=True)
class EngineEnqueue(BatchEnqueue):
    """The same for an engine, which is given the prompt itself and not only its length.

    Every request has a number of its own here. With `reuses` it is handed in under the id that
    the request of that number had, which has ended.
    """

    token_ids: Any = ()
    reuses: Any = None

    @classmethod
    def of(
        cls,
        request_id: int,
        token_ids: Iterable[int],
        max_new_tokens: int = Enqueue.max_new_tokens,
        priority: int = 0,
        reuses: int | None = None,
    ) -> EngineEnqueue:
        """The enqueue of a prompt; its length follows from it."""
        tokens = tuple(token_ids)
        made: EngineEnqueue = object.__new__(cls)  # a frozen class's own way sets one by one
        made.__dict__.update(
            _USUAL,
            request_id=request_id,
            prompt_len=len(tokens),
            max_new_tokens=max_new_tokens,
            priority=priority,
            token_ids=tokens,
            reuses=reuses,
        )
        return made

    def arguments(self) -> dict[str, Any]:
        """The prompt instead of its length, and the rest by name."""
        names = ("request_id", "max_new_tokens", "priority")
        known = {name: getattr(self, name) for name in names}
        again = {} if self.reuses is None else {"reuses": self.reuses}
        return {**known, "token_ids": list(self.token_ids), **again}


_USUAL: dict[str, Any] = {field.name: field.default for field in fields(Enqueue)[2:]}
BATCH_ARGUMENTS = ("request_id", "prompt_len", "max_new_tokens", "priority")
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
STEP, DELIVER = Step(), Deliver()


_KINDS: dict[str, type[Action]] = {
    "enqueue": Enqueue,
    "step": Step,
    "deliver": Deliver,
    "abort": Abort,
}
_NAMES = {
    **{kind: name for name, kind in _KINDS.items()},
    BatchEnqueue: "enqueue",
    EngineEnqueue: "enqueue",
}


def to_json(action: Action) -> dict[str, Any]:
    """The JSON form of an action; `args` is left out where there are none."""
    args = {field.name: getattr(action, field.name) for field in fields(action)}
    if isinstance(action, BatchEnqueue):
        args = action.arguments()
    record: dict[str, Any] = {"op": _NAMES[type(action)]}
    return {**record, "args": args} if args else record


def from_json(record: Mapping[str, Any]) -> Action:
    """The action of a JSON form; `ValueError` says what is wrong with it."""
    op = record.get("op")
    if op not in _KINDS:
        raise ValueError(f"op must be one of {', '.join(_KINDS)}, got {op!r}")
    args = record.get("args", {})
    if isinstance(args.get("request_id"), (list, dict)):
        raise ValueError(f"request_id must be a number or a text, got {args['request_id']!r}")
    try:
        if op == "enqueue" and "token_ids" in args:
            return EngineEnqueue.of(**args)
        if op == "enqueue" and set(args) == set(BATCH_ARGUMENTS):
            return BatchEnqueue(**args)
        return _KINDS[op](**args)
    except TypeError as error:
        raise ValueError(f"{op} does not take these args: {error}") from None
