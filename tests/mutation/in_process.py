"""A plugin of pytest: while mutmut learns which test reaches what, nothing runs in a child.

What a child reaches is not seen by mutmut. Where a system cannot fork, searches run in the very
process of the tests; so that is pretended for the one run in which mutmut learns.
"""

from __future__ import annotations

import os

import pytest

from schedproof.search import isolation

_CAN_ISOLATE = isolation.can_isolate


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Before each test: pretend or do not."""
    learning = os.environ.get("MUTANT_UNDER_TEST") == "stats"
    isolation.can_isolate = (lambda: False) if learning else _CAN_ISOLATE
