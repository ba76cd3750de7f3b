"""The verdict, and what it rests on: runs, claims, what was exercised, trouble.

Rules.
1. The verdict stands first, with its bounds, as a sign, in words and in colour.
2. The claims that were not exercised or not reached are named as in the terminal, and each
   claim stands in a table with how often it was exercised: a clean page is never told
   without them.
3. Texts are the terminal's own, so the two cannot say different things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from schedproof.page.html import Html, both, element, in_languages, joined
from schedproof.search.results import RunResult, Trouble
from schedproof.subjects.places import Place
from schedproof.telling.bounds import DOT, grouped
from schedproof.telling.document import summed_claims
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import Say, has_text, join, tell
from schedproof.telling.report import Summary, result_rows, verdict_lines
from schedproof.telling.steps import step_lines
from schedproof.telling.story import title_of
from schedproof.telling.summary_lines import claim_lines, note_lines
from schedproof.telling.trouble import trouble_text

ONE_LINE = 1_000_000
"""So wide that texts made for a terminal are not broken into lines."""

_SIGNS = {"✓": "good", "✗": "bad", "–": "faint"}
_CLAIM_SIGNS = {
    "violated": ("✗", "bad"),
    "reached": ("✓", "good"),
    "holds_within_bounds": ("✓", "good"),
    "no_violation_reduced": ("✓", "good"),
    "no_violation_found": ("✓", "good"),
}


def verdict_of(summary: Summary) -> Html:
    """The overall verdict with its bounds, and what it means."""
    texts: list[Html] = []
    for language in LANGUAGES:
        *_, last = verdict_lines(summary, language, ONE_LINE).splitlines()
        head, _, bounds = last.partition(DOT)
        kind = _SIGNS.get(head[0], "faint")
        parts = (
            element("p", head, class_=f"badge {kind}"),
            element("p", _means(tell(language), summary)),
            element("p", bounds, class_="faint") if bounds else None,
        )
        texts.append(joined(*parts))
    return element("section", in_languages(texts, "div"), class_="verdict")


def _means(say: Say, summary: Summary) -> str:
    here = f"web.means.{summary.verdict}"
    return say(here) if has_text(here) else say(f"verdict.{summary.verdict}.means")


def searched(summary: Summary) -> bool:
    """Whether there was a search to tell of: of a trace that was taken again there was none."""
    return any(run.transitions or run.claims or run.notes for run in summary.runs)


def checked(summary: Summary) -> Html:
    """What was checked: a row for each run, then the claims."""
    return element(
        "section",
        element("h2", both(lambda say: say("web.checked"))),
        in_languages([_runs(tell(language), summary) for language in LANGUAGES], "div"),
        in_languages([_known(tell(language), summary) for language in LANGUAGES], "div"),
        _claims(summary),
        class_="checked",
    )


def _runs(say: Say, summary: Summary) -> Html:
    heads, *rows = result_rows(say, summary)
    head = element("tr", *(element("th", name, scope="col") for name in heads))
    body = [
        element("tr", element("th", row[0], scope="row"), *(element("td", c) for c in row[1:]))
        for row in rows
    ]
    table = element("table", element("thead", head), element("tbody", *body), class_="runs")
    return element("div", table, class_="wide")


def _known(say: Say, summary: Summary) -> Html:
    lines = [
        *claim_lines(say, summary.runs, ONE_LINE),
        *note_lines(say, summary.runs, ONE_LINE),
    ]
    return joined(*(element("p", line.text, class_=line.style or None) for line in lines))


def _claims(summary: Summary) -> Html | None:
    """Every claim that applies, with its verdict over all runs and how often it was exercised.

    The table is open where nothing is wrong: then it is what the reader came for.
    """
    claims = [_fair(c, summary.runs) for c in summed_claims(summary.runs)]
    claims = [claim for claim in claims if claim["verdict"] != "not_applicable"]
    if not claims:
        return None
    own = {i: words for run in summary.runs for i, words in run.own_claims.items()}
    names = ("claim", "title", "verdict", "exercised")
    head = element("tr", *(element("th", _column(name), scope="col") for name in names))
    rows = [_claim(claim, own) for claim in claims]
    table = element("table", element("thead", head), element("tbody", *rows), class_="claims")
    summed = both(lambda say: say("web.claims", claims=len(claims)))
    content = element("summary", summed), element("div", table, class_="wide")
    return element("details", *content, open=summary.exit_code == 0)


def _fair(claim: dict[str, Any], runs: Sequence[RunResult]) -> dict[str, Any]:
    """The claim with its worst verdict where it was exercised, if it was anywhere.

    Under which policies it was not is said above the table.
    """
    silent = ("not_exercised", "not_reached", "not_applicable")
    if claim["verdict"] not in silent or not claim["exercised"]:
        return claim
    told = [c for run in runs for c in run.claims if c.id == claim["id"]]
    spoke = [replace(run, claims=tuple(c for c in told if c.verdict not in silent)) for run in runs]
    return {**summed_claims(tuple(spoke[:1]))[0], "exercised": claim["exercised"]}


def _column(name: str) -> Html:
    return both(lambda say: say(f"web.claims.{name}"))


def _claim(claim: dict[str, Any], own: dict[str, dict[str, str]]) -> Html:
    sign, kind = _CLAIM_SIGNS.get(claim["verdict"], ("–", "faint"))
    word = both(lambda say: say(_word(claim["verdict"])))
    return element(
        "tr",
        element("th", claim["id"], scope="row"),
        element("td", both(lambda say: title_of(say, claim["id"], own))),
        element("td", f"{sign} ", word, class_=kind),
        element("td", grouped(claim["exercised"]), class_="number"),
    )


def _word(verdict: str) -> str:
    known = f"verdict.{verdict}"
    return known if has_text(known) else f"web.verdict.{verdict}"


def troubles(runs: Sequence[RunResult]) -> list[Html]:
    """What the scheduler itself spoiled: what failed, where, after which actions; each once."""
    policies: dict[str, list[str]] = {}
    found: dict[str, Trouble] = {}
    for run in runs:
        if run.trouble is not None:
            same = repr(replace(run.trouble, kept_as=None))
            found.setdefault(same, run.trouble)
            policies.setdefault(same, []).append(run.policy)
    return [
        element(
            "article",
            in_languages([_trouble(tell(i), policies[same], trouble) for i in LANGUAGES], "div"),
            class_="trouble",
        )
        for same, trouble in found.items()
    ]


def _trouble(say: Say, policies: list[str], trouble: Trouble) -> Html:
    title = "trouble.title.all" if policies == ["all"] else "trouble.title"
    advice = f"next.{trouble.kind}"
    lines = step_lines(say, trouble.actions)
    steps = [element("li", element("b", line.verb), " ", line.what) for line in lines]
    return joined(
        element("h2", f"✗ {say(title, policy=join(say, 'names', policies))}"),
        element("p", trouble_text(say, trouble)),
        *_place(say, Place.from_json(trouble.place)),
        element("h3", say("trouble.until_then")) if steps else None,
        element("ol", *steps, class_="steps") if steps else None,
        element("h3", say("trouble.what_now")) if has_text(advice) else None,
        element("p", say(advice)) if has_text(advice) else None,
    )


def _place(say: Say, place: Place | None) -> list[Html]:
    if place is None:
        return []
    where = element("p", say("trouble.where"), " ", say(place.message_id, **place.fields))
    return [where, element("pre", "\n".join(place.excerpt()))]
