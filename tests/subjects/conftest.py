"""Schedulers of many shapes, led through a few actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schedproof.subjects.actions import STEP, Enqueue
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config, SubjectError
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell
from schedproof.zoo.plain import PlainScheduler

ONE, TWO = Enqueue(1, 4), Enqueue(2, 4, priority=1)
PREEMPTING = (ONE, STEP, TWO, STEP)


def subject_of(scheduler: Callable[..., Any], policy: str = "fixed_priority") -> ChapterSubject:
    return ChapterSubject(from_class(scheduler), Config(policy, blocks=1))


def led(scheduler: Callable[..., Any], *actions: Any, policy: str = "fixed_priority") -> Any:
    """A subject after these actions, observed after each."""
    subject = subject_of(scheduler, policy)
    for action in actions:
        subject.do(action)
        subject.observe()
    return subject


def error_of(scheduler: Callable[..., Any], *actions: Any) -> SubjectError:
    with pytest.raises(SubjectError) as caught:
        led(scheduler, *actions).observe()
    for language in LANGUAGES:
        assert tell(language)(caught.value.message_id, **caught.value.values)
    return caught.value


def reporting(change: Callable[[dict[str, Any]], Any]) -> type[Any]:
    """A scheduler whose step returns what `change` makes of its report."""

    class Reporting(PlainScheduler):
        def step(self) -> Any:
            event = super().step()
            return event if event is None else change(event)

    return Reporting
