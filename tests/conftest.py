"""For all tests: one that is marked `no_cover` is measured in no process at all.

The marker of pytest-cov stops the measurement in the process of the test. Processes that it starts
look into their environment whether they are to be measured.
"""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def unmeasured_children(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take from the children of an unmeasured test what would start their measurement."""
    if request.node.get_closest_marker("no_cover"):
        monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
