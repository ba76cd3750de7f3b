"""Why a step served whom it served: the candidates in order, with what decided.

Rules.
1. The candidates stand in the order of their keys, and the columns are those of the policy.
   The first column in which a candidate falls behind the chosen one has a star.
2. For each one that was passed over the reason is told: what it needs, what is free, and
   why no holder of blocks could be preempted for it.
3. Below stands what the scheduler did, and what the rules say where that is something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedmodel.policy import NO_DEADLINE_SLACK
from schedproof.telling.columns import column_name, column_value
from schedproof.telling.layout import table, width_of, wrap
from schedproof.telling.messages import Say, join, tell
from schedproof.telling.text import BAD, FAINT, HEADING, PLAIN, Line
from schedproof.telling.trouble import trouble_lines
from schedproof.traces.why import Decision, Explained

_SERVICE = {
    (False, False): "explain.served",
    (False, True): "explain.served.several",
    (True, False): "explain.served.preempting",
    (True, True): "explain.served.preempting.several",
}


def decision_lines(decision: Decision, language: str, width: int = 80) -> list[Line]:
    """One step."""
    say = tell(language)
    head = say(
        "explain.step" if decision.places is None else "explain.step.batch",
        action=decision.action,
        clock=decision.clock,
        free=decision.free,
        capacity=decision.capacity,
    )
    lines = [Line(head, HEADING)]
    if decision.why is not None:
        lines += [*candidate_lines(say, decision.why, width)]
    if decision.places is not None:
        lines += batch_lines(say, decision.places, width)
    ruled = decision.as_ruled
    return lines + [
        Line(part, BAD if ruled is False else PLAIN)
        for part in wrap(_done(say, decision), width, "    ", "  ")
    ]


def candidate_lines(say: Say, why: dict[str, Any], width: int) -> list[Line]:
    """The candidates of a step in their order, with what becomes of each."""
    places: list[dict[str, Any]] = why["places"]
    if not places:
        return []
    used = _columns(why)
    rows = [[say("explain.head.request"), *(column_name(say, why["columns"][i]) for i in used)]]
    for place in places:
        cells = [column_value(say, why["columns"][i], place["key"][i]) for i in used]
        star = [cell + "*" * (place["behind_at"] == i) for i, cell in zip(used, cells, strict=True)]
        rows.append([f"r{place['request_id']}", *star])
    outcomes = [say("explain.head.outcome"), *(_outcome(say, why, place) for place in places)]
    lines = _beside(rows, outcomes, width)
    if any(place["behind_at"] is not None for place in places):
        lines.append(Line("    " + say("explain.decides"), FAINT))
    return lines


def _beside(rows: list[list[str]], outcomes: list[str], width: int) -> list[Line]:
    """A table with a last column that may take several lines; the first row is its head."""
    lines: list[Line] = []
    cells_of_rows = table([[*row, "|"] for row in rows], gap=2, indent="    ")
    for cells_of_row, outcome in zip(cells_of_rows, outcomes, strict=True):
        left = cells_of_row[:-1]
        style = PLAIN if lines else FAINT
        lines += [Line(part, style) for part in wrap(outcome, width, " " * width_of(left), left)]
    return lines


def batch_lines(say: Say, places: Sequence[dict[str, Any]], width: int) -> list[Line]:
    """Who runs and who waits, in turn, with what becomes of each."""
    if not places:
        return []
    heads = ("request", "phase", "priority", "arrival")
    rows = [[say(f"explain.head.{name}") for name in heads]]
    rows += [
        [f"r{p['request_id']}", p["phase"], str(p["priority"]), str(p["arrival"])] for p in places
    ]
    told = [say(f"explain.batch.{place['outcome']}", **place["values"]) for place in places]
    return _beside(rows, [say("explain.head.outcome"), *told], width)


def _columns(why: dict[str, Any]) -> list[int]:
    """The columns worth showing: slack only where somebody has a deadline, the id where it decides.

    Whose id it is stands in front anyway.
    """
    keys: list[list[int]] = [place["key"] for place in why["places"]]
    decides = {place["behind_at"] for place in why["places"]}
    hidden = {"request_id"}
    if all(key[0] == NO_DEADLINE_SLACK for key in keys):
        hidden.add("deadline_slack")
    names: list[str] = why["columns"]
    return [i for i, name in enumerate(names) if name not in hidden or i in decides]


def _outcome(say: Say, why: dict[str, Any], place: dict[str, Any]) -> str:
    if place["outcome"] == "chosen":
        if why["victim"] is None:
            return say("explain.chosen")
        return say("explain.chosen.preempting", victim=why["victim"])
    if place["outcome"] == "behind":
        if place["behind_at"] is None:
            return say("explain.behind.equal")
        column = column_name(say, why["columns"][place["behind_at"]])
        return say("explain.behind", column=column)
    return _passed(say, place["passed"])


def _passed(say: Say, passed: dict[str, Any]) -> str:
    if passed["reserved_for"] is not None:
        return say("explain.reserved", request=passed["reserved_for"])
    parts = [say("explain.passed", needs=passed["needs"], free=passed["free"])]
    parts += [
        say(
            f"explain.keeps.{holder['obstacle']}",
            request=holder["request_id"],
            theirs=holder["effective_priority"],
            own=passed["effective_priority"],
            blocks=holder["held_blocks"],
        )
        for holder in passed["holders"]
    ]
    return join(say, "semicolon", parts)


def _done(say: Say, decision: Decision) -> str:
    done = service(say, *(decision.batch or (None,)), preempted=decision.preempted)
    if decision.as_ruled is None:
        return say("explain.as_seen" if decision.only_seen else "explain.no_rules", done=done)
    if decision.as_ruled:
        return say("explain.as_ruled", done=done)
    if decision.why is not None:
        return say("explain.not_as_ruled", done=done, due=ruled_service(say, decision.why))
    served: list[Any] = [*decision.due("is_let_in", "decodes", "grows")] or [None]
    due = service(say, *served, preempted=decision.due("gives_way"))
    return say("explain.not_as_ruled", done=done, due=due)


def ruled_service(say: Say, why: dict[str, Any]) -> str:
    """Whom the rules serve, and who makes room."""
    victim = why["victim"]
    return service(say, why["chosen"], preempted=() if victim is None else (victim,))


def service(say: Say, *served: Any, preempted: Sequence[Any]) -> str:
    """Who is served, and who makes room, in a few words."""
    victims = join(say, "names", [f"r{each}" for each in preempted])
    if served == (None,):
        return say("explain.only", victims=victims) if victims else say("explain.nobody")
    kind = _SERVICE[bool(victims), len(served) > 1]
    requests = join(say, "names", [f"r{each}" for each in served])
    return say(kind, requests=requests, victims=victims)


def explained_lines(explained: Explained, language: str, width: int = 80) -> list[Line]:
    """Every step of a trace, or the one that was asked for."""
    say = tell(language)
    name = explained.kept.name
    lines = [Line(say("explain.title", trace=name), HEADING)]
    if not explained.decisions and explained.trouble is None:
        lines.append(Line(say("explain.no_step", trace=name)))
    for decision in explained.decisions:
        lines += [Line(""), *decision_lines(decision, language, width)]
    if explained.trouble is not None:
        policy = explained.kept.trace.config.policy
        lines += [Line(""), *trouble_lines(say, policy, explained.trouble, width)]
    return lines
