"""The lifecycle as a picture of its own, for pages that nothing may draw later.

Rules. The states, the moves and their conditions are read out of the machine. Only where a
state stands is said here, and a state that has no place is an error. Moves between the same
two states share one line; its label stands in the middle of it. Colours follow the reader's
light or dark setting.
"""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

from schedmodel.diagrams import initial_and_final, moves_between


class Place(NamedTuple):
    """The middle of a state's box."""

    x: int
    y: int


PLACES = {
    "waiting": Place(100, 50),
    "admitted": Place(100, 230),
    "prefill": Place(430, 230),
    "decode": Place(780, 230),
    "preempted": Place(430, 430),
    "finished": Place(780, 50),
}
BENDS = {  # how far the middle of a line is moved off the straight way
    ("admitted", "decode"): (0, -78),
    ("admitted", "preempted"): (-20, 36),
    ("preempted", "admitted"): (-90, 70),
    ("admitted", "finished"): (-60, -22),
    ("prefill", "finished"): (30, 12),
    ("prefill", "preempted"): (46, 0),
    ("decode", "preempted"): (40, 40),
    ("preempted", "finished"): (345, 110),
}
LOOPS = {  # where the label of a move from a state to itself stands, seen from the state
    "prefill": (-70, 62),
    "decode": (96, 72),
}
WIDTH, HEIGHT = 1010, 480
HALF_WIDTH, HALF_HEIGHT = 52, 19
TITLE = {"en": "The life of a request", "zh": "请求的生命周期"}
STYLE = """
  text { font: 13px system-ui, sans-serif; text-anchor: middle; fill: #1f2328 }
  .label { font-size: 12.5px; paint-order: stroke; stroke: #fff; stroke-width: 5px }
  .state { fill: #e8f0fe; stroke: #3b5bdb; stroke-width: 1.4 }
  .final { stroke-width: 3 }
  path { fill: none; stroke: #57606a; stroke-width: 1.3 }
  .head, .start { fill: #57606a; stroke: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .label { stroke: #131416 }
    .state { fill: #1c2b4a; stroke: #8ea8ff } path { stroke: #9aa4af }
    .head, .start { fill: #9aa4af }
  }
"""


def lifecycle_svg(lang: str) -> str:
    """The picture as SVG, with its title in a language."""
    initial, finals = initial_and_final()
    arrows = moves_between()
    parts = [_line(source, dest, label) for source, dest, label in arrows]
    parts += [_state(name, name in finals) for name in PLACES]
    told = escape("; ".join(f"{source} → {dest}: {label}" for source, dest, label in arrows))
    start = PLACES[initial]
    parts.append(f'<circle class="start" cx="{start.x - 75}" cy="{start.y}" r="5"/>')
    parts.append(f'<path d="M{start.x - 70},{start.y} h14" marker-end="url(#head)"/>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f"<title>{TITLE[lang]}</title><desc>{told}</desc><style>{STYLE}</style>"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path class="head" d="M0,0 L8,4 L0,8 z"/></marker></defs>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def _state(name: str, final: bool) -> str:
    place = PLACES[name]
    kind = "state final" if final else "state"
    x, y = place.x - HALF_WIDTH, place.y - HALF_HEIGHT
    box = f'x="{x}" y="{y}" width="{2 * HALF_WIDTH}" height="{2 * HALF_HEIGHT}" rx="9"'
    return f'<rect class="{kind}" {box}/><text x="{place.x}" y="{place.y + 4}">{name}</text>'


def _line(source: str, dest: str, label: str) -> str:
    if source == dest:
        return _loop(source, label)
    start, end = PLACES[source], PLACES[dest]
    off = BENDS.get((source, dest), (0, 0))
    middle = Place((start.x + end.x) // 2 + off[0], (start.y + end.y) // 2 + off[1])
    first, last = _edge(start, middle), _edge(end, middle)
    # The curve passes through `middle`: its control point lies twice as far out.
    bend = (2 * middle.x - (first.x + last.x) // 2, 2 * middle.y - (first.y + last.y) // 2)
    curve = f"M{first.x},{first.y} Q{bend[0]},{bend[1]} {last.x},{last.y}"
    return f'<path d="{curve}" marker-end="url(#head)"/>{_label(middle, label)}'


def _loop(source: str, label: str) -> str:
    """A move that leaves a state where it is, drawn below it on the side of its label."""
    place, (dx, dy) = PLACES[source], LOOPS[source]
    middle = Place(place.x + dx, place.y + dy)
    left = place.x + (-44 if dx < 0 else 12)
    start, end = (left, place.y + HALF_HEIGHT), (left + 32, place.y + HALF_HEIGHT)
    bends = f"{left - 10},{middle.y + 8} {left + 42},{middle.y + 8}"
    curve = f"M{start[0]},{start[1]} C{bends} {end[0]},{end[1]}"
    return f'<path d="{curve}" marker-end="url(#head)"/>{_label(middle, label)}'


def _label(place: Place, label: str) -> str:
    """Triggers one below the other, each with its condition below it."""
    lines = re.split(r", | (?=\[)", label)
    top = place.y + 4 - 7 * (len(lines) - 1)
    rows = (
        f'<tspan x="{place.x}" y="{top + 14 * number}">{escape(line)}</tspan>'
        for number, line in enumerate(lines)
    )
    return f'<text class="label">{"".join(rows)}</text>'


def _edge(box: Place, toward: Place) -> Place:
    """Where the way from the middle of a box to a point leaves the box."""
    dx, dy = toward.x - box.x, toward.y - box.y
    scale = min(
        (HALF_WIDTH + 3) / abs(dx) if dx else 9e9,
        (HALF_HEIGHT + 3) / abs(dy) if dy else 9e9,
    )
    return Place(round(box.x + dx * scale), round(box.y + dy * scale))
