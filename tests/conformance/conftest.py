"""Every contract is asked of all schedulers: the model, the plain one, and the indexed one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from schedmodel import DecodeSchedulerSim
from schedmodel.indexed import IndexedSchedulerSim
from schedproof.zoo.plain import PlainScheduler

Make: TypeAlias = Callable[..., Any]


@pytest.fixture(
    params=[DecodeSchedulerSim, PlainScheduler, IndexedSchedulerSim],
    ids=["model", "plain", "indexed"],
)
def make(request: pytest.FixtureRequest) -> Make:
    """The class of a scheduler."""
    scheduler: Make = request.param
    return scheduler
