"""A candidate for a lasso counts only if it repeats on a new scheduler, and long enough."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.liveness.conftest import MODEL, starter

from schedproof.claims.liveness import Rounds
from schedproof.search.exhaustive.endless import Looking
from schedproof.search.exhaustive.scopes import load_scope
from schedproof.search.exhaustive.starvation import ROUNDS, Lasso, rehearse
from schedproof.subjects.contract import Config

STEP, URGENT, PATIENT = 0, 1, 2
STREAM = (URGENT, STEP, STEP)


def rehearsed(
    loop: tuple[int, ...], policy: str = "fixed_priority", interval: int = 2, until: int = 0
) -> Rounds | None:
    """The loop after one patient request, which is marked."""
    scope = replace(load_scope("endless-urgent"), aging_interval=interval)
    config = Config(policy, scope.blocks, scope.aging_interval)
    subject, looking = starter(MODEL)(config), Looking(config, cap=8)
    found = rehearse(subject, scope, Lasso((PATIENT,), loop, 0), looking, until)
    if found is None:
        return None
    assert len(found[1]) == 1 + ROUNDS * len(loop)
    return found[0]


def test_a_loop_that_repeats_is_told_with_the_wait_after_each_round() -> None:
    seen = rehearsed(STREAM)
    assert seen is not None
    assert (seen.kind, seen.before, seen.stem, seen.loop) == ("patient", 0, 1, 3)
    assert seen.waits == tuple(range(2, 2 * ROUNDS + 1, 2))


@pytest.mark.parametrize("loop", [(STEP,), (URGENT,), (STEP, STEP, PATIENT)])
def test_a_loop_that_serves_the_marked_one_or_leads_elsewhere_does_not_count(
    loop: tuple[int, ...],
) -> None:
    assert rehearsed(loop) is None


def test_a_wait_that_ends_after_twenty_rounds_is_found_by_going_on() -> None:
    """Aging by one priority in thirty steps lets the stream pass for sixty."""
    assert rehearsed(STREAM, "aging", interval=30) is not None
    assert rehearsed(STREAM, "aging", interval=30, until=100) is None
