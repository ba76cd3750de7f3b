"""The whole scopes of the paged scheduler; no test runner collects this file unless it is named.

python -m pytest tests/exhaustive/slow_paged.py
"""

from __future__ import annotations

import pytest
from tests.exhaustive.test_paged import found

from schedmodel.batch import BATCH_POLICIES


@pytest.mark.parametrize("policy", BATCH_POLICIES)
@pytest.mark.parametrize("scope", ["paged-tight", "paged-default", "paged-large"])
def test_the_paged_scheduler_keeps_all_claims_in_every_state(scope: str, policy: str) -> None:
    assert found(policy, scope).verdict == "holds_within_bounds"


@pytest.mark.parametrize("policy", BATCH_POLICIES)
@pytest.mark.parametrize("blocks", range(1, 7))
@pytest.mark.parametrize(
    ("scope", "requests"), [("paged-tight", 3), ("paged-default", 1), ("paged-default", 2)]
)
def test_it_keeps_them_over_one_to_six_blocks(
    scope: str, requests: int, blocks: int, policy: str
) -> None:
    """One step in flight in the first of these scopes, two in the others."""
    assert found(policy, scope, requests, blocks).verdict in ("holds_within_bounds", "vacuous")
