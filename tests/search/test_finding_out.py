"""What is found out about a counterexample: plainer traces, lines, budgets, worse traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest

from schedproof.claims.catalogue import BY_ID, CLAIMS
from schedproof.search.again import Again, OutOfBudget
from schedproof.search.evidence import RAISED, Evidence
from schedproof.search.finding_out import explained, find_out, made_plain
from schedproof.search.play_forward import play_forward
from schedproof.search.replay import counterexample
from schedproof.search.results import Counterexample, RunResult
from schedproof.search.who_wrote import who_wrote
from schedproof.subjects.actions import STEP, Action, Enqueue, from_json
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config
from schedproof.zoo.chapter_faults import BY_NAME
from schedproof.zoo.loading import load_class
from schedproof.zoo.plain import PlainScheduler, Request

CONFIG = Config("fixed_priority", 3, 2)
Start = Callable[[Config], ChapterSubject]


def start_of(scheduler: type[Any]) -> Start:
    made = from_class(scheduler)
    return lambda config: ChapterSubject(made, config)


def fault(name: str) -> Start:
    return start_of(load_class(BY_NAME[name]))


def enqueue(request_id: int, blocks: int = 1, **more: Any) -> Enqueue:
    return Enqueue(request_id, 1, required_blocks=blocks, **more)


def found(start: Start, claim: str, actions: Sequence[Action]) -> Counterexample:
    violation = Again(start, [BY_ID[claim]]).violation(actions, CONFIG)
    assert violation is not None
    return counterexample(start, violation, "random")


PREEMPTS: list[Action] = [
    Enqueue(4, 9, 3, -2, False, 2, None, True),
    STEP,
    STEP,
    Enqueue(7, 5, 4, 6, True, 3, 50, False),
    STEP,
]


def test_a_trace_is_made_plain_and_stays_as_long() -> None:
    start = fault("preempt-forgets-tokens")
    plain = made_plain(found(start, "PROGRESS-2", PREEMPTS), start, CLAIMS)
    actions = [from_json(action) for action in plain.actions]
    assert actions == [
        enqueue(4, 1, max_new_tokens=2),
        STEP,
        STEP,
        enqueue(7, 3, max_new_tokens=1, priority=1),
        STEP,
    ]
    assert explained(plain, start, CLAIMS).actions == plain.actions


def test_a_request_that_is_not_needed_is_left_out() -> None:
    start = fault("preempt-forgets-tokens")
    actions: list[Action] = [enqueue(4, 2, max_new_tokens=3), STEP, STEP]
    actions += [enqueue(9, 1, priority=-9), enqueue(7, 2, priority=1), STEP]
    plain = made_plain(found(start, "PROGRESS-2", actions), start, CLAIMS)
    assert [action["op"] == "enqueue" for action in plain.actions].count(True) == 2
    assert plain.length == 6


class LosesBoth(PlainScheduler):
    """Preemption sets phase and tokens back."""

    def _preempt(self, victim: Request) -> None:
        super()._preempt(victim)
        victim.generated_len = 0
        victim.phase = "prefill"


def test_a_longer_trace_that_does_more_damage_is_found() -> None:
    start = start_of(LosesBoth)
    actions: list[Action] = [enqueue(0, 2, max_new_tokens=1), STEP]
    actions += [enqueue(1, 2, priority=1), STEP]
    evidence = explained(found(start, "PROGRESS-2", actions), start, CLAIMS).evidence
    assert evidence is not None
    assert evidence.forward is not None
    assert evidence.forward.repeated == ((0, 0),)
    assert evidence.worse is not None
    assert (len(evidence.worse.actions), evidence.worse.request, evidence.worse.token) == (5, 0, 1)
    assert Evidence.from_json(asdict(evidence)) == evidence
    only_phase = fault("preempt-repeats-prefill")
    evidence = explained(found(only_phase, "PROGRESS-2", actions), only_phase, CLAIMS).evidence
    assert evidence is not None
    assert evidence.worse is None


def test_the_budget_is_kept_and_nothing_is_said_by_halves() -> None:
    start = fault("preempt-forgets-tokens")
    again = Again(start, [BY_ID["PROGRESS-2"]], budget=7)
    assert again.violation(PREEMPTS, CONFIG) is not None
    with pytest.raises(OutOfBudget):
        again.violation(PREEMPTS, CONFIG)


class Slots(PlainScheduler):
    """Writes through a helper of Python's own."""

    def _preempt(self, victim: Request) -> None:
        super()._preempt(victim)
        vars(victim).update(generated_len=0)


def test_a_write_that_python_does_is_told_by_the_line_that_called_it() -> None:
    guilty = [(4, "generated_len"), (None, "free_kv_blocks"), (9, "status")]
    writes, unwritten = who_wrote(start_of(Slots), CONFIG, PREEMPTS, guilty)
    ours = [write for write in writes if write.name == "generated_len"]
    (line,) = {dict(write.place["lines"])[write.place["line"]].strip() for write in ours}
    assert line == "vars(victim).update(generated_len=0)"
    assert (9, "status") not in unwritten
    assert who_wrote(start_of(Slots), CONFIG, PREEMPTS, []) == ((), ())


class RaisesLater(PlainScheduler):
    """Fails in its fourth step."""

    def step(self) -> Any:
        if self.clock == 3:
            raise RuntimeError("later")
        return super().step()


def test_a_scheduler_that_fails_when_played_forward_is_told_to() -> None:
    forward = play_forward(start_of(RaisesLater), CONFIG, [enqueue(0, max_new_tokens=9)])
    assert (forward.outcome, forward.error, forward.steps) == (RAISED, "RuntimeError", 3)


def test_an_explanation_that_fails_leaves_the_counterexample_as_it_was() -> None:
    example = found(fault("preempt-forgets-tokens"), "PROGRESS-2", PREEMPTS)
    run = RunResult.blank("fixed_priority", "random", {})
    assert find_out(run, fault("exact-fit-waits"), CLAIMS) is run
    strange = explained(example, start_of(RaisesLater), CLAIMS)
    assert strange.actions == example.actions
    unknown = Counterexample(**{**vars(example), "claim": "MINE-1"})
    assert explained(unknown, fault("preempt-forgets-tokens"), CLAIMS) is unknown


def test_a_subject_without_a_scheduler_is_not_watched() -> None:
    def start(_config: Config) -> Any:
        return SimpleNamespace(observe=lambda: None, do=lambda _action: None)

    assert who_wrote(start, CONFIG, [STEP], [(0, "status")]) == ((), ())
