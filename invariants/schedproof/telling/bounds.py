"""Within what a verdict was reached: the bounds and the search, as one line.

Rule. A bound stands in every verdict line, in the order in which it is listed here. Bounds
that have no text of their own are told by their name and number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from schedproof.search.results import RunResult
from schedproof.telling.messages import Say, has_text

_ORDER = (
    "scope",
    "requests",
    "active",
    "blocks",
    "block_size",
    "max_num_seqs",
    "max_num_batched_tokens",
    "in_flight",
    "actions",
    "steps",
    "depth",
    "max_new_tokens",
    "prompt_len",
    "priorities",
    "deadline_in",
    "aging_interval",
)
_SHORT = frozenset({"requests", "active", "blocks", "actions", "steps", "depth"})
DOT = " · "


def grouped(number: int) -> str:
    """A count with its thousands set apart."""
    return f"{number:,}"


def bounds_text(say: Say, bounds: Mapping[str, Any], only: Iterable[str] | None = None) -> str:
    """The bounds in a row; `only` some of them."""
    names = [*(n for n in _ORDER if n in bounds), *(n for n in bounds if n not in _ORDER)]
    names = [name for name in names if name != "arrivals"]  # the scope's name says that
    wanted = set(names if only is None else only)
    row = ""
    for name in names:
        if name in wanted:
            told = _bound(say, name, bounds[name])
            row = say("list.comma", first=row, second=told) if row else told
    return row


def _bound(say: Say, name: str, value: Any) -> str:
    if type(value) in (list, tuple) and len(value) == 2:
        if has_text(f"bound.{name}"):
            return say(f"bound.{name}", low=value[0], high=value[1])
        value = f"{value[0]}–{value[1]}"
    if has_text(f"bound.{name}"):
        return say(f"bound.{name}", value=value)
    return say("bound.other", name=name, value=value)


def short_bounds(say: Say, run: RunResult) -> str:
    """The bounds that matter for the length of a trace, as a story tells them."""
    return bounds_text(say, run.bounds, _SHORT)


def how_text(say: Say, runs: Sequence[RunResult]) -> str:
    """How these runs were searched, counts added up over each kind of search."""
    told: list[str] = []
    searched = [run for run in runs if run.transitions]
    for search in dict.fromkeys(run.search for run in searched):
        told.append(_how(say, search, [run for run in searched if run.search == search]))
    return DOT.join(told)


def _how(say: Say, search: str, runs: Sequence[RunResult]) -> str:
    actions = grouped(sum(run.transitions for run in runs))
    if search == "random":
        seeds = dict.fromkeys(str(run.seed) for run in runs if run.seed is not None)
        examples = grouped(sum(run.examples or 0 for run in runs))
        return say("how.random", runs=examples, actions=actions, seed=", ".join(seeds) or "–")
    stopped = any(run.stopped_by for run in runs)
    return say(
        "how.exhaustive.stopped" if stopped else "how.exhaustive",
        states=grouped(sum(run.distinct_states or 0 for run in runs)),
        actions=actions,
        depth=max(run.depth for run in runs),
    )
