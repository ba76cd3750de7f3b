"""The report of a check: a table, the claims, stories and trouble, the verdict last."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from schedproof.search.results import ClaimResult, RunResult, Trouble
from schedproof.telling.layout import width_of
from schedproof.telling.report import Summary, render_text, verdict_lines

Make = Callable[..., RunResult]
Get = Callable[[str], RunResult]

each_language = pytest.mark.parametrize("language", ["en", "zh"])


def summary(*runs: RunResult) -> Summary:
    return Summary("mine.py:Mine", runs, 2.5)


def report(*runs: RunResult, language: str = "en", width: int = 80) -> str:
    return render_text(summary(*runs), language, width)


def flat(text: str) -> str:
    """The text with its lines joined: how it is wrapped does not matter."""
    return " ".join(text.split())


def test_a_clean_report_says_what_was_exercised_and_within_what(clean_run: Make) -> None:
    assert report(clean_run()) == (
        "scheduler: mine.py:Mine\n"
        "policy  verdict             search  actions  preempt  resume  miss  seconds\n"
        "aging   no violation found  random    4,321        4       0     0      1.2\n"
        "\n"
        "1 claim was exercised, none is broken.\n"
        "exercised: 4 preemptions, 0 resumes, 0 missed deadlines\n"
        "\n"
        "Random runs can find a violation; they cannot show that there is none.\n"
        "✓ no violation found · up to 3 requests, 3 blocks, priorities -1 to 3, aging\n"
        "  interval 2 · random search: 100 runs, 4,321 actions, seed 7 · 2.5 s"
    )


def test_claims_that_were_not_exercised_or_reached_are_named(clean_run: Make) -> None:
    more = (
        ClaimResult("VICTIM-1", "not_exercised", 0),
        ClaimResult("REACH-RESUME", "not_reached", 0),
        ClaimResult("REACH-AGING", "not_applicable", 0),
        ClaimResult("LEDGER-1", "no_violation_found", 9),
    )
    text = report(clean_run(claims=more))
    assert "not exercised, so nothing is known: VICTIM-1" in text
    assert "not reached: REACH-RESUME" in text
    assert "not applicable: REACH-AGING" in text


def test_claims_about_other_kinds_of_schedulers_are_only_counted(clean_run: Make) -> None:
    def told(*applicable: str) -> str:
        names = ("LEDGER-4", "ABORT-1", "KV-1", "REACH-AGING")
        verdicts = dict.fromkeys(names, "not_applicable") | dict.fromkeys(applicable, "reached")
        return flat(report(clean_run(claims=[ClaimResult(n, v, 0) for n, v in verdicts.items()])))

    assert "not applicable: REACH-AGING, and 3 claims about other kinds of schedulers" in told()
    assert "not applicable: 3 claims about other kinds of schedulers" in told("REACH-AGING")
    assert "not applicable: ABORT-1, REACH-AGING, and 1 claim about other kinds" in told("LEDGER-4")


def test_that_nothing_breaks_without_an_action_is_not_told(clean_run: Make) -> None:
    def note(actions: int, states: int) -> str:
        values = {"actions": actions, "states": states}
        return report(clean_run(notes=(("note.certificate", values),)))

    assert "Nothing breaks" not in note(0, 1)
    assert "Nothing breaks within 1 action: 1 state says so." in note(1, 1)
    assert "Nothing breaks within 2 actions: 9 states say so." in note(2, 9)


def test_a_claim_that_only_some_policies_exercised_is_named_with_the_others(
    clean_run: Make,
) -> None:
    idle = (ClaimResult("LEDGER-1", "not_exercised", 0),)
    text = report(clean_run(), clean_run(policy="fcfs", claims=idle))
    assert "not exercised under fcfs: LEDGER-1" in text


def test_an_interrupted_report_says_so(clean_run: Make) -> None:
    run = clean_run(verdict="incomplete", interrupted=True, stopped_by="interrupt")
    text = report(run)
    assert "Interrupted: this is what is known so far." in text
    assert "aging: stopped: interrupted" in text
    assert "✗ incomplete" in text
    assert summary(run).exit_code == 130


def test_a_vacuous_report_is_never_green(clean_run: Make) -> None:
    text = report(clean_run(verdict="vacuous", claims=(ClaimResult("LIFE-1", "not_exercised", 0),)))
    assert "No claim was exercised." in text
    assert "This run says nothing about the scheduler." in flat(text)
    assert "✓" not in text


def test_stopped_by_time_says_so(clean_run: Make) -> None:
    assert "aging: stopped: the time was up" in report(
        clean_run(verdict="incomplete", stopped_by="time")
    )


def test_trouble_is_told_with_place_actions_and_advice(trouble_run: Make) -> None:
    text = report(trouble_run())
    assert "✗ aging: the scheduler could not be judged" in text
    assert "step raised KeyError: 'x'" in text
    assert "mine.py, line 2, in step" in text
    assert ">     return self.x" in text.replace("> 2 ", ">")
    assert "1  step" in text
    assert "2  enqueue r1" in text
    assert "Only ValueError from enqueue counts as a refusal." in flat(text)
    assert "Traceback" not in text


def test_code_that_cannot_be_loaded_has_no_counts(clean_run: Make) -> None:
    trouble = Trouble("load", "load.syntax_error", {"error": "SyntaxError: invalid syntax"})
    text = report(clean_run(policy="all", verdict="error", claims=(), trouble=trouble))
    assert "✗ the scheduler could not be judged" in text
    assert "The code does not parse: SyntaxError: invalid syntax" in text
    assert "random" not in text
    assert "\n\n\n" not in text


def test_an_exception_without_a_text_ends_in_no_colon(trouble_run: Make) -> None:
    values = {"call": "step", "type": "KeyError", "text": ""}
    text = report(trouble_run(trouble=Trouble("raised", "error.raised", values)))
    assert "  step raised KeyError\n" in text


def test_a_refused_policy_has_no_counts(clean_run: Make) -> None:
    note = ("note.policy_refused", {"policy": "fcfs", "text": "no such policy"})
    refused = clean_run(policy="fcfs", verdict="not_applicable", claims=(), notes=(note,))
    text = report(clean_run(), refused)
    assert "fcfs    not applicable\n" in text
    assert "the scheduler refuses this policy (no such policy)" in flat(text)
    assert "✓ no violation found" in text
    assert summary(clean_run(), refused).exit_code == 0


def test_no_policy_at_all_is_a_mistake_in_the_call(clean_run: Make) -> None:
    refused = clean_run(policy="fcfs", verdict="not_applicable", claims=())
    assert summary(refused).exit_code == 2
    assert "The scheduler has none of these policies." in report(refused)


def test_a_complete_search_is_told_with_states_and_depth(clean_run: Make) -> None:
    run = clean_run(
        search="exhaustive",
        verdict="holds_within_bounds",
        identity="full",
        distinct_states=1234,
        seed=None,
        examples=None,
    )
    text = report(run)
    assert "✓ holds within bounds" in text
    assert "exhaustive search: 1,234 states, 4,321 actions, depth 12" in flat(text)
    assert "Every state within these bounds was looked at." in text


def test_bounds_that_differ_between_runs_are_not_told_for_all(clean_run: Make) -> None:
    text = report(clean_run(), clean_run(policy="fcfs", bounds={"requests": 3, "blocks": 5}))
    assert "✓ no violation found · up to 3 requests · random search" in text


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (["no_violation_found", "violated", "error"], 1),
        (["error", "incomplete", "vacuous"], 3),
        (["incomplete", "vacuous", "no_violation_found"], 4),
        (["vacuous", "holds_within_bounds"], 5),
        (["holds_within_bounds", "no_violation_reduced"], 0),
        (["not_applicable", "holds_within_bounds"], 0),
    ],
)
@pytest.mark.parametrize("interrupted", [False, True])
def test_the_exit_code_is_the_worst(
    clean_run: Make, verdicts: list[str], code: int, interrupted: bool
) -> None:
    runs = [clean_run(verdict=verdict) for verdict in verdicts]
    runs[-1] = clean_run(verdict=verdicts[-1], interrupted=interrupted)
    expected = 130 if interrupted and code not in (1, 3) else code
    assert summary(*runs).exit_code == expected


def test_the_verdict_alone_is_the_end_of_the_report(clean_run: Make) -> None:
    whole = report(clean_run())
    assert whole.endswith(verdict_lines(summary(clean_run()), "en"))


def test_notes_are_told_once(clean_run: Make) -> None:
    note = ("note.printed", {"lines": 1, "first": "hello"})
    text = report(clean_run(notes=(note,)), clean_run(policy="fcfs", notes=(note,)))
    assert text.count("The scheduler printed 1 line; the first: hello") == 1


@each_language
def test_lines_fit_and_end_in_no_spaces(
    found: Get, clean_run: Make, trouble_run: Make, language: str
) -> None:
    runs = (found("progress-2"), clean_run(), trouble_run(policy="deadline"))
    for line in report(*runs, language=language).splitlines():
        assert line == line.rstrip()
        assert width_of(line) <= 80, line


@each_language
def test_colour_changes_no_word(found: Get, clean_run: Make, language: str) -> None:
    runs = summary(found("ledger-1"), clean_run())
    plain = render_text(runs, language, 100)
    coloured = render_text(runs, language, 100, color=True)
    assert "\x1b[31m" in coloured
    shown = set(flat(_without_colour(coloured)).split())
    assert set(flat(plain).split()) <= shown


def _without_colour(text: str) -> str:

    return re.sub(r"\x1b\[[0-9;]*m", "", text)
