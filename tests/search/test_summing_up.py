"""From what a search knows to its verdicts: each row of the table, and each kind of failure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedproof.claims.catalogue import BY_ID
from schedproof.claims.judge import Judge
from schedproof.search.results import ClaimVerdict, RunResult, Trouble, Verdict
from schedproof.search.summing_up import (
    CLEAN,
    claim_results,
    not_vacuous,
    refused,
    trouble_of,
)
from schedproof.subjects.actions import STEP, Enqueue, to_json
from schedproof.subjects.contract import PolicyRefused, SubjectError
from schedproof.subjects.places import StopSubject

ASKED = [BY_ID[name] for name in ("LEDGER-1", "LEDGER-2", "REPLAY-1", "REACH-SKIP", "BATCH-1")]
BLANK = RunResult.blank("aging", "exhaustive", {})
HOLDS = replace(BLANK, verdict=Verdict.HOLDS_WITHIN_BOUNDS.value)


def judge(**counts: int) -> Judge:
    """A judge of all but the last of these claims, which exercised them so often."""
    made = Judge(ASKED[:-1])
    for name, times in counts.items():
        made.count(name.replace("_", "-"), times)
    return made


def verdicts(result: RunResult, **counts: int) -> list[str]:
    return [one.verdict for one in claim_results(ASKED, judge(**counts), result)]


@pytest.mark.parametrize("clean", CLEAN)
def test_what_was_exercised_is_as_clean_as_the_whole(clean: str) -> None:
    result = replace(BLANK, verdict=clean)
    told = claim_results(ASKED, judge(LEDGER_1=3, REACH_SKIP=2), result)
    assert [(one.id, one.verdict, one.exercised) for one in told] == [
        ("LEDGER-1", clean, 3),
        ("LEDGER-2", "not_exercised", 0),
        ("REPLAY-1", "not_exercised", 0),
        ("REACH-SKIP", "reached", 2),
        ("BATCH-1", "not_applicable", 0),
    ]
    assert verdicts(result)[3] == "not_reached"
    assert verdicts(result, REACH_SKIP=1)[3] == "reached"


@pytest.mark.parametrize("verdict", [one.value for one in Verdict if one.value not in CLEAN])
def test_of_a_search_that_did_not_end_clean_no_claim_is_said_to_hold(verdict: str) -> None:
    result = replace(BLANK, verdict=verdict)
    assert verdicts(result, LEDGER_1=1)[:2] == ["no_violation_found", "not_exercised"]


def test_less_is_said_of_a_claim_of_which_less_was_shown() -> None:
    weaker = {"LEDGER-1": ClaimVerdict.NO_VIOLATION_FOUND}
    told = claim_results(ASKED, judge(LEDGER_1=1, LEDGER_2=1), HOLDS, weaker)
    assert [one.verdict for one in told][:2] == ["no_violation_found", "holds_within_bounds"]
    assert type(told[0].verdict) is str


def test_a_scheduler_that_differs_each_time_breaks_the_claim_about_that() -> None:
    for kind, said in (("not_deterministic", "violated"), ("hung", "not_exercised")):
        result = replace(BLANK, trouble=Trouble(kind, "error.hung", {}))
        assert verdicts(result, LEDGER_1=1)[2] == said


@pytest.mark.parametrize(
    ("verdict", "served", "exercised", "comes_to"),
    [
        ("holds_within_bounds", 1, 1, "holds_within_bounds"),
        ("holds_within_bounds", 0, 1, "vacuous"),
        ("holds_within_bounds", 1, 0, "vacuous"),
        ("no_violation_found", 0, 1, "vacuous"),
        ("violated", 0, 0, "violated"),
        ("incomplete", 0, 0, "incomplete"),
    ],
)
def test_a_clean_run_that_served_nobody_or_asked_nothing_is_vacuous(
    verdict: str, served: int, exercised: int, comes_to: str
) -> None:
    result = replace(BLANK, verdict=verdict)
    assert not_vacuous(result, judge(LEDGER_1=exercised), served).verdict == comes_to


def test_a_policy_that_is_refused_is_told_in_the_words_of_the_refusal() -> None:
    result = refused(BLANK, PolicyRefused("aging", "no such thing"))
    assert result.verdict == "not_applicable"
    assert result.notes == (("note.policy_refused", {"policy": "aging", "text": "no such thing"}),)
    odd = refused(BLANK, PolicyRefused("aging", {1}))
    assert odd.notes[0][1]["text"] == "{1}"


def test_a_failure_is_told_with_the_actions_that_led_there() -> None:
    taken = (Enqueue(1, 4), STEP)
    told = trouble_of(SubjectError("raised", "error.raised", {"error": {2}}), taken)
    assert (told.kind, told.message_id) == ("raised", "error.raised")
    assert (told.values, told.place) == ({"error": "{2}"}, None)
    assert told.actions == tuple(to_json(action) for action in taken)
    assert trouble_of(SubjectError("raised", "error.raised")).actions == ()


def test_actions_that_the_failure_brings_with_it_come_first() -> None:
    own: list[dict[str, Any]] = [{"op": "enqueue", "args": {"request_id": {7}}}, {"op": "step"}]
    values = {"actions": own, "action": 2}
    told = trouble_of(SubjectError("contract", "error.contract", values), (STEP, STEP, STEP))
    assert told.values == {"action": 2}
    assert told.actions == ({"op": "enqueue", "args": {"request_id": "{7}"}}, {"op": "step"})
    assert values["actions"] is own


def test_a_call_that_was_stopped_hung_and_what_is_not_written_is_told_as_that() -> None:
    told = trouble_of(StopSubject(), (STEP,))
    assert (told.kind, told.message_id, told.values) == ("hung", "error.hung", {})
    assert (told.place, told.actions) == (None, (to_json(STEP),))


def raised_by(line: str, folder: Path) -> BaseException:
    """What the second line of somebody's file raises."""
    file = folder / "mine.py"
    file.write_text(f"def step(stop):\n    {line}\n", "utf-8")
    names: dict[str, Any] = {}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), names)
    with pytest.raises(BaseException) as caught:  # noqa: PT011  whatever it is
        names["step"](StopSubject)
    return caught.value


def test_a_call_that_was_stopped_is_told_with_its_line(tmp_path: Path) -> None:
    stopped = raised_by("raise stop('now')", tmp_path)
    assert isinstance(stopped, StopSubject)
    told = trouble_of(stopped)
    assert told.place is not None
    assert told.place["line"] == 2


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        ("raise NotImplementedError", "open_todo", "error.open_todo"),
        ("raise KeyError(3)", "raised", "error.raised"),
    ],
)
def test_what_is_not_written_yet_is_no_crash(
    line: str, kind: str, text: str, tmp_path: Path
) -> None:
    cause = raised_by(line, tmp_path)
    told = trouble_of(SubjectError("raised", "error.raised", cause=cause))
    assert (told.kind, told.message_id) == (kind, text)
    assert told.place is not None
    assert told.place["line"] == 2
