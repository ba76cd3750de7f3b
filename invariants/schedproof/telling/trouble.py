"""Trouble with the scheduler itself: what failed, where, after which actions, what to do.

Rules. It is told as a result and not as a traceback: one sentence, the place in the
person's own file with the lines around it, the actions that led there. An exception with
no text is told by its name alone.
"""

from __future__ import annotations

from schedproof.search.results import Trouble
from schedproof.subjects.places import Place
from schedproof.telling.layout import wrap
from schedproof.telling.messages import Say, has_text, tell_first
from schedproof.telling.steps import step_lines
from schedproof.telling.text import BAD, FAINT, HEADING, Line, labelled, steps_as_lines


def trouble_lines(say: Say, policy: str, trouble: Trouble, width: int = 80) -> list[Line]:
    """The trouble of one run."""
    title = say("trouble.title.all") if policy == "all" else say("trouble.title", policy=policy)
    lines = [Line(f"✗ {title}", BAD)]
    lines += [Line(text) for text in wrap(trouble_text(say, trouble), width, "    ", "  ")]
    lines += place_lines(say, Place.from_json(trouble.place), width)
    if trouble.actions:
        lines += [Line(""), Line("  " + say("trouble.until_then"), HEADING)]
        lines += steps_as_lines(step_lines(say, trouble.actions), width)
    if has_text(f"next.{trouble.kind}"):
        advice = (say("trouble.what_now"), say(f"next.{trouble.kind}"))
        lines += [Line(""), *labelled([advice], width)]
    return lines


def trouble_text(say: Say, trouble: Trouble) -> str:
    """What failed, in one sentence."""
    wanted = trouble.message_id
    if trouble.values.get("text") == "" and has_text(f"{wanted}.no_text"):
        wanted = f"{wanted}.no_text"
    return tell_first(say, wanted, trouble.message_id, **trouble.values)


def place_lines(say: Say, place: Place | None, width: int = 80) -> list[Line]:
    """Where it was, with the lines around it; nothing if that is not known."""
    if place is None:
        return []
    where = (say("trouble.where"), say(place.message_id, **place.fields))
    return [*labelled([where], width), *(Line(f"    {text}", FAINT) for text in place.excerpt())]
