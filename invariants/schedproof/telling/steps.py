"""How to get there: the actions of a trace as numbered lines.

Rules.
1. An enqueue tells only the arguments that are not the default ones; a prompt of one token
   counts as default too.
2. A step tells what it did to requests, in the order in which it happens: who was
   preempted, who was admitted or resumed, what ran, who finished.
3. Every line ends with the blocks that are free afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.search.results import TrailStep
from schedproof.subjects.actions import Enqueue
from schedproof.telling.batches import batch_text, outcome_texts
from schedproof.telling.messages import Say, has_text, join

_DEFAULTS = Enqueue(request_id=None, prompt_len=1).arguments()
_TOLD_FIRST = (
    "token_ids",
    "prompt_len",
    "max_new_tokens",
    "priority",
    "cache_hit",
    "required_blocks",
    "deadline_step",
    "preemptible",
    "reuses",
)


@dataclass(frozen=True)
class StepLine:
    """One numbered line. `free` is "" where it is not known; `guilty` where a claim broke.

    `again` marks the actions of a loop that can be repeated for ever.
    """

    number: int
    verb: str
    what: str
    free: str
    guilty: bool = False
    again: bool = False


def step_lines(
    say: Say,
    actions: Sequence[Mapping[str, Any]],
    trail: Sequence[TrailStep] = (),
    breaks: bool = False,
) -> tuple[StepLine, ...]:
    """One line for each action; the last one is guilty if it `breaks` a claim."""
    lines: list[StepLine] = []
    away: set[int] = set()  # preempted and not yet back
    for number, action in enumerate(actions, start=1):
        step = trail[number - 1] if number <= len(trail) else None
        lines.append(
            StepLine(
                number,
                verb(say, action),
                what_happened(say, action, step, away),
                "" if step is None else say("trail.free", free=step.free),
                guilty=breaks and number == len(actions),
            )
        )
        if step is not None:
            away = (away | set(step.preempted)) - {step.served}
    return tuple(lines)


def verb(say: Say, action: Mapping[str, Any]) -> str:
    """The action by name, with the request that it is about."""
    name = say(f"verb.{action['op']}")
    args = action.get("args", {})
    if "request_id" not in args:
        return name
    request = args["request_id"]
    return f"{name} r{request}" if type(request) is int else f"{name} {request!r}"


def what_happened(
    say: Say, action: Mapping[str, Any], step: TrailStep | None, away: set[int]
) -> str:
    """What is to be said of one action behind its verb."""
    if action["op"] == "enqueue":
        parts = _arguments(say, action["args"])
        if step is not None and step.refused:
            parts.append(say("trail.refused"))
        parts += [] if step is None else outcome_texts(say, step)
        return join(say, "comma", parts)
    if step is not None and step.parts:
        return batch_text(say, step)
    if step is not None and action["op"] != "step":
        return join(say, "comma", outcome_texts(say, step))
    if action["op"] != "step" or step is None:
        return ""
    return join(say, "comma", _of_step(say, step, away)) or say("trail.nobody")


def _arguments(say: Say, args: Mapping[str, Any]) -> list[str]:
    usual = {**_DEFAULTS, "max_new_tokens": None} if "token_ids" in args else _DEFAULTS
    told = [n for n in _TOLD_FIRST if args.get(n, usual.get(n)) != usual.get(n)]
    return [_argument(say, name, args[name]) for name in told]


def _argument(say: Say, name: str, value: Any) -> str:
    if name == "token_ids":
        return say("arg.prompt_len", value=str(list(value)))
    usual = type(value) is (bool if name in ("cache_hit", "preemptible") else int)
    if usual and has_text(f"arg.{name}"):
        return say(f"arg.{name}", value=value)
    return say("arg.other", name=name, value=repr(value))


def _of_step(say: Say, step: TrailStep, away: set[int]) -> list[str]:
    parts: list[str] = []
    if step.preempted:
        names = join(say, "names", [f"r{i}" for i in step.preempted])
        parts.append(say("trail.preempted", requests=names))
    if step.served is None:
        return parts
    ran = _what_ran(say, step)
    if step.admitted:
        back = step.served in away
        admitted = say("trail.resumed" if back else "trail.admitted", request=step.served)
        parts += [admitted, ran]
    else:
        parts.append(f"r{step.served} {ran}")
    if step.finished:
        parts.append(say("trail.finished"))
    return parts


def _what_ran(say: Say, step: TrailStep) -> str:
    if step.ran == "prefill":
        return say("trail.prefill")
    if step.ran == "decode" and step.generated is not None:
        return say("trail.decode", token=step.generated)
    return str(step.ran)
