"""A comparison as one page with pictures; it needs nothing beside itself, and no script.

Rules.
1. A picture has the same axes for all policies, a line for each, and the policy's name and
   mark in the legend: colour is never the only sign.
2. Shares are of the completed requests, and their number stands beside them. Times are on a
   logarithmic axis: waits differ by thousands.
3. Everything is told in both languages; the reader chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from math import ceil, floor, log10
from typing import Any

from schedmodel import __version__
from schedproof.compare.comparing import Comparison
from schedproof.compare.metrics import Measured, numpy
from schedproof.compare.words import (
    cautions,
    cells,
    judged,
    seconds,
    setting,
    spread_rows,
)
from schedproof.page.html import TAGS, Html, both, element, joined
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import Say, tell

INKS = ("#4269d0", "#d9600f", "#2a9155", "#a04fc4", "#b0324f")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "14 4")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 240, 58, 34, 10
POINTS = 200
WORST = 8
NATIVE = {"en": "English", "zh": "中文"}

Point = tuple[float, float]


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
    says = ("legend", "wait", "ttft", "queue", "blocks", "starved")
    title: dict[str, Html] = {
        name: element("h2", both(partial(_title, name=name))) for name in says
    }
    curves = [("wait", "queue_wait"), ("ttft", "ttft")]
    overtime = [("queue", "queue"), ("blocks", "held")]
    return [
        element("h1", _name(found)),
        *(element("p", both(partial(_of, judged, each, found))) for each in found.judgements),
        _table(found),
        title["legend"],
        _legend(found),
        *(joined(title[name], _shares(found, of), _spread(found, of)) for name, of in curves),
        *(joined(title[name], _over_time(found, of)) for name, of in overtime),
        title["starved"],
        *(_worst(found, run) for run in found.runs),
        element("h2", both(lambda say: say("compare.page.setting"))),
        element("ul", *_list(found)),
    ]


def _title(say: Say, name: str) -> str:
    return say(f"compare.page.{name}")


def _of(tells: Any, one: Any, found: Comparison, say: Say) -> str:
    text: str = tells(one, found, say)
    return text


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

    return element("div", both(told), class_="wide")


def _row(tag: str, row: Sequence[str]) -> Html:
    return element("tr", *(element(tag, cell) for cell in row))


def _spread(found: Comparison, name: str) -> Html:
    heading = ["", "N", "mean", "P50", "P95", "P99"]
    rows = (_row("td", row) for row in spread_rows(found, name))
    return element("table", _row("th", heading), *rows)


def _legend(found: Comparison) -> Html:
    marks: list[Html] = []
    for number, run in enumerate(found.runs):
        line = element("line", x1=0, y1=6, x2=44, y2=6, **_stroke(number))
        picture = element("svg", line, width=44, height=12, aria_hidden="true")
        marks.append(element("span", picture, " ", run.policy, class_="mark"))
    return element("p", *marks)


def _stroke(number: int) -> dict[str, object]:
    ink, dash = INKS[number % len(INKS)], DASHES[number % len(DASHES)]
    return {"stroke": ink, "stroke_width": 2, "stroke_dasharray": dash or None}


# -- pictures ---------------------------------------------------------------


def _shares(found: Comparison, name: str) -> Html:
    """For each policy the share of completed requests that took at most so long."""
    np = numpy()
    lines: list[list[Point]] = []
    for run in found.runs:
        values = np.sort(getattr(run, name)[run.completed])
        places = np.unique(np.linspace(0, max(values.size - 1, 0), POINTS).astype(int))
        chosen = [(float(values[p]), (int(p) + 1) / values.size) for p in places if values.size]
        lines.append(chosen)
    least = max(1e-3, found.workload.setup.step)
    most = max((x for line in lines for x, _ in line), default=1.0)
    low, high = floor(log10(least)), max(ceil(log10(max(most, least))), floor(log10(least)) + 1)
    scaled = [[((log10(max(x, least)) - low) / (high - low), y) for x, y in line] for line in lines]
    ticks = [((power - low) / (high - low), seconds(10.0**power)) for power in range(low, high + 1)]
    sides = [(part / 4, f"{25 * part} %") for part in range(5)]
    return _picture(scaled, ticks, sides)


def _over_time(found: Comparison, name: str) -> Html:
    """The most of a quantity in each slice of the run."""
    step = found.workload.setup.step
    curves = [getattr(run.record, name) for run in found.runs]
    end = max(len(curve.most) * curve.steps_each * step for curve in curves) or 1.0
    top = max((max(curve.most, default=0) for curve in curves), default=0) or 1
    lines = [
        [
            (place * curve.steps_each * step / end, value / top)
            for place, value in enumerate(curve.most)
        ]
        for curve in curves
    ]
    ticks = [(part / 4, seconds(end * part / 4)) for part in range(5)]
    sides = [(part / 4, f"{top * part / 4:,.0f}") for part in range(5)]
    return _picture(lines, ticks, sides)


def _picture(
    lines: Sequence[Sequence[Point]],
    ticks: Sequence[tuple[float, str]],
    sides: Sequence[tuple[float, str]],
) -> Html:
    """Lines in the unit square, with what stands at its edges."""
    marks: list[Html] = []
    for x, text in ticks:
        marks.append(element("text", text, x=_x(x), y=HEIGHT - 12, text_anchor="middle"))
        marks.append(element("line", x1=_x(x), x2=_x(x), y1=_y(0), y2=_y(1), class_="grid"))
    for y, text in sides:
        marks.append(element("text", text, x=LEFT - 6, y=_y(y) + 4, text_anchor="end"))
        marks.append(element("line", x1=_x(0), x2=_x(1), y1=_y(y), y2=_y(y), class_="grid"))
    for number, line in enumerate(lines):
        points = " ".join(f"{_x(x)},{_y(y)}" for x, y in line)
        marks.append(element("polyline", points=points, fill="none", **_stroke(number)))
    box = f"0 0 {WIDTH} {HEIGHT}"
    return element("svg", *marks, viewBox=box, role="img", class_="picture")


def _x(share: float) -> float:
    return round(LEFT + share * (WIDTH - LEFT - 24), 1)


def _y(share: float) -> float:
    return round(TOP + (1 - share) * (HEIGHT - TOP - BOTTOM), 1)


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
        class_="wide",
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
