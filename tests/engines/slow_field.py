"""Real packages and repositories, fetched and searched: `pytest tests/engines/slow_field.py`.

What cannot be reached from here is skipped and says so. `python -m tests.engines.field` records
what was found in full; here each code base is searched until its first broken claim.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.engines.field.__main__ import BASES, RUNS, SEED, NotReached, fetched, search

from schedproof.search.engines.engine_search import Within

FOLDER = os.environ.get("SCHEDPROOF_FIELD", "")
"""Where code bases are kept between runs; a temporary folder if nobody says."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(FOLDER) if FOLDER else tmp_path_factory.mktemp("field")


@pytest.mark.parametrize("base", BASES, ids=[base["name"] for base in BASES])
def test_the_search_comes_to_the_same_again(base: dict[str, Any], folder: Path) -> None:
    try:
        place = fetched(base, folder)
    except NotReached as reason:
        pytest.skip(f"cannot be fetched from here: {reason}")
    found = search(base, place, Within(RUNS // 3, SEED, shrink_seconds=1.0))
    clean = bool(base.get("clean"))
    assert found.verdict == ("no_violation_found" if clean else "violated"), found.trouble
