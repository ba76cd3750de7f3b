"""Two schedulers on the same actions: where they part, and why each did what it did.

Rules.
1. Told are the actions up to the first difference, the difference itself with both values,
   and what the rules say about this step.
2. That two schedulers did the same is told as such: it holds for these actions only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.subjects.contract import Config
from schedproof.telling.layout import wrap
from schedproof.telling.messages import Say, join, tell
from schedproof.telling.reasons import candidate_lines, ruled_service, service
from schedproof.telling.steps import step_lines
from schedproof.telling.text import BAD, FAINT, GOOD, HEADING, Line, labelled, steps_as_lines
from schedproof.traces.differ import Parting


@dataclass(frozen=True)
class Pair:
    """Two schedulers by name, what each did on the actions of a trace, and where they part."""

    names: tuple[str, str]
    records: tuple[dict[str, Any], dict[str, Any]]
    config: Config
    actions: Sequence[dict[str, Any]]
    parting: Parting | None
    trace: str

    @property
    def parts(self) -> bool:
        """Whether they do something else, or one of them cannot be set up so."""
        refused = any(record["refused"] is not None for record in self.records)
        return refused or self.parting is not None


def parting_lines(pair: Pair, language: str, width: int = 80) -> list[Line]:
    """All there is to tell."""
    say = tell(language)
    title = say(
        "diff.title",
        one=pair.names[0],
        other=pair.names[1],
        actions=len(pair.actions),
        policy=pair.config.policy,
        blocks=pair.config.blocks,
    )
    lines = [Line(part, HEADING) for part in wrap(title, width, "  ", "")]
    lines.append(Line(say("diff.trace", trace=pair.trace), FAINT))
    for name, record in zip(pair.names, pair.records, strict=True):
        if record["refused"] is not None:
            values = {"policy": pair.config.policy, "text": record["refused"]}
            text = say("diff.no_policy", name=name, **values)
            return [*lines, *(Line(part, BAD) for part in wrap(text, width, "  ", ""))]
    if pair.parting is None:
        return [*lines, Line(f"✓ {say('diff.same')}", GOOD)]
    return lines + _parting(say, pair, pair.parting, width)


def _parting(say: Say, pair: Pair, parting: Parting, width: int) -> list[Line]:
    text = say("diff.at", action=parting.action, what=_what(say, parting))
    lines = [Line(part, BAD) for part in wrap(f"✗ {text}", width, "  ", "")]
    steps = [record["steps"][parting.action - 1] for record in pair.records]
    values = (parting.one, parting.other)
    told = [
        (name, _did(say, parting, step, value))
        for name, step, value in zip(pair.names, steps, values, strict=True)
    ]
    why = next((step["why"] for step in steps if step.get("why")), None)
    if why is not None:
        told.append((say("diff.rules"), ruled_service(say, why)))
    lines += [Line(""), *labelled(told, width)]
    if why is not None:
        lines += [Line(""), *candidate_lines(say, why, width)]
    until = pair.actions[: parting.action]
    lines += [Line(""), Line("  " + say("diff.until"), HEADING)]
    return lines + steps_as_lines(step_lines(say, until), width)


def _what(say: Say, parting: Parting) -> str:
    name = parting.name if parting.request is None else f"r{parting.request}.{parting.name}"
    return say(f"diff.{parting.what}", name=name)


def _did(say: Say, parting: Parting, step: dict[str, Any], value: Any) -> str:
    if parting.what in ("served", "preempted") and step["raised"] is None:
        return service(say, *(step["served"] or (None,)), preempted=step["preempted"])
    if value is None or value == []:
        return say("diff.nothing")
    if parting.what == "tokens":
        return join(say, "names", value)
    if type(value) in (list,):  # narrowed by no type checker: what is in it may be anything
        return join(say, "names", [f"r{part}" for part in value])
    return str(value)
