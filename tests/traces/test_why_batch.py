"""Why a step of batches served whom it served: every outcome, and states that ours cannot be in."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from schedmodel.batch import BatchScheduler
from schedproof.subjects.actions import STEP, Action, BatchEnqueue
from schedproof.subjects.batch import BatchSubject, from_batch_class
from schedproof.subjects.contract import Config, Limits
from schedproof.telling.language import LANGUAGES
from schedproof.telling.reasons import decision_lines
from schedproof.traces.why import Decision, decisions
from schedproof.traces.why_batch import places_of

CONFIG = Config("fcfs", blocks=3, limits=Limits())
ONE, TWO, LONG = BatchEnqueue(0, 1, 3), BatchEnqueue(1, 1, 3), BatchEnqueue(2, 3, 1)


def start(config: Config) -> BatchSubject:
    return BatchSubject(from_batch_class(BatchScheduler), config)


def led(config: Config, *actions: Action) -> BatchSubject:
    subject = start(config)
    for action in actions:
        subject.do(action)
    return subject


def outcomes(config: Config, *actions: Action) -> list[tuple[int, str, dict[str, Any]]]:
    places = places_of(led(config, *actions).observe(), config)
    assert places is not None
    return [(place.request_id, place.outcome, place.values) for place in places]


ROOMY = replace(CONFIG, blocks=9)
FEW_SEATS = replace(ROOMY, limits=Limits(max_num_seqs=1))
FEW_TOKENS = replace(ROOMY, limits=Limits(max_num_batched_tokens=3))


@pytest.mark.parametrize(
    ("config", "actions", "expected"),
    [
        (ROOMY, [ONE], [(0, "is_let_in", {"tokens": 1})]),
        (ROOMY, [ONE, STEP], [(0, "decodes", {})]),
        (ROOMY, [ONE, STEP, STEP], [(0, "grows", {})]),
        (
            FEW_SEATS,
            [ONE, TWO, STEP],
            [(0, "decodes", {}), (1, "no_seat", {"limit": 1})],
        ),
        (
            FEW_TOKENS,
            [ONE, BatchEnqueue(1, 3, 1), BatchEnqueue(2, 1, 1)],
            [
                (0, "is_let_in", {"tokens": 1}),
                (1, "no_tokens", {"needs": 3, "left": 2}),
                (2, "waits_behind", {"request": 1}),
            ],
        ),
        (
            CONFIG,
            [ONE, STEP, LONG],
            [(0, "decodes", {}), (2, "no_blocks", {"needs": 2, "kept": 1, "free": 2})],
        ),
        (
            CONFIG,
            [ONE, BatchEnqueue(1, 2, 3), STEP, STEP],
            [(0, "grows", {}), (1, "gives_way", {"blocks": 2})],
        ),
    ],
)
def test_what_becomes_of_each_is_told_with_its_numbers(
    config: Config, actions: list[Action], expected: list[tuple[int, str, dict[str, Any]]]
) -> None:
    assert outcomes(config, *actions) == expected


def test_our_scheduler_does_what_it_is_said_to_do_and_texts_are_there() -> None:
    actions: list[Action] = [ONE, TWO, LONG, *[STEP] * 12]
    found, error = decisions(start, CONFIG, actions)
    assert error is None
    assert [each.as_ruled for each in found] == [True] * 12
    for each in found:
        assert Decision.from_json(json.loads(json.dumps(each.to_json()))) == each
        for language in LANGUAGES:
            assert all("{" not in line.text for line in decision_lines(each, language))


def test_what_was_done_otherwise_is_told_beside_what_is_due() -> None:
    found, _ = decisions(start, CONFIG, [ONE, STEP])
    other = replace(found[0], batch=())
    assert other.as_ruled is False
    assert "By the rules: r0 is served" in decision_lines(other, "en")[-1].text


def test_a_state_that_ours_cannot_be_in_is_not_explained() -> None:
    subject = led(CONFIG, ONE, STEP)
    seen = subject.observe()
    assert places_of(seen._replace(paged=None), CONFIG) is None
    assert places_of(seen, replace(CONFIG, policy="aging")) is None
    assert seen.paged is not None
    assert places_of(seen._replace(paged=seen.paged._replace(running=(7,))), CONFIG) is None
    odd = replace(seen.rows[0], state=None)
    assert places_of(seen._replace(rows=(odd,)), CONFIG) is None
    assert asdict(places_of(seen, CONFIG)[0])["phase"] == "decode"  # type: ignore[index]
