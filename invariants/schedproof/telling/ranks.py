"""Ranks as they are told: the priority, or where waiting counts the effective one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedmodel.policy import KNOWN_POLICIES
from schedproof.search.results import Counterexample


def ages(example: Counterexample) -> bool:
    """Whether waiting raises priorities under the policy."""
    policy = KNOWN_POLICIES.get(example.policy)
    return policy is not None and policy.ages


def rank(request: Mapping[str, Any], example: Counterexample) -> int:
    """The number by which requests of a counterexample are compared."""
    if not ages(example):
        return int(request["priority"])
    return int(request["priority"]) + int(request["wait_steps"]) // example.aging_interval
