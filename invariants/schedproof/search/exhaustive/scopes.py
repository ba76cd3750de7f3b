"""Scopes: what an exhaustive search covers, as named data files.

Rules.
1. A scope is JSON: a menu of request kinds, the pool, and how requests arrive. Closed: each
   slot arrives at most once, as one of the kinds listed for it; the slot's number is the
   request's id. Open: requests of any kind arrive without end, at most `active` unfinished
   ones at a time. Scopes for schedulers of batches are closed, have a schema of their own, and
   any request may be aborted at any time. With `in_flight` they are for schedulers that decide a
   step and are told later what it brought: so many steps at a time. Their kinds name the prompt,
   requests arrive in the order of their slots, and the id of one that has ended is used again.
2. `deadline_in` of a kind counts steps from its arrival; everything else is as in enqueue.
3. The files are checked against a JSON Schema and then for what a schema cannot say. What
   is wrong is told with the file and the place in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from schedproof.subjects.actions import BatchEnqueue, EngineEnqueue, Enqueue
from schedproof.subjects.contract import Limits

CLOSED, OPEN = "closed", "open"
BATCH_SCOPE = "schedproof/batch-scope"
FOLDER = files("schedproof.search.exhaustive") / "scopes"
SCHEMA, BATCH_SCHEMA = "scope.schema.json", "batch-scope.schema.json"
DEFAULT_SCOPE, DEFAULT_OPEN_SCOPE = "default", "endless-mixed"
DEFAULT_BATCH_SCOPE = "batch-default"
DEFAULT_PAGED_SCOPE = "paged-default"


class ScopeError(Exception):
    """A scope that cannot be used; `message_id` and `values` name the text that says why."""

    def __init__(self, message_id: str, **values: Any) -> None:
        super().__init__(message_id, values)
        self.message_id, self.values = message_id, values


@dataclass(frozen=True)
class Kind:
    """One kind of request on a menu; sizes as in `Enqueue`."""

    name: str
    prompt_len: int
    max_new_tokens: int
    required_blocks: int
    priority: int = 0
    cache_hit: bool = False
    preemptible: bool = True
    deadline_in: int | None = None
    token_ids: tuple[int, ...] = ()

    def enqueue(self, request_id: int, clock: int) -> Enqueue:
        """The enqueue of a request of this kind that arrives at `clock`."""
        return Enqueue(
            request_id=request_id,
            prompt_len=self.prompt_len,
            max_new_tokens=self.max_new_tokens,
            priority=self.priority,
            cache_hit=self.cache_hit,
            required_blocks=self.required_blocks,
            deadline_step=None if self.deadline_in is None else clock + self.deadline_in,
            preemptible=self.preemptible,
        )

    def batch_enqueue(self, request_id: int) -> BatchEnqueue:
        """The same for a scheduler of batches."""
        return BatchEnqueue(request_id, self.prompt_len, self.max_new_tokens, self.priority)

    def engine_enqueue(self, request_id: int, reuses: int | None = None) -> EngineEnqueue:
        """The same with its prompt, under an id of its own or one that is used again."""
        sizes = self.token_ids, self.max_new_tokens, self.priority
        return EngineEnqueue.of(request_id, *sizes, reuses)


@dataclass(frozen=True)
class Scope:
    """What a search covers. `slots[i]` lists the kinds that request i may be (closed scopes).

    `active` is the most unfinished requests at a time (open scopes), 0 for closed ones.
    `limits` are there in scopes for schedulers of batches, `in_flight` is the most steps that are
    decided and not delivered, 0 where that is one and the same.
    """

    name: str
    blocks: int
    aging_interval: int
    kinds: tuple[Kind, ...]
    slots: tuple[tuple[Kind, ...], ...] = ()
    active: int = 0
    limits: Limits | None = None
    in_flight: int = 0

    @property
    def arrivals(self) -> str:
        """How requests arrive: "closed" or "open"."""
        return OPEN if self.active else CLOSED

    @property
    def timed(self) -> bool:
        """Whether any kind has a deadline."""
        return any(kind.deadline_in is not None for kind in self.kinds)

    def resized(self, requests: int | None, blocks: int | None) -> Scope:
        """The same menu with another number of slots or active requests, or another pool.

        More slots take any kind of the menu.
        """
        scope = self if blocks is None else replace(self, blocks=blocks)
        if requests is None:
            return scope
        if scope.active:
            return replace(scope, active=requests)
        more = (scope.kinds,) * max(0, requests - len(scope.slots))
        return replace(scope, slots=scope.slots[:requests] + more)

    def to_bounds(self) -> dict[str, Any]:
        """The scope as the bounds of a verdict."""
        size = {"active": self.active} if self.active else {"requests": len(self.slots)}
        aging = {"aging_interval": self.aging_interval}
        return {
            "scope": self.name,
            "arrivals": self.arrivals,
            **size,
            "blocks": self.blocks,
            **(self.limits._asdict() if self.limits else aging),
            **({"in_flight": self.in_flight} if self.in_flight else {}),
            "kinds": len(self.kinds),
        }


def shipped() -> list[str]:
    """Names of the scopes that come with the package."""
    names = (path.name for path in FOLDER.iterdir())
    return sorted(
        name[: -len(".json")]
        for name in names
        if name.endswith(".json") and not name.endswith(".schema.json")
    )


def load_scope(name: str) -> Scope:
    """The scope of that name, or in that JSON file. Raises `ScopeError`."""
    if name in shipped():
        # Ours are validated by the tests: loading the validator takes longer than a search may.
        return _scope_of(json.loads((FOLDER / f"{name}.json").read_text("utf-8")), name)
    path = Path(name)
    if not path.is_file():
        raise ScopeError("scope.unknown", name=name, allowed=shipped())
    try:
        return _parse(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ScopeError("scope.unreadable", path=str(path), error=str(error)) from None


def _parse(text: str, path: str) -> Scope:
    try:
        record = json.loads(text)
    except (RecursionError, ValueError) as error:
        if not isinstance(error, json.JSONDecodeError):
            text = type(error).__name__
            raise ScopeError("scope.unreadable", path=path, error=text) from None
        raise ScopeError(
            "scope.bad_json", path=path, line=error.lineno, column=error.colno, error=error.msg
        ) from None
    _validate(record, path)
    return _scope_of(record, path)


def _scope_of(record: dict[str, Any], path: str) -> Scope:
    batch = record["schema"] == BATCH_SCOPE
    usual: dict[str, Any] = {"required_blocks": 1} if batch else {}
    kinds = {name: _kind_of(name, usual | fields) for name, fields in record["menu"].items()}
    slots = tuple(
        tuple(_kind(kinds, name, path) for name in slot) for slot in record.get("slots", ())
    )
    return Scope(
        name=record["name"],
        blocks=record["blocks"],
        aging_interval=record.get("aging_interval", 1),
        kinds=tuple(kinds.values()),
        slots=slots,
        active=record.get("active", 0),
        limits=Limits(**record["limits"]) if batch else None,
        in_flight=record.get("in_flight", 0),
    )


def _kind_of(name: str, fields: dict[str, Any]) -> Kind:
    tokens = tuple(fields.get("token_ids", ()))
    sizes: dict[str, Any] = {**fields, "token_ids": tokens}
    if tokens:
        sizes["prompt_len"] = len(tokens)
    return Kind(name, **sizes)


def _kind(kinds: Mapping[str, Kind], name: str, path: str) -> Kind:
    if name not in kinds:
        allowed = list(kinds)
        raise ScopeError("scope.no_such_kind", path=path, name=name, allowed=allowed)
    return kinds[name]


def schema_of(record: Any) -> str:
    """The file with the schema that a record must fit."""
    of_batches = isinstance(record, Mapping) and ("schema", BATCH_SCOPE) in record.items()
    return BATCH_SCHEMA if of_batches else SCHEMA


def _validate(record: Any, path: str) -> None:
    """Check a record against the schema; the first error is told with its place."""
    # Only scopes and tests need it, and it takes a while to import.
    from jsonschema import Draft202012Validator, exceptions

    schema = json.loads((FOLDER / schema_of(record)).read_text("utf-8"))
    validator: Any = Draft202012Validator(schema)
    untyped: Any = exceptions  # its stubs name types that are not there
    error = untyped.best_match(validator.iter_errors(record))
    if error is not None:
        place = "/".join(map(str, error.absolute_path)) or "/"
        raise ScopeError("scope.invalid", path=path, place=place, error=error.message)
