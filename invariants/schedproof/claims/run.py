"""A finished run, as claims about whole runs see it.

Rules. A run is a configuration, its actions, and what was answered. Relations ask for the
same scheduler to be started again and led through other actions; they compare reports.
Enqueues that were refused are left out of such a comparison: a swap could turn a refusal
into an acceptance. If the run was drained, `at_drain` is the state when arrivals stopped,
and the last `drain_steps` actions are the steps taken since.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from schedproof.subjects.actions import Action, Enqueue, Step
from schedproof.subjects.contract import Config, Subject
from schedproof.subjects.observation import EVENT_KEYS, Answer, Observation

StartSubject = Callable[[Config], Subject]
Disturb = Callable[[Subject], None]


class Choice(NamedTuple):
    """What a step decided: whom it served, what ran, and who was preempted."""

    request_id: Any
    action: Any
    preempted: Any


_COLUMNS = tuple(EVENT_KEYS.index(n) for n in ("request_id", "action", "preempted_request_id"))


@dataclass(frozen=True)
class Run:
    """One run from the start of a subject. `answers[i]` is the answer to `actions[i]`."""

    start: StartSubject
    config: Config
    actions: tuple[Action, ...]
    answers: tuple[Answer, ...]
    final: Observation
    at_drain: Observation | None = None
    drain_steps: int = 0

    @cached_property
    def accepted(self) -> tuple[Action, ...]:
        """The actions without the refused enqueues."""
        pairs = zip(self.actions, self.answers, strict=True)
        return tuple(action for action, answer in pairs if answer.accepted is not False)

    @cached_property
    def base(self) -> tuple[Answer, ...]:
        """What the steps of `accepted` answer when they are taken again."""
        return self.steps_of(self.accepted)

    def steps_of(
        self,
        actions: Sequence[Action],
        config: Config | None = None,
        disturb: Disturb | None = None,
    ) -> tuple[Answer, ...]:
        """Answers to the steps of these actions on a new subject.

        `disturb` is called on the subject before each step.
        """
        subject = self.start(config or self.config)
        answers: list[Answer] = []
        for action in actions:
            if isinstance(action, Step):
                if disturb is not None:
                    disturb(subject)
                answers.append(subject.do(action))
            else:
                subject.do(action)
        return tuple(answers)


def choice_of(answer: Answer) -> Choice | None:
    """The decision in a step's answer; None when nobody was served."""
    if answer.event is None:
        return None
    return Choice(*(answer.event[column] for column in _COLUMNS))


def map_enqueues(
    actions: Sequence[Action], change: Callable[[Enqueue], dict[str, Any]]
) -> tuple[Action, ...]:
    """The actions with each enqueue's arguments changed as `change` says."""
    return tuple(replace(a, **change(a)) if isinstance(a, Enqueue) else a for a in actions)
