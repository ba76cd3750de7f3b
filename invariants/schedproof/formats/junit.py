"""The result as JUnit XML, the form in which CI systems read tests.

Rules.
1. One suite for each run, one test case for each claim: a table of them reads as the claims
   under a policy. A claim that is broken fails with its story; one that was not exercised,
   not reached or is not applicable is skipped and says so.
2. The first case of a suite is the search itself. It carries the run's time, and it is an
   error when the search came to no verdict: some case fails whenever the exit code is not 0.
3. Only elements and attributes that all readers know are written, nothing that changes from
   one run to the next but times, and no character that XML does not allow.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from schedproof.formats.reading import CLEAN, claim_title, found_for, in_short, labels, place_of
from schedproof.search.results import (
    OTHER_POLICY,
    ClaimResult,
    ClaimVerdict,
    RunResult,
    Verdict,
)
from schedproof.telling.messages import Say, join, tell
from schedproof.telling.report import Summary
from schedproof.telling.story import story_of
from schedproof.telling.text import story_text
from schedproof.telling.trouble import trouble_lines, trouble_text

_SKIPPED = frozenset(
    verdict.value
    for verdict in (
        ClaimVerdict.NOT_APPLICABLE,
        ClaimVerdict.NOT_EXERCISED,
        ClaimVerdict.NOT_REACHED,
    )
)
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KINDS = ("failure", "error", "skipped")


def to_junit(summaries: list[Summary], language: str) -> str:
    """The whole document; more than one summary where a test run checked several classes."""
    say = tell(language)
    root = Element("testsuites", {"name": "schedproof"})
    for summary in summaries:
        file = place_of(summary.subject)
        for run, label in zip(summary.runs, labels(say, summary.runs), strict=True):
            suite = _suite(say, language, summary, run, label)
            for case in suite.iter("testcase"):
                if file is not None:
                    case.set("file", _plain(file.path))
            root.append(suite)
    _count(root, sum(summary.seconds for summary in summaries))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(say: Say, language: str, summary: Summary, run: RunResult, label: str) -> Element:
    suite = Element("testsuite", {"name": _plain(f"{summary.subject} [{label}]")})
    _properties(suite, run)
    group = _group(summary.subject, label)
    _search_case(say, suite, group, summary, run)
    for claim in run.claims:
        title = claim_title(say, run, claim.id)
        case = _case(suite, group, f"{claim.id} {title}".rstrip())
        if claim.verdict == ClaimVerdict.VIOLATED.value:
            _fail(say, language, case, run, claim)
        elif claim.verdict in _SKIPPED:
            SubElement(case, "skipped", {"message": say(f"outcome.{claim.verdict}")})
    _count(suite, run.seconds)
    return suite


def _group(subject: str, label: str) -> str:
    """A class name as Java has them: readers make a tree of its dots."""
    name = re.sub(r"[/\\:]+", ".", re.sub(r"\.(py|pyw|ipynb)(?=:|$)", "", subject)).strip(".")
    return _plain(f"{name}.{label}")


def _case(suite: Element, group: str, name: str, seconds: float = 0.0) -> Element:
    values = {"classname": group, "name": _plain(name), "time": f"{seconds:.3f}"}
    return SubElement(suite, "testcase", values)


def _search_case(say: Say, suite: Element, group: str, summary: Summary, run: RunResult) -> None:
    """The case for the search as a whole."""
    case = _case(suite, group, say("outcome.search"), run.seconds)
    if run.verdict in CLEAN or run.verdict == Verdict.VIOLATED.value:
        return
    message = join(say, "colon", [say(f"verdict.{run.verdict}"), _why(say, run)])
    nothing_else = summary.verdict is Verdict.NOT_APPLICABLE
    left_out = run.verdict == Verdict.NOT_APPLICABLE.value and not nothing_else
    if left_out or run.stopped_by == OTHER_POLICY:  # the violation is told where it is
        SubElement(case, "skipped", {"message": _plain(message)})
        return
    error = SubElement(case, "error", {"message": _plain(message), "type": run.verdict})
    lines = [] if run.trouble is None else trouble_lines(say, run.policy, run.trouble)
    error.text = _plain("\n".join(line.text for line in lines) or message)


def _why(say: Say, run: RunResult) -> str:
    if run.trouble is not None:
        return trouble_text(say, run.trouble)
    if run.stopped_by == OTHER_POLICY:
        return say(f"stopped.{OTHER_POLICY}")
    return say(f"verdict.{run.verdict}.means")


def _fail(say: Say, language: str, case: Element, run: RunResult, claim: ClaimResult) -> None:
    found = found_for(run, claim)
    if found is None:
        message = text = say("outcome.broken")
    else:
        story = story_of(found, language, run)
        with_another = claim.id != found.claim
        also = say("outcome.also_broken", claim=found.claim)
        message, text = also if with_another else in_short(story), story_text(story)
    failure = SubElement(case, "failure", {"message": _plain(message), "type": claim.id})
    failure.text = _plain(text)


def _properties(suite: Element, run: RunResult) -> None:
    known = {
        "verdict": run.verdict,
        "search": run.search,
        "identity": run.identity,
        "seed": run.seed,
        "distinct_states": run.distinct_states,
        "transitions": run.transitions,
        "depth": run.depth,
        **{f"bound.{name}": value for name, value in run.bounds.items()},
    }
    properties = SubElement(suite, "properties")
    for name, value in known.items():
        if value is not None:
            SubElement(properties, "property", {"name": name, "value": _plain(str(value))})


def _count(around: Element, seconds: float) -> None:
    """Write how many cases there are, and how many of each kind."""
    cases = [*around.iter("testcase")]
    counts = {kind: sum(case.find(kind) is not None for case in cases) for kind in _KINDS}
    around.set("tests", str(len(cases)))
    around.set("failures", str(counts["failure"]))
    around.set("errors", str(counts["error"]))
    if around.tag == "testsuite":
        around.set("skipped", str(counts["skipped"]))
    around.set("time", f"{seconds:.3f}")


def _plain(text: str) -> str:
    """The text without what XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
