"""JUnit XML as CI systems read it: counts that add up, and a failure wherever one must be."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tests.formats.conftest import SUBJECT, clean, troubled

from schedproof.formats.junit import to_junit
from schedproof.search.results import Verdict
from schedproof.telling.report import Summary

# What readers of this format agree on; none of the attributes may be missing.
ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testcase": {"name", "classname", "time"},
    "property": {"name", "value"},
    "properties": set[str](),
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
}
MAY_BE_THERE = {"testcase": {"file"}}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure", "error", "skipped"},
}
KINDS = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def read(text: str) -> ElementTree.Element:
    """The document, once it is known that every reader understands it."""
    root = ElementTree.fromstring(text)
    for element in root.iter():
        names = set(element.attrib) - MAY_BE_THERE.get(element.tag, set())
        assert names == ATTRIBUTES[element.tag], element.tag
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
    for around in (root, *root):
        cases = [*around.iter("testcase")]
        assert int(around.attrib["tests"]) == len(cases)
        for kind, name in KINDS.items():
            if name in around.attrib:
                told = int(around.attrib[name])
                assert told == sum(case.find(kind) is not None for case in cases), name
    seen = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(seen) == len(set(seen)), "two cases have one name"
    return root


def case(root: ElementTree.Element, group: str, begin: str) -> ElementTree.Element:
    (found,) = (
        c
        for c in root.iter("testcase")
        if c.attrib["classname"].endswith(group) and c.attrib["name"].startswith(begin)
    )
    return found


def test_a_suite_for_each_run_and_a_case_for_each_claim(broken: Summary) -> None:
    root = read(to_junit([broken], "en"))
    names = [suite.attrib["name"] for suite in root]
    assert names[1] == f"{SUBJECT} [deadline]"
    assert len(names) == len(broken.runs) == len(set(names))
    for suite, run in zip(root, broken.runs, strict=True):
        assert len(suite.findall("testcase")) == 1 + len(run.claims)
        times = [float(case.attrib["time"]) for case in suite.iter("testcase")]
        assert sum(times) == pytest.approx(float(suite.attrib["time"])) == run.seconds


def test_a_broken_claim_fails_with_its_story(broken: Summary) -> None:
    root = read(to_junit([broken], "en"))
    failure = case(root, ".deadline", "PROGRESS-2 A preempted request").find("failure")
    assert failure is not None
    assert failure.attrib["type"] == "PROGRESS-2"
    assert "But r1 also lost" in failure.attrib["message"]
    assert "How to get there" in str(failure.text)
    also = case(root, ".deadline", "PROGRESS-1 ").find("failure")
    assert also is not None
    assert "PROGRESS-2" in also.attrib["message"]


def test_the_same_in_chinese(broken: Summary) -> None:
    root = read(to_junit([broken], "zh"))
    failure = case(root, ".deadline", "PROGRESS-2 被抢占").find("failure")
    assert failure is not None
    assert "怎么一步步走到这里" in str(failure.text)


def test_what_nothing_is_known_of_is_skipped_and_says_so() -> None:
    root = read(to_junit([Summary(SUBJECT, (clean(),), 2.0)], "en"))
    told = {
        name: skipped.attrib["message"]
        for name in ("WORK-1", "LIVE-1", "REACH-MISS", "LEDGER-1")
        if (skipped := case(root, ".aging", name).find("skipped")) is not None
    }
    assert told["WORK-1"] == "not exercised, so nothing is known"
    assert sorted(told) == ["LIVE-1", "REACH-MISS", "WORK-1"]


@pytest.mark.parametrize("verdict", Verdict)
def test_something_fails_whenever_the_exit_code_is_not_0(verdict: Verdict) -> None:
    run = clean(verdict=verdict.value)
    if verdict is Verdict.VIOLATED:
        run = replace(run, claims=(replace(run.claims[0], verdict="violated"),))
    summary = Summary(SUBJECT, (run,), 2.0)
    root = read(to_junit([summary], "en"))
    fails = int(root.attrib["failures"]) + int(root.attrib["errors"])
    assert (fails > 0) == (summary.exit_code != 0)


def test_a_policy_that_the_class_does_not_have_fails_nothing() -> None:
    without = clean(policy="deadline", verdict="not_applicable", claims=())
    root = read(to_junit([Summary(SUBJECT, (without, clean()), 2.0)], "en"))
    assert root.attrib["failures"] == root.attrib["errors"] == "0"


def test_a_search_that_was_not_needed_any_more_fails_nothing() -> None:
    ended = clean(policy="fcfs", verdict="incomplete", stopped_by="other_policy", claims=())
    root = read(to_junit([Summary(SUBJECT, (clean(), ended), 2.0)], "en"))
    assert root.attrib["failures"] == root.attrib["errors"] == "0"
    skipped = case(root, "fcfs", "the search").find("skipped")
    assert skipped is not None
    assert "another policy shows a violation" in skipped.attrib["message"]


def test_trouble_is_an_error_and_strange_signs_do_no_harm() -> None:
    root = read(to_junit([Summary(SUBJECT, (troubled(),), 2.0)], "en"))
    error = case(root, ".fcfs", "the search").find("error")
    assert error is not None
    assert "KeyError" in error.attrib["message"]
    assert "<a> | & ```" in str(error.text)


def test_one_policy_searched_twice_makes_two_groups() -> None:
    both = (clean(), clean(search="exhaustive"))
    root = read(to_junit([Summary("pkg.mod:Class", both, 2.0)], "en"))
    groups = {case.attrib["classname"] for case in root.iter("testcase")}
    assert groups == {"pkg.mod.Class.aging, random", "pkg.mod.Class.aging, exhaustive"}


def test_several_results_make_one_document(broken: Summary) -> None:
    other = Summary("pkg.mod:Class", (clean(),), 1.0)
    root = read(to_junit([broken, other], "en"))
    assert len(root) == len(broken.runs) + 1
    assert float(root.attrib["time"]) == pytest.approx(5.5)
