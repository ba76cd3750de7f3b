"""Faults that can be planted into any engine through its adapter, each to be caught by a claim.

Rules. A fault changes what the adapter hands over, and nothing in the engine: a wrong block, a
token that is lost, a request that nobody knows any more. An adapter whose facts are not really
the engine's lets such a fault pass, and that is what the self-test finds out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.engines.adapter import FINISHED, EngineAdapter, Pool, Seen, Work


@dataclass(frozen=True)
class Planted:
    """One fault: its name, the claims of which one must be told, and what it does."""

    name: str
    claims: tuple[str, ...]
    plant: Callable[[EngineAdapter], EngineAdapter]


def _with(method: str, change: Callable[[EngineAdapter, Any], Any]) -> Any:
    """Plant a change of what a method answers."""

    def plant(adapter: EngineAdapter) -> EngineAdapter:
        kind = type(adapter)

        def changed(self: EngineAdapter, *args: Any) -> Any:
            return change(self, getattr(kind, method)(self, *args))

        faulty = type(f"Faulty{kind.__name__}", (kind,), {method: changed})
        planted: Any = object.__new__(faulty)
        planted.__dict__.update(adapter.__dict__)
        made: EngineAdapter = planted
        return made

    return plant


def _wrong_block(_adapter: EngineAdapter, batch: Sequence[Work]) -> Sequence[Work]:
    """The second request of a batch uses the first one's blocks."""
    if len(batch) < 2 or not batch[0].blocks:
        return batch
    return [batch[0], batch[1]._replace(blocks=batch[0].blocks), *batch[2:]]


def _starts_late(_adapter: EngineAdapter, batch: Sequence[Work]) -> Sequence[Work]:
    """The first token of a prompt is not computed."""
    return [w._replace(start=1) if w.start == 0 and w.end > 1 else w for w in batch]


def _twice(_adapter: EngineAdapter, batch: Sequence[Work]) -> Sequence[Work]:
    return [*batch, *batch[:1]]


def _nobody(_adapter: EngineAdapter, _batch: Sequence[Work]) -> Sequence[Work]:
    return []


def _lost(_adapter: EngineAdapter, seen: Mapping[int, Seen]) -> Mapping[int, Seen]:
    """A request with a token is forgotten."""
    return {i: s for i, s in seen.items() if not s.output or s.status == FINISHED}


def _other_token(_adapter: EngineAdapter, seen: Mapping[int, Seen]) -> Mapping[int, Seen]:
    return {i: s._replace(output=[1 - t for t in s.output]) for i, s in seen.items()}


def _ends_early(_adapter: EngineAdapter, seen: Mapping[int, Seen]) -> Mapping[int, Seen]:
    return {i: s._replace(status=FINISHED) if s.output else s for i, s in seen.items()}


def _keeps_blocks(_adapter: EngineAdapter, seen: Mapping[int, Seen]) -> Mapping[int, Seen]:
    return {i: s._replace(blocks=[0]) if s.status == FINISHED else s for i, s in seen.items()}


def _leak(_adapter: EngineAdapter, pool: Pool) -> Pool:
    return pool._replace(free_ids=list(pool.free_ids)[1:])


def _twice_free(_adapter: EngineAdapter, pool: Pool) -> Pool:
    free = list(pool.free_ids)
    return pool._replace(free_ids=[*free, *free[:1]])


def _out_of_queue(_adapter: EngineAdapter, pool: Pool) -> Pool:
    return pool._replace(running=list(pool.running)[1:])


def _raises(_adapter: EngineAdapter, _answer: Any) -> Any:
    return eval(compile("1 / 0", "planted", "eval"))  # not a line of ours


FAULTS = (
    Planted("another's block", ("KV-1",), _with("schedule", _wrong_block)),
    Planted("a token that is not computed", ("KV-1",), _with("schedule", _starts_late)),
    Planted("a request twice in a batch", ("BATCH-1",), _with("schedule", _twice)),
    Planted("a step that runs nobody", ("STALL-1", "STALL-3"), _with("schedule", _nobody)),
    Planted("an exception", ("STALL-2",), _with("schedule", _raises)),
    Planted("a lost request", ("LIFE-4",), _with("requests", _lost)),
    Planted("another token", ("OUTPUT-1",), _with("requests", _other_token)),
    Planted("an early end", ("LIFE-3", "LIFE-2", "OUTPUT-1"), _with("requests", _ends_early)),
    Planted(
        "blocks kept after the end",
        ("LEDGER-3", "LEDGER-4", "LEDGER-1"),
        _with("requests", _keeps_blocks),
    ),
    Planted("a block that leaks", ("LEDGER-1", "LEDGER-4"), _with("pool", _leak)),
    Planted("a block that is free twice", ("LEDGER-4", "LEDGER-2"), _with("pool", _twice_free)),
    Planted("a request in no queue", ("LIFE-4",), _with("pool", _out_of_queue)),
)
"""All of them; the names are for people who write adapters, in English only."""
