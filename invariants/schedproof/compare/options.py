"""What a comparison is asked to do: its options, their parsers and defaults.

Rules. Values are parsed as those of a check are (`schedproof.settings`): a wrong one is a
`UsageError` that says what was got and what is allowed. There are no variables and no file
for them: a comparison that is worth keeping is worth spelling out.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from schedproof.compare.formats import FORMATS
from schedproof.compare.simulate import policies_of
from schedproof.compare.workload import Setup
from schedproof.settings import Option, UsageError, _duration, _names, _one_of, _whole

USUAL = Setup()
BASELINE = "fcfs"
MOST = 10_000_000
"""Batches keep a list of all blocks, aging a shelf for each remainder of its interval."""


def _positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not (isfinite(number) and number > 0):
        raise UsageError("usage.positive", option=name, value=str(value))
    return number


OPTIONS: dict[str, Option] = {
    "policy": Option(_names, ()),
    "batch": Option(_whole(1, 4096), USUAL.batch),
    "blocks": Option(_whole(1, MOST), USUAL.blocks),
    "block_size": Option(_whole(1, MOST), USUAL.block_size),
    "token_budget": Option(_whole(1), USUAL.token_budget),
    "aging_interval": Option(_whole(1, MOST), USUAL.aging_interval),
    "time_factor": Option(_positive, USUAL.time_factor),
    "step_ms": Option(_positive, 1000 * USUAL.step),
    "slo_ttft": Option(_duration, USUAL.slo_ttft),
    "slo_tpot": Option(_duration, USUAL.slo_tpot),
    "starved_after": Option(_duration, USUAL.starved_after),
    "seed": Option(_whole(0), USUAL.seed),
    "rows": Option(_whole(1), None),
    "format": Option(_one_of(tuple(FORMATS)), None),
    "until": Option(_duration, None),
}


def parsed(said: Mapping[str, Any]) -> dict[str, Any]:
    """Every option's value. Raises `UsageError`."""
    return {
        name: option.default
        if said.get(name) in (None, ())
        else option.parse(f"--{name.replace('_', '-')}", said[name])
        for name, option in OPTIONS.items()
    }


def setup_of(asked: Mapping[str, Any]) -> Setup:
    """The set-up that parsed options ask for."""
    names = set(Setup.__dataclass_fields__) & set(asked)
    return Setup(**{name: asked[name] for name in names}, step=asked["step_ms"] / 1000)


def chosen_policies(asked: Mapping[str, Any]) -> tuple[str, ...]:
    """The policies that were asked for; all that the engine has, the baseline first."""
    if asked["policy"] and "all" not in asked["policy"]:
        return tuple(asked["policy"])
    others = (name for name in policies_of(asked["batch"]) if name != BASELINE)
    return BASELINE, *others
