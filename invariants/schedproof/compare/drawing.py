"""The pictures of a comparison: lines and strips as SVG, with what stands at their edges.

Rules.
1. A picture has the same axes for all policies. Shares and the queue are lines in one picture,
   each in the policy's colour and dashes; the blocks held move too much for that, so each
   policy has a strip of its own.
2. Shares are of the completed requests. Times are on a logarithmic axis: waits differ by
   thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10

from schedproof.compare.comparing import Comparison
from schedproof.compare.metrics import numpy
from schedproof.compare.words import seconds
from schedproof.page.html import Html, element, joined

INKS = ("#4269d0", "#d9600f", "#2a9155", "#a04fc4", "#b0324f")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "14 4")
WIDTH, HEIGHT, STRIP, LEFT, BOTTOM, TOP = 640, 246, 82, 64, 34, 16
POINTS = 200

Point = tuple[float, float]
Mark = tuple[float, str]


def stroke(number: int) -> dict[str, object]:
    """The line of the policy of this number."""
    ink, dash = INKS[number % len(INKS)], DASHES[number % len(DASHES)]
    return {"stroke": ink, "stroke_width": 1.8, "stroke_dasharray": dash or None}


def shares(found: Comparison, name: str) -> Html:
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
    return _picture(f"title-{name}", scaled, ticks, sides)


def queue(found: Comparison) -> Html:
    """How many requests are without blocks, the most in each slice of the run."""
    lines, top, ticks = _curves(found, "queue")
    return _picture("title-queue", lines, ticks, marks_of(top, 4))


def held(found: Comparison) -> Html:
    """The blocks held, the most in each slice: a strip for each policy."""
    lines, top, ticks = _curves(found, "held")
    strips: list[Html] = []
    for number, (run, line) in enumerate(zip(found.runs, lines, strict=True)):
        last = number == len(lines) - 1
        height = STRIP + (BOTTOM if last else 12)
        marks = [*_edges(ticks if last else [(x, "") for x, _ in ticks], marks_of(top, 1), height)]
        points = [(_x(x), _y(y, height)) for x, y in line]
        base = _y(0, height)
        area = [(points[0][0], base), *points, (points[-1][0], base)] if points else []
        marks.append(element("polygon", points=_text(area), fill=stroke(number)["stroke"]))
        plain = {**stroke(number), "stroke_dasharray": None}
        marks.append(element("polyline", points=_text(points), fill="none", **plain))
        picture = _svg("title-held", marks, height)
        strips.append(element("figure", element("figcaption", run.policy), picture))
    return joined(*strips)


def _curves(found: Comparison, name: str) -> tuple[list[list[Point]], int, list[Mark]]:
    """Curves over time in the unit square, what their height stands for, and the times below."""
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
    return lines, top, [(part / 4, seconds(end * part / 4)) for part in range(5)]


def marks_of(top: int, parts: int) -> list[Mark]:
    """Whole numbers, each where it belongs and none twice."""
    values = {round(top * part / parts) for part in range(parts + 1)}
    return [(value / top, f"{value:,}") for value in sorted(values)]


def _picture(
    title: str, lines: Sequence[Sequence[Point]], ticks: Sequence[Mark], sides: Sequence[Mark]
) -> Html:
    """Lines in the unit square, with what stands at its edges."""
    marks = [*_edges(ticks, sides, HEIGHT)]
    for number, line in enumerate(lines):
        points = [(_x(x), _y(y, HEIGHT)) for x, y in line]
        marks.append(element("polyline", points=_text(points), fill="none", **stroke(number)))
    return _svg(title, marks, HEIGHT)


def _edges(ticks: Sequence[Mark], sides: Sequence[Mark], height: int) -> Iterator[Html]:
    low, high = _y(0, height), _y(1, height)
    for x, text in ticks:
        yield element("line", x1=_x(x), x2=_x(x), y1=low, y2=high, class_="grid")
        if text:
            yield element("text", text, x=_x(x), y=height - 10, text_anchor="middle")
    for y, text in sides:
        level = _y(y, height)
        yield element("line", x1=_x(0), x2=_x(1), y1=level, y2=level, class_="grid")
        yield element("text", text, x=LEFT - 6, y=level + 4, text_anchor="end")


def _svg(title: str, marks: Sequence[Html], height: int) -> Html:
    box = {"viewBox": f"0 0 {WIDTH} {height}", "class_": "picture"}
    return element("svg", *marks, role="img", aria_labelledby=title, **box)


def _text(points: Sequence[Point]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _x(share: float) -> float:
    return round(LEFT + share * (WIDTH - LEFT - 38), 1)


def _y(share: float, height: int) -> float:
    bottom = BOTTOM if height in (HEIGHT, STRIP + BOTTOM) else 12
    return round(TOP + (1 - share) * (height - TOP - bottom), 1)
