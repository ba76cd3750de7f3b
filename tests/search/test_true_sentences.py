"""Sentences of a story that were once said where they were not true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from schedproof.claims.catalogue import BY_ID
from schedproof.search.again import Again
from schedproof.search.evidence import DONE, STUCK, Varied
from schedproof.search.finding_out import explained
from schedproof.search.play_forward import play_forward
from schedproof.search.replay import counterexample
from schedproof.search.results import Counterexample
from schedproof.search.vary import vary
from schedproof.subjects.actions import STEP, Action, Enqueue
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config
from schedproof.telling.aftermath import follows_of
from schedproof.telling.conditions import conditions_of
from schedproof.telling.messages import tell
from schedproof.zoo.chapter_faults import BY_NAME
from schedproof.zoo.loading import load_class
from schedproof.zoo.plain import PlainScheduler, Request

CONFIG = Config("fixed_priority", 3, 2)
SAY = tell("en")


def start_of(kind: type[Any]) -> Callable[[Config], ChapterSubject]:
    made = from_class(kind)
    return lambda config: ChapterSubject(made, config)


def explain(kind: type[Any], claim: str, actions: Sequence[Action]) -> Counterexample:
    start = start_of(kind)
    violation = Again(start, [BY_ID[claim]]).violation(actions, CONFIG)
    assert violation is not None
    return explained(counterexample(start, violation, "random"), start, [BY_ID[claim]], plain=False)


def fault(name: str) -> type[Any]:
    return load_class(BY_NAME[name])


def test_that_nothing_follows_is_not_said_of_a_request_that_is_finished_too_early() -> None:
    actions: list[Action] = [Enqueue(0, 1, 1, priority=1), STEP, STEP]
    actions += [Enqueue(1, 1, 1, priority=2), STEP, Enqueue(2, 1, 1, deadline_step=4), STEP]
    told = follows_of(SAY, explain(fault("late-request-is-ended"), "LIFE-3", actions))
    assert told == ("r2 is finished after 4 steps already, by the rules after 6.",)


class StopsShort(PlainScheduler):
    """Counts a request as finished one token early, if it wants three."""

    def step(self) -> Any:
        done = super().step()
        for request in self.queue:
            if request.status == "running" and request.generated_len == 2:
                self._finish(request)
        return done

    def _choose(self, candidates: list[Request]) -> tuple[Request | None, Request | None]:
        return super()._choose([each for each in candidates if each.status != "finished"])


def test_a_request_that_gets_too_few_tokens_is_told_as_such() -> None:
    actions: list[Action] = [Enqueue(0, 1, 3), STEP, STEP, STEP]
    told = follows_of(SAY, explain(StopsShort, "LIFE-3", actions))
    assert told[0] == "r0 counts as finished with 2 of 3 tokens: its client gets too few."


class Rests(PlainScheduler):
    """Serves nobody in two of three calls."""

    calls = 0

    def step(self) -> Any:
        self.calls += 1
        return super().step() if self.calls % 3 == 0 else None


class Stops(PlainScheduler):
    """Serves nobody once a token is there."""

    def step(self) -> Any:
        return None if any(r.generated_len for r in self.queue) else super().step()


def test_for_ever_is_not_said_of_a_scheduler_that_rests() -> None:
    for kind, outcome in ((Rests, DONE), (Stops, STUCK)):
        forward = play_forward(start_of(kind), CONFIG, [Enqueue(0, 1, 2)])
        assert forward.outcome == outcome


LOSES: list[Action] = [
    Enqueue(0, 1, 6, required_blocks=2),
    *[STEP] * 4,
    Enqueue(1, 1, 1, priority=1, required_blocks=2),
    STEP,
]


def test_how_many_tokens_a_victim_has_is_counted() -> None:
    told = conditions_of(SAY, explain(fault("preempt-forgets-tokens"), "PROGRESS-2", LOSES))
    assert "r0 has generated 3 tokens and has 3 to go" in told.matters
    short = [Enqueue(0, 1, 2, required_blocks=2), STEP, STEP, *LOSES[-2:]]
    told = conditions_of(SAY, explain(fault("preempt-forgets-tokens"), "PROGRESS-2", short))
    assert "r0 has generated a token and has one to go" in told.matters


class Picky(PlainScheduler):
    """Leaks for prompts of two and three."""

    def _finish(self, request: Request) -> None:
        super()._finish(request)
        if request.prompt_len in (2, 3):
            self.free_kv_blocks -= 1


def test_no_bound_is_told_where_there_is_none() -> None:
    actions: list[Action] = [Enqueue(0, 2, 1), STEP, STEP]
    told = conditions_of(SAY, explain(Picky, "LEDGER-1", actions))
    assert told.matters == "r0's prompt length is 2; r0's max_new is 1."


def test_ranks_of_others_are_tried_too() -> None:
    class Equal(PlainScheduler):
        """Leaks unless all ranks are equal."""

        def _finish(self, request: Request) -> None:
            super()._finish(request)
            ranks = {each.priority for each in self.queue}
            self.free_kv_blocks -= len(ranks) > 1

    again = Again(start_of(Equal), [BY_ID["LEDGER-1"]])
    actions: list[Action] = [Enqueue(0, 1, 1, priority=3), Enqueue(1, 1, 1), STEP, STEP]
    found: dict[Any, Varied] = {(v.request, v.name): v for v in vary(again, actions, CONFIG)}
    assert found[0, "priority"].matters
    assert found[1, "priority"].matters
