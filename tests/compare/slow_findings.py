"""Findings that take minutes; no test runner collects this file unless it is named.

python -m pytest tests/compare/slow_findings.py
SCHEDPROOF_TRACES=FOLDER python -m pytest tests/compare/slow_findings.py   the longer ones too
"""

from __future__ import annotations

import os

import pytest
from tests.compare import findings


def test_the_findings_are_what_the_commands_say() -> None:
    assert [findings.record_of(*each) for each in findings.documents()] == findings.read()


def test_the_longer_recordings_are_what_the_commands_say() -> None:
    folder = os.environ.get("SCHEDPROOF_TRACES")
    if folder is None:
        pytest.skip("SCHEDPROOF_TRACES names no folder with the longer recordings")
    assert findings.full(folder) == findings.read(findings.FULL_PATH)
