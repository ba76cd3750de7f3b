"""The actions of a counterexample as a picture: a lane for each request, a column for each action.

Rules.
1. A cell shows how a request stands after the action: it waits (outline), holds its blocks
   (light), was served by it (dark), was preempted by it (triangle), or is finished (dot).
2. The picture brings its own ground, so that it can be read in a light and a dark notebook.
3. It shows nothing that the list of steps does not say.
"""

from __future__ import annotations

from html import escape
from typing import Any

from schedproof.notebook.blocks import Picture
from schedproof.search.results import Counterexample
from schedproof.telling.messages import Say

_CELL, _LANE, _LEFT, _TOP = 30, 26, 46, 24
_SERVED, _HOLDS, _LINE, _BAD, _INK = "#3566b8", "#b9cdf0", "#8a94a6", "#d1343c", "#222222"
_MOST_COLUMNS, _MOST_LANES = 40, 12

WAITS, HOLDS, SERVED, PREEMPTED, AWAY, FINISHED = range(6)


def picture_of(say: Say, example: Counterexample) -> Picture | None:
    """The picture; None where it would be too large to be read, or would show nothing."""
    lanes = lanes_of(example)
    if not lanes or len(lanes) > _MOST_LANES or example.length > _MOST_COLUMNS:
        return None
    breaks = example.before is not None
    width = _LEFT + _CELL * example.length + 10
    height = _TOP + _LANE * len(lanes) + 8
    parts = [f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>']
    if breaks:
        left = _LEFT + _CELL * (example.length - 1)
        parts.append(
            f'<rect x="{left}" y="2" width="{_CELL}" height="{height - 4}" rx="4"'
            f' fill="#fdeaea" stroke="{_BAD}"/>'
        )
    for column in range(example.length):
        parts.append(_word(str(column + 1), _LEFT + _CELL * column + _CELL // 2, 17))
    for place, (request, cells) in enumerate(lanes.items()):
        y = _TOP + _LANE * place
        parts.append(_word(f"r{request}", _LEFT // 2, y + 17))
        parts += [_drawn(cell, _LEFT + _CELL * column, y) for column, cell in cells.items()]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
    )
    return Picture(head + "".join(parts) + "</svg>", say("notebook.picture"))


def lanes_of(example: Counterexample) -> dict[Any, dict[int, int]]:
    """For each request by id, how it stands after each action from its arrival on."""
    lanes: dict[Any, dict[int, int]] = {}
    stands: dict[Any, int] = {}
    for column, (action, step) in enumerate(zip(example.actions, example.trail, strict=False)):
        settled = {SERVED: HOLDS, PREEMPTED: AWAY}
        stands = {request: settled.get(cell, cell) for request, cell in stands.items()}
        if action["op"] == "enqueue" and not step.refused:
            stands.setdefault(action["args"]["request_id"], WAITS)
        for request in step.preempted:
            stands[request] = PREEMPTED
        if step.served in stands:
            stands[step.served] = FINISHED if step.finished else SERVED
        for request, now in stands.items():
            lanes.setdefault(request, {})[column] = now
    return lanes


def _word(text: str, x: int, y: int) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle" fill="{_INK}">{escape(text)}</text>'


def _drawn(cell: int, x: int, y: int) -> str:
    box = f'x="{x + 3}" y="{y + 3}" width="{_CELL - 6}" height="{_LANE - 6}" rx="4"'
    middle, centre = x + _CELL // 2, y + _LANE // 2
    if cell == FINISHED:
        return (
            f'<rect {box} fill="{_SERVED}"/>'
            f'<circle cx="{middle}" cy="{centre}" r="5" fill="#ffffff"/>'
        )
    if cell == PREEMPTED:
        return (
            f'<rect {box} fill="#ffffff" stroke="{_BAD}"/>'
            f'<path d="M{middle - 6} {centre - 4}h12l-6 9z" fill="{_BAD}"/>'
        )
    fill = {SERVED: _SERVED, HOLDS: _HOLDS}.get(cell, "#ffffff")
    dashes = ' stroke-dasharray="3 2"' if cell == AWAY else ""
    return f'<rect {box} fill="{fill}" stroke="{_LINE}"{dashes}/>'
