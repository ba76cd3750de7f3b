"""What is found out about a counterexample beside itself, as plain data.

Rules.
1. Everything here was seen by taking actions again on new schedulers; nothing is guessed.
2. A part that could not be found out, or is not worth asking about this claim, is None or
   empty: nothing is said of it then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DONE, STUCK, RAISED, ENDLESS = "done", "stuck", "raised", "endless"


@dataclass(frozen=True)
class Left:
    """A request that was never finished, or without all its tokens; `needs` in KV blocks."""

    request: int
    generated: int
    limit: int
    needs: int


@dataclass(frozen=True)
class Later:
    """A request that finished in step `got` and not in step `due`, both from the start."""

    request: int
    due: int
    got: int


@dataclass(frozen=True)
class Forward:
    """What follows when plain steps are taken after the trace until nobody is served.

    `outcome` is done, stuck, raised (then `error` says what) or endless. `steps` served
    somebody, counted from the start; `due_steps` and `later` compare with the built-in model
    on the same actions, None and empty where it is no measure. `repeated` are (request, token)
    pairs that were computed twice; token 0 is a prefill. `short` were finished without all
    their tokens, `earlier` are those that finished before they do in the model. `lost` are
    accepted requests that are nowhere to be seen in the end. `free` and `capacity` in KV blocks.
    """

    outcome: str
    steps: int
    free: int
    capacity: int
    due_steps: int | None = None
    repeated: tuple[tuple[int, int], ...] = ()
    left: tuple[Left, ...] = ()
    later: tuple[Later, ...] = ()
    earlier: tuple[Later, ...] = ()
    short: tuple[Left, ...] = ()
    lost: tuple[int, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Varied:
    """One argument of one enqueue, set to other values one at a time.

    `low` and `high` tell whether the claim still breaks one below and one above; None where
    that cannot be asked. `far_low` and `far_high` say the same of all values below and above
    that were tried, and `steady` that on neither side some of them break and others do not.
    `matters` if the claim held with any of the values tried.
    """

    request: int
    name: str
    value: Any
    matters: bool
    low: bool | None = None
    high: bool | None = None
    far_low: bool = True
    far_high: bool = True
    steady: bool = True


@dataclass(frozen=True)
class Write:
    """A line of the user's code that changed a guilty field during the breaking action.

    `request` is None for the scheduler's own fields; `place` as `Place.to_json` has it.
    """

    request: int | None
    name: str
    old: Any
    new: Any
    place: dict[str, Any]


@dataclass(frozen=True)
class Worse:
    """A longer trace that does more damage: `request` generates `token` a second time.

    `kept_as` is the id of the trace that was kept of it, None where none was.
    """

    actions: tuple[dict[str, Any], ...]
    request: int
    token: int
    kept_as: str | None = None


@dataclass(frozen=True)
class Evidence:
    """All of it. `policies` are (name, whether the claim breaks under it, too) pairs.

    `unwritten` are guilty (request, field) pairs that no line changed during the action.
    """

    forward: Forward | None = None
    varied: tuple[Varied, ...] = ()
    policies: tuple[tuple[str, bool], ...] = ()
    writes: tuple[Write, ...] = ()
    unwritten: tuple[tuple[int | None, str], ...] = ()
    worse: Worse | None = None

    @classmethod
    def from_json(cls, record: dict[str, Any] | None) -> Evidence | None:
        """The evidence that `asdict` wrote, also after a trip through JSON text."""
        if record is None:
            return None
        forward = record["forward"]
        return cls(
            forward=None if forward is None else _forward(forward),
            varied=tuple(Varied(**one) for one in record["varied"]),
            policies=tuple((name, breaks) for name, breaks in record["policies"]),
            writes=tuple(Write(**one) for one in record["writes"]),
            unwritten=tuple((request, name) for request, name in record["unwritten"]),
            worse=None if record["worse"] is None else _worse(record["worse"]),
        )


def _worse(record: dict[str, Any]) -> Worse:
    made = dict(record)
    made["actions"] = tuple(record["actions"])
    return Worse(**made)


def _forward(record: dict[str, Any]) -> Forward:
    made = dict(record)
    made["repeated"] = tuple((request, token) for request, token in record["repeated"])
    made["lost"] = tuple(record["lost"])
    for name in ("left", "short"):
        made[name] = tuple(Left(**one) for one in record[name])
    for name in ("later", "earlier"):
        made[name] = tuple(Later(**one) for one in record[name])
    return Forward(**made)
