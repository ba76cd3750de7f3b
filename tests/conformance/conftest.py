"""Every contract is asked of both schedulers: the model, and the plain one without a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from schedmodel import DecodeSchedulerSim
from schedproof.zoo.plain import PlainScheduler

Make: TypeAlias = Callable[..., Any]


@pytest.fixture(params=[DecodeSchedulerSim, PlainScheduler], ids=["model", "plain"])
def make(request: pytest.FixtureRequest) -> Make:
    """The class of a scheduler."""
    scheduler: Make = request.param
    return scheduler
