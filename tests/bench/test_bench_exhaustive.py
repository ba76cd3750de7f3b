"""The three searches that the benchmark times go through the same states.

Times depend on the machine and are not judged here; that all three count the same is what
makes their ratios mean anything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

GROUND_TRUTH = {"fixed_priority": (7_321, 8_466, 12), "aging": (7_464, 8_574, 12)}


@pytest.mark.parametrize("policy", GROUND_TRUTH)
@pytest.mark.parametrize("search", ["ours", "tuples"])
def test_the_searches_agree_on_the_small_scope(bench: Any, search: str, policy: str) -> None:
    scope = bench.load_scope("small")
    figures = bench.timed(getattr(bench, search), scope, policy)
    assert figures.counts == GROUND_TRUTH[policy]
    assert figures.cpu_seconds > 0


def test_copies_of_real_objects_agree_as_well(bench: Any) -> None:
    assert bench.copies(bench.load_scope("small"), "aging") == GROUND_TRUTH["aging"]


@pytest.mark.parametrize("policy", GROUND_TRUTH)
def test_the_searches_agree_on_a_larger_pool(bench: Any, policy: str) -> None:
    scope = bench.load_scope("large").resized(3, 5)
    scope = replace(scope, slots=(scope.kinds, *scope.slots[:2]))
    found = {bench.ours(scope, policy), bench.tuples(scope, policy), bench.copies(scope, policy)}
    assert len(found) == 1


def test_a_reduced_search_has_fewer_states_and_passes_its_gate(bench: Any) -> None:
    assert bench.reduced(bench.load_scope("small"), "aging")[0] < GROUND_TRUTH["aging"][0]


def test_the_command_tells_ratios_and_fails_where_counts_differ(
    bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = bench.load_scope("small").resized(1, None)
    monkeypatch.setattr(bench, "load_scope", lambda _name: small)
    searches = ["--scope", "small", "--policy", "aging", "--only", "searches"]
    assert bench.main(searches) == 0
    lines = capsys.readouterr().out.splitlines()
    names = ["ours", "tuples", "ours reduced", "tuples again", "copies"]
    assert [line[:14].rstrip() for line in lines[2:7]] == names
    assert lines[7].endswith("MiB per million states")
    monkeypatch.setattr(bench, "tuples", lambda _scope, _policy: (1, 0, 0))
    assert bench.main(searches) == 1


def test_the_command_finds_first_counterexamples_in_processes_of_their_own(
    bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "FAULTS", {"finish-keeps-blocks": 3})
    first = ["--scope", "small", "--only", "first"]
    assert bench.main(first) == 0
    (line,) = capsys.readouterr().out.splitlines()[2:]
    assert line.split()[:3] == ["finish-keeps-blocks", "small", "3"]
    monkeypatch.setattr(bench, "FAULTS", {"finish-keeps-blocks": 4})
    assert bench.main(first) == 1
