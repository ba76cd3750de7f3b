"""One counterexample as an article: its story in every language, its steps, its states.

Rules.
1. The parts of a story that have no place above stand below, in the order of `HEADINGS`. What
   is new in a story shows up behind them under its heading, `story.<name>`, without a change
   to this module.
2. Everything can be read without a script; the script moves the steps into a player and
   hides the table of all states, which is still printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

from schedproof.page.html import Html, both, element, in_languages, joined
from schedproof.page.scenes import Scene, scenes_of
from schedproof.page.states import states_table
from schedproof.search.results import Counterexample, RunResult
from schedproof.telling.books import Sum
from schedproof.telling.bounds import DOT
from schedproof.telling.differences import Differences
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import Say, has_text, join, tell
from schedproof.telling.steps import StepLine
from schedproof.telling.story import Story, is_endless, story_of

_PLACED = frozenset(
    "language claim title broken checked wrong differences books setup steps steps_end".split()
)
"""Parts of a story with a place of their own; the rest follows below."""

HEADINGS = {
    "follows": "story.what_follows",
    "also_broken": "story.also_broken",
    "matters": "story.matters",
    "irrelevant": "story.irrelevant",
    "where": "story.where",
    "why": "story.why",
    "rule": "story.rule",
    "again": "story.repeat",
}


@dataclass(frozen=True)
class Shown:
    """A counterexample with all that is made of it: a story in each language, and its scenes.

    `others` are further policies under which the very same actions break it.
    """

    example: Counterexample
    others: tuple[str, ...]
    stories: tuple[Story, ...]
    scenes: tuple[Scene, ...]

    @property
    def breaks(self) -> bool:
        """Whether the last action broke the claim, and not the run as a whole."""
        return self.example.before is not None and not is_endless(self.example)

    @property
    def loop(self) -> int | None:
        """After how many actions a loop begins that can go on for ever; None if none does."""
        return int(self.example.values["stem"]) if is_endless(self.example) else None


def shown(example: Counterexample, run: RunResult, others: Sequence[str] = ()) -> Shown:
    """A counterexample made ready for the page."""
    stories = tuple(story_of(example, language, run) for language in LANGUAGES)
    scenes = scenes_of(example, len(stories[0].steps)) if example.frames else []
    return Shown(example, tuple(others), stories, tuple(scenes))


def article(told: Shown, number: int) -> Html:
    """The whole article; `number` from 1 is part of its anchor."""
    stories = told.stories
    head = element(
        "header",
        element("p", _badge(told), class_="eyebrow"),
        element("h2", in_languages([story.title or story.claim for story in stories])),
        in_languages([_wrong(story) for story in stories], "div"),
        class_="lead",
    )
    return element(
        "article",
        head,
        element("div", class_="player", hidden=True),
        _way(told),
        _states(told) if told.scenes else None,
        element("section", in_languages([_rest(story) for story in stories], "div"), class_="rest"),
        id=f"example-{number}",
        class_="example",
    )


def label(told: Shown) -> Html:
    """A counterexample in one line, as a choice among several."""
    example = told.example
    length = both(lambda say: say("web.actions", actions=example.length))
    name = element("b", f"✗ {example.claim}")
    policies = both(lambda say: join(say, "names", [example.policy, *told.others]))
    return joined(name, " ", element("span", policies, " · ", length))


def _badge(told: Shown) -> Html:
    broken = in_languages([story.broken for story in told.stories])
    claim = element("span", f"✗ {told.example.claim}", class_="badge bad")
    return joined(claim, " ", element("span", broken, class_="bad"))


def _wrong(story: Story) -> Html:
    paragraphs = [element("p", text) for text in story.wrong]
    checked = element("p", DOT.join(story.checked), class_="faint checked-within")
    tables = _books(story.books), _differences(story.differences)
    return joined(element("div", *paragraphs, class_="told"), *tables, checked)


def _books(sums: tuple[Sum, ...]) -> Html | None:
    if not sums:
        return None
    rows = [
        element(
            "tr",
            element("th", line.label, scope="row"),
            element("td", line.text),
            element("td", line.mark, element("small", line.note) if line.note else None),
            class_="guilty" if line.guilty else None,
        )
        for line in sums
    ]
    return element("div", element("table", *rows, class_="books"), class_="wide")


def _differences(shown: Differences | None) -> Html | None:
    if shown is None:
        return None
    names = ("", "", shown.before, shown.after, "")
    head = element("tr", *(element("th", name, scope="col") if name else EMPTY for name in names))
    rows = [
        element(
            "tr",
            element("th", row.whose, scope="row"),
            *(element("td", text) for text in (row.what, row.before, row.after, row.note)),
            class_="guilty" if row.guilty else None,
        )
        for row in shown.rows
    ]
    return element("div", element("table", element("thead", head), *rows), class_="wide")


EMPTY = element("td")


def _way(told: Shown) -> Html:
    """How to get there: the actions, numbered."""
    lines = zip(*(story.steps for story in told.stories), strict=True)
    steps = [_step(pair) for pair in lines]
    ends = in_languages([story.steps_end for story in told.stories])
    return element(
        "section",
        element("h3", both(lambda say: say("story.how_to_get_there"))),
        element("p", in_languages([story.setup for story in told.stories]), class_="faint"),
        element("p", _others(told), class_="faint") if told.others else None,
        element("ol", *steps, class_="steps"),
        element("p", ends, class_="again") if ends else None,
        class_="way",
    )


def _others(told: Shown) -> Html:
    return both(lambda say: say("report.same_actions", policies=join(say, "names", [*told.others])))


def _step(lines: tuple[StepLine, ...]) -> Html:
    first = lines[0]
    mark = "✗" if first.guilty else "↻" if first.again else None
    return element(
        "li",
        element("span", in_languages([line.verb for line in lines]), class_="verb"),
        element("span", mark, class_="mark") if mark else None,
        " ",
        element("span", in_languages([line.what for line in lines]), class_="what"),
        " ",
        element("span", in_languages([line.free for line in lines]), class_="free"),
        class_="bad" if first.guilty else None,
    )


def _states(told: Shown) -> Html:
    labels = [both(lambda say: say("web.start"))]
    for lines in zip(*(story.steps for story in told.stories), strict=True):
        labels.append(in_languages([_sentence(line) for line in lines]))
    return element(
        "section",
        element("h3", both(lambda say: say("web.states"))),
        states_table(told.example, told.scenes, labels, told.breaks),
        class_="states",
    )


def _sentence(line: StepLine) -> Html:
    mark = " ✗" if line.guilty else ""
    return joined(element("b", f"{line.number} {line.verb}"), f" {line.what}{mark}")


def _rest(story: Story) -> Html:
    """The parts of a story below its steps, each under its heading."""
    parts: list[Html] = []
    names = dict.fromkeys([*HEADINGS, *(part.name for part in fields(story))])
    for name in names:
        value = getattr(story, name)
        if value and name not in _PLACED:
            kind = "code" if name in ("where", "again") else None
            heading = _heading(tell(story.language), name)
            parts += [element("dt", heading), element("dd", _value(value), class_=kind)]
    return element("dl", *parts)


def _heading(say: Say, name: str) -> str:
    heading = HEADINGS.get(name, "story." + name)
    return say(heading) if has_text(heading) else name.replace("_", " ")


def _value(value: Any) -> Html:
    """A part of a story: a text, several, or pairs of a name and a text."""
    if type(value) is not tuple:
        return joined(str(value))
    return joined(*(element("p", _line(each)) for each in cast("tuple[object, ...]", value)))


def _line(value: object) -> Html:
    if type(value) is not tuple:
        return joined(str(value))
    first, *others = map(str, cast("tuple[object, ...]", value))
    return joined(element("b", first), " ", " ".join(others))
