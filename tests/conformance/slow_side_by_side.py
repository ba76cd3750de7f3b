"""The indexed scheduler beside the model through larger scopes: minutes; named, not collected.

python -m pytest tests/conformance/slow_side_by_side.py
"""

from __future__ import annotations

import pytest
from tests.conformance.side_by_side import SideBySide, read

from schedproof.search.exhaustive.scopes import load_scope

LARGE = [name for name in read() if not name.startswith("small ")]


@pytest.mark.parametrize("name", LARGE)
def test_every_edge_of_a_larger_scope_is_the_same(name: str) -> None:
    scope, policy = name.split()
    assert list(SideBySide(policy, load_scope(scope)).run()) == read()[name]
