"""All states of a trace in one table, for reading without a script and on paper.

Rules.
1. Each action has a row of its own with what it did and the sum of the blocks, and below it
   the requests. A value that changed stands behind the old one, a guilty one has a cross.
2. A long trace shows below each action only the requests that it touched, and says so; the
   last action shows all.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.page.columns import (
    COLUMNS,
    MORE,
    Fields,
    cell,
    changed,
    more,
    name_of,
    used_columns,
)
from schedproof.page.html import Html, both, element, joined
from schedproof.page.scenes import Scene
from schedproof.search.results import Counterexample
from schedproof.telling.messages import Say, join

ROWS_MAX = 400
"""A trace with more rows than this shows the touched requests only."""


def states_table(
    example: Counterexample, scenes: Sequence[Scene], labels: Sequence[Html], breaks: bool
) -> Html:
    """The table of all states; `labels` say what each action did."""
    columns = used_columns(scene.requests for scene in scenes)
    shorter = sum(len(scene.requests) for scene in scenes) > ROWS_MAX
    head = element(
        "tr", *(element("th", _heading(n), scope="col") for n in ("request", *columns, MORE))
    )
    groups: list[Html] = []
    for number, scene in enumerate(scenes):
        last = number == len(scenes) - 1
        before = scenes[number - 1] if number else None
        guilty = _guilty(example) if last and breaks else {}
        shown = [
            i for i in scene.requests if not shorter or last or _touched(i, before, scene, columns)
        ]
        rows = [_row(i, before, scene, columns, guilty.get(i, ())) for i in shown]
        label = _label(labels[number], scene, len(columns) + 2)
        groups.append(element("tbody", label, *rows, class_="broken" if guilty else None))
    note = both(lambda say: say("web.states.shorter")) if shorter else None
    return joined(
        element("p", note, class_="faint") if note else None,
        element("div", element("table", element("thead", head), *groups), class_="wide"),
    )


def _heading(column: str) -> Html:
    return both(lambda say: say(f"web.column.{column}"))


def _guilty(example: Counterexample) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for request_id, name in example.guilty:
        if request_id is not None:
            found.setdefault(str(request_id), []).append(name)
    return found


def _label(label: Html, scene: Scene, width: int) -> Html:
    sums = both(lambda say: sum_text(say, scene))
    kind = "sum bad" if scene.missing else "sum"
    parts = element("span", label), " ", element("span", sums, class_=kind)
    return element("tr", element("th", *parts, colspan=width, scope="rowgroup"), class_="action")


def sum_text(say: Say, scene: Scene) -> str:
    """The books of a state in one line, with what is wrong with them."""
    held = scene.held
    several = len(held) > 1
    names = [f"{name_of(i)} {n}" if several else name_of(i) for i, n in held.items()]
    holders = say("ledger.holders", names=join(say, "comma", names)) if names else ""
    blocks = sum(held.values())
    text = say("ledger.sum", free=scene.free, held=blocks, holders=holders, sum=scene.free + blocks)
    if scene.missing > 0:
        return f"{text}   ✗ {say('ledger.missing', missing=scene.missing)}"
    return f"{text}   ✗ {say('ledger.too_many', extra=-scene.missing)}" if scene.missing else text


def _touched(request_id: str, before: Scene | None, scene: Scene, columns: Sequence[str]) -> bool:
    if request_id in scene.ways or request_id in map(str, scene.frame.served):
        return True
    old = before.requests.get(request_id) if before else None
    return any(changed(column, old, scene.requests[request_id]) for column in columns)


def _row(
    request_id: str,
    before: Scene | None,
    scene: Scene,
    columns: Sequence[str],
    guilty: Sequence[str],
) -> Html:
    fields = scene.requests[request_id]
    old = before.requests.get(request_id) if before else None
    served = request_id in map(str, scene.frame.served)
    name = joined(name_of(request_id), " ●" if served else None)
    cells = [_cell(column, old, fields, guilty) for column in columns]
    words = element("td", both(lambda say: join(say, "comma", more(say, fields, guilty))))
    return element("tr", element("th", name, scope="row"), *cells, words)


def _cell(column: str, old: Fields | None, fields: Fields, guilty: Sequence[str]) -> Html:
    text = cell(column, fields)
    if old is None or not changed(column, old, fields):
        wrong = any(name in guilty for name in COLUMNS[column])
        return element("td", f"✗ {text}" if wrong else text, class_="guilty" if wrong else None)
    was = element("del", cell(column, old))
    if any(name in guilty for name in COLUMNS[column]):
        return element("td", was, f" ✗ {text}", class_="guilty")
    return element("td", was, " ", text, class_="changed")
