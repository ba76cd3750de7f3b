"""Every fault of the zoo as a story in both languages; some of them letter by letter.

The traces are pinned in `fault_traces.json` and taken again here, so no search runs. The
snapshots are renewed as those of `test_stories` are.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest
from tests.telling.fault_traces import read

from schedproof.claims.catalogue import CLAIMS
from schedproof.search.evidence import DONE, STUCK, Evidence
from schedproof.search.finding_out import explained
from schedproof.search.results import Counterexample, RunResult
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config
from schedproof.telling.layout import width_of
from schedproof.telling.messages import tell
from schedproof.telling.story import story_of
from schedproof.telling.text import story_text
from schedproof.telling.trouble import trouble_lines
from schedproof.traces.taken import STILL, Taken, take_again
from schedproof.traces.trace import Provenance, Trace
from schedproof.zoo.chapter_faults import BY_NAME, CHAPTER_FAULTS
from schedproof.zoo.loading import load_class

SNAPSHOTS = Path(__file__).parent / "fault_snapshots"
TRACES = read()
LANGUAGES = ("en", "zh")
PINNED = (
    "preempt-forgets-tokens",
    "preempt-returns-challengers-blocks",
    "preempt-keeps-blocks",
    "victim-leaves-the-queue",
    "protected-victim",
    "head-of-line-blocks",
    "preempted-go-last",
    "wait-reset-on-preemption",
    "miss-told-too-late",
    "priority-classes",
    "id-accepted-twice",
    "resume-prefills-again",
)
CHINESE = re.compile(r"[\u4e00-\u9fff]")

each_language = pytest.mark.parametrize("language", LANGUAGES)
each_fault = pytest.mark.parametrize("name", TRACES)


@cache
def taken(name: str) -> Taken:
    """What becomes of a fault's trace."""
    about = TRACES[name]
    config = Config(about["policy"], about["blocks"], 2)
    made = from_class(load_class(BY_NAME[name]))

    def start(config: Config) -> ChapterSubject:
        return ChapterSubject(made, config)

    trouble = None if about["claim"] else "raised"
    trace = Trace(
        subject=f"fault:{name}",
        fingerprint=None,
        config=config,
        actions=tuple(about["actions"]),
        verdict="violated" if trouble is None else "error",
        claim=about["claim"],
        also_broken=(),
        shortest=about["shortest"],
        provenance=Provenance("0.1.0", "exhaustive"),
        trouble=trouble,
    )
    return take_again(trace, start)


def example_of(name: str) -> Counterexample:
    example = taken(name).example
    assert example is not None
    return example


def evidence_of(name: str) -> Evidence:
    evidence = example_of(name).evidence
    assert evidence is not None
    return evidence


def told(name: str, language: str) -> str:
    """The story of a fault, or what is told of its crash."""
    found = taken(name)
    policy = TRACES[name]["policy"]
    if found.trouble is not None:
        lines = trouble_lines(tell(language), policy, found.trouble)
        return "\n".join(line.text for line in lines)
    run = RunResult.blank(policy, "exhaustive", {"requests": 3, "blocks": 3})
    return story_text(story_of(example_of(name), language, run))


def test_there_is_a_trace_for_every_fault() -> None:
    assert set(TRACES) == {fault.name for fault in CHAPTER_FAULTS}


@each_fault
def test_every_fault_is_still_broken_by_its_trace_and_told_in_both_languages(name: str) -> None:
    assert taken(name).status == STILL
    english, chinese = (told(name, language) for language in LANGUAGES)
    assert not CHINESE.search(english)
    assert CHINESE.search(chinese)
    assert "{" not in english.replace("{'", "")
    for text in (english, chinese):
        assert max(map(width_of, text.splitlines())) <= 100


@each_language
@pytest.mark.parametrize("name", PINNED)
def test_a_story_reads_as_its_snapshot(name: str, language: str) -> None:
    path = SNAPSHOTS / f"{name}.{language}.txt"
    text = told(name, language) + "\n"
    if os.environ.get("RENEW_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_snapshot_belongs_to_a_fault() -> None:
    expected = {f"{name}.{language}.txt" for name in PINNED for language in LANGUAGES}
    assert {path.name for path in SNAPSHOTS.iterdir()} == expected


@each_fault
def test_the_trace_is_as_plain_as_it_gets(name: str) -> None:
    """Making it plain once more changes nothing."""
    found = taken(name)
    if found.example is None or found.example.before is None:
        return
    config = Config(TRACES[name]["policy"], TRACES[name]["blocks"], 2)
    made = from_class(load_class(BY_NAME[name]))
    again = explained(found.example, lambda _config: ChapterSubject(made, config), CLAIMS)
    assert again.actions == found.example.actions


# -- what was found out ---------------------------------------------------------


def test_what_follows_is_counted_on_the_real_scheduler() -> None:
    forward = evidence_of("preempt-forgets-tokens").forward
    assert forward is not None
    assert (forward.outcome, forward.steps, forward.due_steps) == (DONE, 6, 5)
    assert forward.repeated == ((0, 1),)
    stuck = evidence_of("preempt-keeps-blocks").forward
    assert stuck is not None
    assert stuck.outcome == STUCK
    assert [(left.request, left.needs) for left in stuck.left] == [(0, 2)]
    lost = evidence_of("victim-leaves-the-queue").forward
    assert lost is not None
    assert lost.lost == (0,)


def test_the_line_that_wrote_the_guilty_field_is_found() -> None:
    (write,) = evidence_of("preempt-forgets-tokens").writes
    assert (write.request, write.name, write.old, write.new) == (0, "generated_len", 1, 0)
    source = dict(write.place["lines"])[write.place["line"]]
    assert (source.strip(), write.place["function"]) == ("victim.generated_len = 0", "_preempt")


def test_a_field_that_no_line_wrote_is_named() -> None:
    assert evidence_of("only-waiting-ones-wait").unwritten == ((0, "wait_steps"),)
    assert "No line wrote r0.wait_steps" in told("only-waiting-ones-wait", "en")


def test_what_matters_is_what_the_claim_holds_without() -> None:
    matters = {(v.request, v.name) for v in evidence_of("protected-victim").varied if v.matters}
    assert (0, "preemptible") in matters
    assert (0, "prompt_len") not in matters
    assert dict(evidence_of("slack-ignores-progress").policies)["aging"] is False


@pytest.mark.parametrize("name", sorted(set(TRACES) - {"empty-step-raises"}))
def test_no_story_of_a_fault_is_without_its_conditions(name: str) -> None:
    story = story_of(example_of(name), "en")
    assert bool(story.matters) == bool(evidence_of(name).varied)
    assert story.irrelevant or not evidence_of(name).varied
