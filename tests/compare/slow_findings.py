"""Findings that take minutes; no test runner collects this file unless it is named.

python -m pytest tests/compare/slow_findings.py
"""

from __future__ import annotations

from tests.compare import findings


def test_the_findings_are_what_the_commands_say() -> None:
    assert [findings.record_of(*each) for each in findings.documents()] == findings.read()
