"""The record of the mutants: each survivor is of a module that there is, and has its reason."""

from __future__ import annotations

import re

import pytest
from tests.mutation import record, selection
from tests.mutation.selection import PACKAGES

KNOWN = record.explained()
SURVIVED = {
    name
    for modules in record.results().values()
    for came in modules.values()
    for name in came["survived"]
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_survivor_has_a_reason(name: str) -> None:
    found = re.fullmatch(r"schedproof\.([\w.]+)\.(\S+)__mutmut_\d+", name)
    assert found is not None
    module = (PACKAGES / found[1].replace(".", "/")).with_suffix(".py")
    function = re.sub(r"^xǁ\w+?ǁ|^x_", "", found[2])
    assert f"def {function}(" in module.read_text("utf-8")
    assert KNOWN[name].endswith(".")


def test_reasons_are_given_for_survivors_and_for_nothing_else() -> None:
    assert sorted(SURVIVED - {*KNOWN}) == []
    assert sorted({*KNOWN} - SURVIVED) == []


@pytest.mark.parametrize("package", ["claims", "search"])
def test_what_was_run_is_there_and_so_are_its_tests(package: str) -> None:
    chosen = selection.tests_of(package)
    assert set(record.results().get(package, {})) <= set(chosen)
    for module, tests in chosen.items():
        assert (PACKAGES / package / module).with_suffix(".py").exists()
        for test in tests:
            path, _, function = test.partition("::")
            file = PACKAGES.parents[1] / path
            assert file.exists()
            assert f"def {function}" in file.read_text("utf-8") if function else True
