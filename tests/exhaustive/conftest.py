"""Plain schedulers with one fault each, and exhaustive searches of them in this process.

Rules. A fault is a piece of the plain scheduler's text and what stands in its place; it
must be in the text exactly once. Everything here is a plain function or a table, which the
tests import; a search goes through the same door as the command's.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from schedmodel import POLICIES, DecodeSchedulerSim
from schedproof.claims.catalogue import select
from schedproof.search.exhaustive.exhaustive_search import (
    Asked,
    StartChapter,
    search_exhaustively,
)
from schedproof.search.exhaustive.scopes import Scope, load_scope
from schedproof.search.pace import Pace, Unhurried
from schedproof.search.results import RunResult
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config
from schedproof.zoo import plain
from schedproof.zoo.chapter_faults import BY_NAME

Edit = tuple[str, str]
PLAIN = Path(plain.__file__).read_text(encoding="utf-8")
MODEL = DecodeSchedulerSim
BOTH = ("fixed_priority", "aging")
assert {*BOTH} < {*POLICIES}


def _edit(name: str) -> Edit:
    """The change of a fault of the zoo."""
    return BY_NAME[name].old, BY_NAME[name].new


THE_FOUR: dict[str, tuple[Edit, int]] = {
    "preemption zeroes the tokens": (_edit("preempt-forgets-tokens"), 5),
    "a finish returns no blocks": (_edit("finish-keeps-blocks"), 3),
    "pinned requests are preempted": (_edit("protected-victim"), 4),
    "the second preemption returns no blocks": (_edit("second-preemption-leaks"), 8),
}
"""The faults whose shortest counterexamples eight independent tools agree on."""

ZEROES, LEAKS, PINNED, SECOND = (edit for edit, _ in THE_FOUR.values())

THE_SEVEN: dict[str, Edit] = {
    "preemption zeroes the tokens": ZEROES,
    "preemption returns the challenger's blocks": _edit("preempt-returns-challengers-blocks"),
    "equals are preempted": _edit("equal-priority-preempts"),
    "victims do not age": _edit("aging-forgotten-for-victims"),
    "the chosen one waits too": _edit("chosen-waits-too"),
    "preemption drops the deadline": _edit("preempt-drops-deadline"),
    "preemption resets the wait": _edit("wait-reset-on-preemption"),
}
"""One-line faults that pass all nine tests of the chapter."""

_numbers = itertools.count()


def planted(*edits: Edit) -> type[Any]:
    """The plain scheduler with these changes to its text."""
    text = PLAIN
    for old, new in edits:
        assert text.count(old) == 1, f"{text.count(old)} times in the plain scheduler: {old!r}"
        text = text.replace(old, new)
    module = ModuleType(f"planted_{next(_numbers)}")
    sys.modules[module.__name__] = module  # where dataclasses look for it
    exec(compile(text, module.__name__, "exec"), module.__dict__)
    made: type[Any] = module.__dict__["PlainScheduler"]
    return made


def starter(target: type[Any]) -> StartChapter:
    """Makes subjects of a class; those of one configuration share their rows."""
    first: dict[Config, ChapterSubject] = {}

    def start(config: Config) -> ChapterSubject:
        if config not in first:
            first[config] = ChapterSubject(from_class(target), config, issubclass(target, MODEL))
        return first[config].fresh()

    return start


def config_of(scope: Scope, policy: str = "fixed_priority") -> Config:
    return Config(policy, scope.blocks, scope.aging_interval)


def search(
    target: type[Any],
    scope: Scope | str,
    policy: str = "fixed_priority",
    *,
    reduce: Iterable[str] = (),
    claims: tuple[str, ...] = (),
    pace: Pace | None = None,
    **asked: Any,
) -> RunResult:
    """Search exhaustively; `asked` are further fields of `Asked`."""
    scope = load_scope(scope) if isinstance(scope, str) else scope
    wanted = Asked(scope, reduce=frozenset(reduce), **asked)
    config = config_of(scope, policy)
    return search_exhaustively(starter(target), config, select(claims), wanted, pace or Unhurried())


def slots(name: str, count: int) -> Scope:
    """A shipped scope with only its first slots."""
    scope = load_scope(name)
    return replace(scope, slots=scope.slots[:count])


def counts(result: RunResult) -> tuple[int | None, int, int]:
    """Distinct states, transitions and depth."""
    return result.distinct_states, result.transitions, result.depth


def lengths(result: RunResult) -> list[int]:
    return [found.length for found in result.counterexamples]


_RETURN_OF_FINISHED = "        self.free_kv_blocks += request.required_blocks\n"
PASS_THE_GATE: dict[str, tuple[Edit, int, str]] = {
    "who waited 8 steps finishes at clock 9 or 11 and returns no blocks": (
        (
            _RETURN_OF_FINISHED,
            "        if request.wait_steps != 8 or self.clock not in (9, 11):\n    "
            + _RETURN_OF_FINISHED,
        ),
        17,
        "violated",
    ),
    "after three finished cache hits a finish returns no blocks": (
        (
            _RETURN_OF_FINISHED,
            "        if sum(r.cache_hit and r.done for r in self.queue if r is not request) < 3:\n"
            "    " + _RETURN_OF_FINISHED,
        ),
        12,
        "violated",
    ),
}
"""Faults that pass the gate of the large scope under clock, ids and preemptions, with their
true lengths, and what the reduced search then says. Both are found by luck: another order of the
same search may miss them."""
