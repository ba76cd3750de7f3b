"""A trace as a test for pytest that fails while the bug is there, with one import of ours.

Rules.
1. The test reads as what happened: the claim is its name, the story its docstring, and each
   action a line with what it did beside it.
2. It names the scheduler as it was named in the check, so it runs from the same folder, and
   from any other below or beside it.
3. Schedulers that hang or take all memory cannot be put into a test; who asks for that is
   told what to do instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from schedproof.claims.catalogue import BY_ID
from schedproof.search.results import Counterexample
from schedproof.subjects.actions import Enqueue
from schedproof.telling.layout import wrap
from schedproof.telling.messages import Say, join, tell
from schedproof.telling.steps import step_lines, verb
from schedproof.telling.story import story_of, title_of
from schedproof.telling.text import story_text
from schedproof.traces.trace import Trace

WIDTH = 88
_USUAL = Enqueue(request_id=None, prompt_len=1).arguments()


@dataclass
class NotExportable(Exception):
    """A trace that cannot be put into a test; `message_id` and `values` say why and what else."""

    message_id: str
    values: dict[str, Any]

    def __post_init__(self) -> None:
        super().__init__(self.message_id)


def to_pytest(trace: Trace, found: Counterexample | None, language: str) -> str:
    """The text of a test file; `found` is the counterexample that the trace leads to now."""
    say = tell(language)
    check_exportable(trace)
    told = found if found is not None and found.claim == trace.claim else None
    call = "assert_holds" if trace.claim else "assert_runs"
    used = dict.fromkeys(str(action["op"]) for action in trace.actions)
    names = ", ".join(sorted({call, *used}))
    lines = [
        *docstring(heading(say, trace, "--pytest"), ""),
        "",
        f"from schedproof.testing import {names}",
        "",
        "",
        f"def {test_name(trace)}() -> None:",
        *docstring(story(say, trace, told, language), "    "),
        *_call(call, _arguments(trace), _actions(say, trace, told)),
    ]
    return "\n".join(lines) + "\n"


def check_exportable(trace: Trace) -> None:
    """Raise `NotExportable` for what no test can show."""
    if trace.claim is None and trace.trouble != "raised":
        raise NotExportable("export.no_test_of_trouble", {"trouble": str(trace.trouble)})
    if trace.claim not in (None, *BY_ID) and trace.claims_from is None:
        raise NotExportable("export.claim_unknown", {"claim": trace.claim})


def test_name(trace: Trace) -> str:
    """The claim as the name of a function, in English: names are read by programs, too."""
    title = title_of(tell("en"), trace.claim) if trace.claim else "actions do not raise"
    words = re.findall(r"[a-z0-9]+", f"{trace.named_for} {title}".lower())
    return "_".join(["test", *words])


test_name.__test__ = False  # type: ignore[attr-defined]  # pytest: it makes a name


def heading(say: Say, trace: Trace, option: str) -> list[str]:
    """What the file is, and where it comes from."""
    title = title_of(say, trace.claim) if trace.claim else say("trouble.title.all")
    named = join(say, "colon", [part for part in (trace.named_for, title) if part])
    command = f"schedproof export {option} {trace.id}"
    about = say("export.about", command=command, subject=trace.factory or trace.subject)
    return [named, "", *wrap(about, WIDTH)]


def story(say: Say, trace: Trace, found: Counterexample | None, language: str) -> list[str]:
    """The story, or what is known of it without taking the actions."""
    if found is not None:
        return story_text(story_of(found, language), WIDTH - 8).splitlines()
    if trace.claim is None:
        return [say("trouble.title", policy=trace.config.policy)]
    if trace.claim not in BY_ID:
        return [trace.claim]
    return wrap(say(f"claim.{trace.claim}.sentence"), WIDTH - 8)


def docstring(lines: Sequence[str], indent: str) -> list[str]:
    """Lines as a docstring; nothing in them ends it."""
    safe = [line.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') for line in lines]
    if safe[-1].endswith('"'):
        safe[-1] = safe[-1][:-1] + '\\"'
    if len(safe) == 1:
        return [f'{indent}"""{safe[0]}"""']
    more = [f"{indent}{line}".rstrip() for line in safe[1:]]
    return [f'{indent}"""{safe[0]}', *more, f'{indent}"""']


def written(value: Any) -> str:
    """A value of an action as Python reads it."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f'float("{value}")'
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value).items()
        return "{" + ", ".join(f"{quoted(name)}: {written(part)}" for name, part in parts) + "}"
    return quoted(value) if isinstance(value, str) else repr(value)


def quoted(text: str) -> str:
    """A text in double quotes where that needs no escape."""
    return f'"{text}"' if text.isprintable() and not set(text) & {'"', "\\"} else repr(text)


def _arguments(trace: Trace) -> list[str]:
    config = trace.config
    first = [quoted(trace.claim)] if trace.claim else []
    named = [quoted(trace.subject)] if trace.factory is None else []
    rest: Mapping[str, Any] = {
        "policy": config.policy,
        "blocks": config.blocks,
        "aging_interval": config.aging_interval,
        "factory": trace.factory,
        "cell": trace.cell,
        "claims_from": trace.claims_from,
        "lasso": trace.lasso,
        "limits": None if config.limits is None else config.limits._asdict(),
    }
    texts = [f"{name}={written(value)}" for name, value in rest.items() if value is not None]
    return [*first, *named, *texts]


def _call(name: str, arguments: list[str], actions: list[str]) -> list[str]:
    lines = [f"        {argument}," for argument in arguments]
    inner = [f"            {action}" for action in actions]
    return [f"    {name}(", *lines, "        actions=[", *inner, "        ],", "    )"]


def _actions(say: Say, trace: Trace, found: Counterexample | None) -> list[str]:
    actions = without_drain(trace, found)
    texts = [f"{action_text(action)}," for action in actions]
    if found is None:
        return texts
    return [
        f"{text}  # {comment}" if comment else text
        for text, comment in zip(texts, comments(say, found), strict=False)
    ]


def action_text(action: Mapping[str, Any]) -> str:
    """An action as a call of the function of its name; usual arguments are left out."""
    args: dict[str, Any] = dict(action.get("args", {}))
    if action["op"] != "enqueue":
        return f"{action['op']}({', '.join(f'{n}={written(v)}' for n, v in args.items())})"
    first = written(args.pop("request_id"))
    told = [f"{n}={written(v)}" for n, v in args.items() if _is_unusual(n, v)]
    return f"enqueue({', '.join([first, *told])})"


def _is_unusual(name: str, value: Any) -> bool:
    usual = _USUAL.get(name)
    return type(value) is not type(usual) or value != usual


def comments(say: Say, found: Counterexample) -> list[str]:
    """What each action did, in a few words."""
    told: list[str] = []
    for line in step_lines(say, found.actions, found.trail):
        enqueued = found.actions[line.number - 1]["op"] == "enqueue"
        refused = line.number <= len(found.trail) and found.trail[line.number - 1].refused
        what = say("trail.refused") if refused else "" if enqueued else line.what
        told.append(join(say, "semicolon", [part for part in (what, line.free) if part]))
    return told


def without_drain(trace: Trace, found: Counterexample | None) -> tuple[dict[str, Any], ...]:
    """The actions without the steps that only waited for everything to be finished."""
    steps = found.values.get("steps", 0) if found is not None and found.text == "LIVE-1" else 0
    return trace.actions[: trace.length - steps]


def action_name(say: Say, action: Mapping[str, Any]) -> str:
    """An action by name, for a comment."""
    return verb(say, action)
