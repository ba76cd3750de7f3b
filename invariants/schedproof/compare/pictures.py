"""A comparison as one page with pictures; it needs nothing beside itself, and no script.

Rules.
1. First what may be said of each policy, then the table, then the pictures, then who starved;
   what is real and what is made up stands at the top in one sentence and below in full.
2. A policy has its name and its mark in the legend: colour is never the only sign.
3. Everything is told in both languages; the reader chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from typing import Any

from schedmodel import __version__
from schedproof.compare.comparing import Comparison
from schedproof.compare.drawing import held, queue, shares, stroke
from schedproof.compare.metrics import Measured, numpy
from schedproof.compare.verdicts import Judgement
from schedproof.compare.words import (
    cautions,
    cells,
    reasons,
    seconds,
    setting,
    spread_rows,
)
from schedproof.page.html import TAGS, Html, both, element, joined
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import Say, tell

WORST = 8
NATIVE = {"en": "English", "zh": "中文"}


def page(found: Comparison, language: str) -> str:
    """The page as text, in every language; it opens in `language`."""
    body = element(
        "body",
        *(_choice(name, name == language) for name in LANGUAGES),
        element("main", *_main(found)),
        element("footer", both(lambda say: say("web.footer", version=__version__))),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"schedproof compare: {_name(found)}"),
        element("style", Html(_style())),
    )
    return f"<!doctype html>\n{element('html', head, body, lang=TAGS[language])}\n"


def _style() -> str:
    folder = files("schedproof.compare") / "assets"
    languages = files("schedproof.page") / "assets" / "plain.css"
    return languages.read_text("utf-8") + (folder / "pictures.css").read_text("utf-8")


def _name(found: Comparison) -> str:
    return found.workload.trace.path.replace("\\", "/").rpartition("/")[2]


def _choice(language: str, chosen: bool) -> Html:
    name = f"lang-{language}"
    button = element("input", type="radio", name="lang", id=name, checked=chosen)
    return joined(button, element("label", NATIVE[language], for_=name, lang=TAGS[language]))


def _main(found: Comparison) -> list[Html]:
    return [
        element("h1", _name(found)),
        element("p", both(lambda say: say("compare.page.note")), class_="note"),
        element("ul", *(_verdict(found, number) for number in range(len(found.runs)))),
        _table(found),
        _title("wait"),
        _legend(found),
        shares(found, "queue_wait"),
        _spread(found, "queue_wait"),
        _title("ttft"),
        _legend(found),
        shares(found, "ttft"),
        _spread(found, "ttft"),
        _title("queue"),
        _legend(found),
        queue(found),
        _title("blocks"),
        held(found),
        _title("starved"),
        *(_worst(found, run) for run in found.runs),
        element("h2", both(lambda say: say("compare.page.setting"))),
        element("ul", *_list(found), class_="setting"),
    ]


TITLES = {"wait": "queue_wait", "ttft": "ttft", "queue": "queue", "blocks": "held", "starved": ""}
"""Titles, and the picture that each one is the name of."""


def _title(name: str) -> Html:
    text = both(lambda say: say(f"compare.page.{name}"))
    return element("h2", text, id=f"title-{TITLES[name] or name}")


def _verdict(found: Comparison, number: int) -> Html:
    """One policy: its mark, its name, the word, and the reasons."""
    judgement = found.judgements[number]
    word = both(lambda say: say(f"compare.word.{judgement.word}"))
    why = both(lambda say: _reasons(judgement, found, say))
    return element(
        "li",
        _mark(number),
        element("strong", judgement.policy),
        element("span", word, class_=f"word {judgement.word}"),
        why,
        class_="verdict",
    )


def _reasons(judgement: Judgement, found: Comparison, say: Say) -> Html:
    return element("ul", *(element("li", reason) for reason in reasons(judgement, found, say)))


def _list(found: Comparison) -> list[Html]:
    lines = len(_lines(found, tell(LANGUAGES[0])))
    return [element("li", both(partial(_line, found, number))) for number in range(lines)]


def _lines(found: Comparison, say: Say) -> list[str]:
    return [*setting(found, say), *cautions(found, say)]


def _line(found: Comparison, number: int, say: Say) -> str:
    return _lines(found, say)[number]


def _table(found: Comparison) -> Html:
    def told(say: Say) -> Html:
        heading, *rows = cells(found, say)
        return element("table", _row("th", heading), *(_row("td", row) for row in rows))

    return element("div", both(told), class_="wide said")


def _row(tag: str, row: Sequence[str]) -> Html:
    return element("tr", *(element(tag, cell) for cell in row))


def _spread(found: Comparison, name: str) -> Html:
    def told(say: Say) -> Html:
        mean = say("compare.page.column.mean")
        heading = [say("compare.column.policy"), "N", mean, "P50", "P95", "P99"]
        rows = (_row("td", row) for row in spread_rows(found, name))
        return element("table", _row("th", heading), *rows)

    return element("div", both(told), class_="wide")


def _mark(number: int) -> Html:
    line = element("line", x1=0, y1=6, x2=44, y2=6, **stroke(number))
    return element("svg", line, width=44, height=12, aria_hidden="true")


def _legend(found: Comparison) -> Html:
    marks = [
        element("span", _mark(number), " ", run.policy, class_="mark")
        for number, run in enumerate(found.runs)
    ]
    return element("p", *marks, class_="legend")


# -- who starved ------------------------------------------------------------


def _worst(found: Comparison, run: Measured) -> Html:
    """The longest waits under a policy, and what these requests have in common."""
    np = numpy()
    starved = np.flatnonzero(run.starved)
    if not starved.size:
        return element("p", both(lambda say: say("compare.page.none", policy=run.policy)))
    order = starved[np.argsort(-run.longest_wait[starved], kind="stable")][:WORST]
    count = int(starved.size)
    return element(
        "div",
        element("p", both(lambda say: say("compare.page.some", policy=run.policy, count=count))),
        both(lambda say: _worst_table(found, run, order, say)),
        class_="wide said",
    )


def _worst_table(found: Comparison, run: Measured, order: Any, say: Say) -> Html:
    workload, trace = found.workload, found.workload.trace
    names = ("request", "longest", "priority", "blocks", "prompt", "output", "lost", "why")
    rows = [_row("th", [say(f"compare.page.column.{name}") for name in names])]
    for place in map(int, order):
        rows.append(
            _row(
                "td",
                [
                    str(place),
                    seconds(float(run.longest_wait[place])),
                    str(workload.priorities[place]),
                    f"{workload.blocks(place):,}",
                    f"{trace.prompts[place]:,}",
                    f"{trace.outputs[place]:,}",
                    str(run.record.preemptions[place]),
                    say(f"compare.why.{why(found, run, place)}"),
                ],
            )
        )
    return element("table", *rows)


def why(found: Comparison, run: Measured, place: int) -> str:
    """What made a request wait, as far as its own numbers tell: not a proof, a hint."""
    workload = found.workload
    if run.record.longest_gap[place] * workload.setup.step >= run.longest_wait[place]:
        return "preempted"
    sizes = sorted(map(workload.blocks, range(len(workload))))
    if workload.blocks(place) > sizes[len(sizes) * 9 // 10]:
        return "large"
    if run.policy != "fcfs" and workload.priorities[place] == 0:
        return "weak"
    return "crowd"
