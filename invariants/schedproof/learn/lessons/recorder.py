"""A scheduler that takes down what is done to it, for answers that are runs.

Rules. It is called and looked at like the scheduler itself. Every call that the scheduler
accepts is an action, `run` as many as it takes steps. What a look at the requests says before
and after each action is kept for the goals.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from schedproof.subjects.actions import STEP, Abort, Action, BatchEnqueue, Enqueue
from schedproof.subjects.observation import Observation

MAX_STEPS = 1000


class TooManyActions(Exception):
    """The run has more actions than anybody wants to look at."""


@dataclass(frozen=True)
class Moment:
    """One action, what was seen before and after it, and who was served."""

    action: Action
    before: Observation
    after: Observation
    served: tuple[int, ...]


class Recorder:
    """Stands before a scheduler; `moments` is what happened."""

    def __init__(self, subject: Any, most: int) -> None:
        self._subject = subject
        self._most = most
        self._enqueue = Enqueue if subject.config.limits is None else BatchEnqueue
        self.moments: list[Moment] = []

    def enqueue(self, *values: Any, **named: Any) -> Any:
        """Submit a request; arguments are those of the scheduler."""
        bound = inspect.signature(self._subject.scheduler.enqueue).bind(*values, **named)
        return self._do(self._enqueue(**bound.arguments))

    def step(self) -> Any:
        """Let the scheduler take one step."""
        return self._do(STEP)

    def run(self, max_steps: int = MAX_STEPS) -> None:
        """Step until nobody is served."""
        for _ in range(max_steps):
            self.step()
            if not self.moments[-1].served:
                break

    def abort(self, request_id: int) -> Any:
        """Withdraw a request."""
        return self._do(Abort(request_id))

    def _do(self, action: Action) -> Any:
        if len(self.moments) >= self._most:
            raise TooManyActions
        before = self._subject.observe()
        answer = self._subject.do(action)
        served = tuple(span.request_id for span in answer.batch)
        self.moments.append(Moment(action, before, self._subject.observe(), served))
        if answer.accepted is False:
            raise ValueError(f"the scheduler refused {action}")
        return answer.event

    def __getattr__(self, name: str) -> Any:
        return getattr(self._subject.scheduler, name)
