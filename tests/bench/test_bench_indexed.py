"""The comparison of the indexed scheduler with sorting does the same work on both sides."""

from __future__ import annotations

from typing import Any

import pytest

from schedmodel import KNOWN_POLICIES


@pytest.mark.parametrize("policy", KNOWN_POLICIES)
@pytest.mark.parametrize("tight", [False, True])
def test_both_schedulers_report_equal_events(bench: Any, policy: str, tight: bool) -> None:
    assert bench.compare(policy, 40, tight).equal


def test_events_that_differ_end_the_command_with_one(
    bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Backwards(bench.PlainScheduler):  # type: ignore[misc]
        def _schedule_key(self, request: Any) -> tuple[int, ...]:
            return (-request.request_id,)

    monkeypatch.setattr(bench, "PlainScheduler", Backwards)
    assert bench.main(["--active", "5"]) == 1
    assert "EVENTS DIFFER" in capsys.readouterr().out
