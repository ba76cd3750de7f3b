"""The whole page of a check as one HTML document that needs nothing beside itself.

Rules.
1. Style, script, texts and data are in the file. The content security policy allows exactly
   these styles and scripts, by their digests, and no request whatever.
2. It is complete without a script: verdict, stories, every state, claims. The script adds a
   player. The choice of language and of colours works without it, too.
3. The first violation is open, the others can be chosen. Beyond `EXAMPLES_MAX` the rest is
   counted, not shown; the JSON report has all of them.
4. The same result makes the same page.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from schedmodel import __version__
from schedmodel.lifecycle import MOVES, Trigger
from schedproof.page.columns import COLUMNS, MARKS, QUIET, used_columns
from schedproof.page.examples import Shown, article, label, shown
from schedproof.page.html import TAGS, Html, both, element
from schedproof.page.overview import checked, searched, troubles, verdict_of
from schedproof.page.scenes import told
from schedproof.page.words import words
from schedproof.telling.books import wrong_slot
from schedproof.telling.messages import Say
from schedproof.telling.report import Summary, told_once

EXAMPLES_MAX = 40
SCRIPTS = ("basics", "requests", "drawings", "timeline", "player", "start")
_NATIVE = {"en": "English", "zh": "中文"}
_THEMES = ("auto", "light", "dark")


def page(summary: Summary, language: str) -> str:
    """The page as text, in every language; it opens in `language`."""
    found = told_once(summary)
    examples = [shown(*each) for each in found[:EXAMPLES_MAX]]
    body = element(
        "body",
        _top(summary, language),
        element("main", *_main(summary, examples, len(found) - len(examples))),
        element("footer", both(lambda say: say("web.footer", version=__version__))),
        element("script", _data(examples), type="application/json", id="data"),
        element("script", script()),
    )
    root = element("html", _head(summary, language), body, lang=TAGS[language])
    return f"<!doctype html>\n{root}\n"


def _head(summary: Summary, language: str) -> Html:
    mark = "✓" if summary.exit_code == 0 else "✗"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{mark} {summary.subject} · schedproof"),
        element("link", rel="icon", href="data:,"),
        element("style", style()),
        element("noscript", element("style", plain_style())),
        element("script", early_script()),
    )


def _top(summary: Summary, language: str) -> Html:
    subject = both(lambda say: say("web.subject"))
    names = {code: Html(name) for code, name in _NATIVE.items()}
    themes = {theme: both(_text(f"web.theme.{theme}")) for theme in _THEMES}
    return element(
        "header",
        element("h1", element("span", "schedproof · ", subject, " "), summary.subject),
        _choice("lang", both(_text("web.language")), names, language),
        _choice("theme", both(_text("web.theme")), themes, _THEMES[0]),
        class_="top",
    )


def _text(message_id: str) -> Callable[[Say], str]:
    def text(say: Say) -> str:
        return say(message_id)

    return text


def _choice(name: str, legend: Html, labels: dict[str, Html], chosen: str) -> Html:
    """A few buttons of which one is pressed; made of radio buttons, so that no script is needed."""
    parts: list[Html] = []
    for value, text in labels.items():
        key = f"{name}-{value}"
        box = {"type": "radio", "name": name, "id": key, "value": value}
        lang = TAGS.get(value) if name == "lang" else None
        parts.append(element("input", checked=value == chosen, **box))
        parts.append(element("label", text, for_=key, lang=lang))
    heading = element("legend", legend, class_="hidden-label")
    return element("fieldset", heading, *parts, class_="choice")


def _main(summary: Summary, examples: list[Shown], left_out: int) -> list[Html]:
    parts = [verdict_of(summary)]
    if len(examples) > 1:
        parts.append(_choices(examples))
    if left_out:
        text = both(lambda say: say("web.examples.more", count=left_out))
        parts.append(element("p", text, class_="faint"))
    parts += [article(each, number) for number, each in enumerate(examples, start=1)]
    parts += troubles(summary.runs)
    return [*parts, checked(summary)] if searched(summary) else parts


def _choices(examples: list[Shown]) -> Html:
    heading = both(lambda say: say("web.examples", count=len(examples)))
    links = [
        element("li", element("a", label(each), href=f"#example-{number}"))
        for number, each in enumerate(examples, start=1)
    ]
    return element("nav", element("h3", heading), element("ul", *links, class_="choices"))


def _data(examples: list[Shown]) -> Html:
    """What the script reads; no text in it can end the element that it stands in."""
    record = {
        "words": words(),
        "columns": COLUMNS,
        "quiet": QUIET,
        "marks": MARKS,
        "moves": _moves(),
        "examples": [_example(each) for each in examples],
    }
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return Html(text.replace("<", "\\u003c"))


def _moves() -> list[tuple[str, str, str]]:
    """The edges of the lifecycle that a scheduler's step can take, with their triggers."""
    asked = (Trigger.ABORT, Trigger.REJECT)
    labels: dict[tuple[str, str], list[str]] = {}
    for move in MOVES.values():
        if move.trigger not in asked:
            pair = (move.source.value, move.dest.value)
            labels.setdefault(pair, []).append(move.trigger.value.replace("_", " "))
    return [(source, dest, ", ".join(names)) for (source, dest), names in labels.items()]


def _example(each: Shown) -> dict[str, Any]:
    guilty: dict[str, list[str]] = {}
    for request_id, name in each.example.guilty:
        if request_id is not None:
            guilty.setdefault(str(request_id), []).append(name)
    return {
        "claim": each.example.claim,
        "blocks": each.example.blocks,
        "breaks": len(each.scenes) - 1 if each.breaks else None,
        "loop": each.loop,
        "block_size": None if each.example.limits is None else each.example.limits.block_size,
        "slot": wrong_slot(each.example),
        "guilty": guilty,
        "columns": used_columns(scene.requests for scene in each.scenes),
        "scenes": told(list(each.scenes)),
    }


@cache
def style() -> Html:
    """The style sheet."""
    return _asset("style.css")


@cache
def plain_style() -> Html:
    """What is added where no script runs."""
    return _asset("plain.css")


@cache
def early_script() -> Html:
    """What runs before the page is drawn."""
    return _script(("early",))


@cache
def script() -> Html:
    """All other parts of the script as one."""
    return _script(SCRIPTS)


def _script(names: tuple[str, ...]) -> Html:
    parts = "\n".join(_asset(f"{name}.js") for name in names)
    return Html(f'"use strict";\n(() => {{\n{parts}\n}})();')


def _asset(name: str) -> Html:
    resource = files("schedproof.page") / "assets" / name
    return Html(resource.read_text(encoding="utf-8"))


def policy() -> str:
    """The content security policy: these styles and scripts, and nothing from anywhere."""
    styles = _digests(style(), plain_style())
    scripts = _digests(early_script(), script())
    return (
        f"default-src 'none'; style-src {styles}; script-src {scripts}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digests(*texts: str) -> str:
    digests = (base64.b64encode(sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
