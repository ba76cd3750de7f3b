"""For tests of the measurements: the command of the same name, without `test_`, as a module."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def command(request: pytest.FixtureRequest) -> Path:
    """The file of the command."""
    return request.path.with_name(request.path.name.removeprefix("test_"))


@pytest.fixture(scope="module")
def bench(command: Path) -> Any:
    """The command as a module, without what it adds to the path."""
    before = list(sys.path)
    spec = importlib.util.spec_from_file_location(command.stem, command)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path[:] = before
    return module
