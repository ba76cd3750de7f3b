"""A trace as a sequence diagram in Mermaid, which many sites draw from the text.

Rules.
1. Who takes part: the client who acts, the scheduler, the pool of KV blocks, and each
   request. Every action is an arrow from the client; what it did follows below it.
2. What happened is told in the words of the story; free blocks are noted after each action.
3. A name or text can hold anything: what Mermaid reads as a sign is written as a number.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.search.results import Counterexample, TrailStep
from schedproof.telling.batches import outcome_texts, part_text
from schedproof.telling.layout import wrap
from schedproof.telling.messages import Say, join, tell
from schedproof.telling.steps import verb, what_happened
from schedproof.telling.story import breach_text, is_endless, title_of

_NOTE_WIDTH = 64
_SIGNS = {"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "\n": " ", "\r": " "}


def to_mermaid(example: Counterexample, language: str) -> str:
    """The diagram of one counterexample."""
    say = tell(language)
    people = _Participants(say, example)
    lines = ["sequenceDiagram"]
    lines.append(f"title {_text(f'{example.claim} {title_of(say, example.claim)}'.strip())}")
    lines += people.lines
    last = example.length
    if is_endless(example):
        last = example.values["stem"] + example.values["loop"]
    away: set[int] = set()
    for number in range(1, last + 1):
        if is_endless(example) and number == example.values["stem"] + 1:
            lines.append(f"loop {_text(say('story.again_as_it_is'))}")
        lines += _action(say, people, example, number, away)
    if is_endless(example):
        lines.append("end")
    wrong = "<br/>".join(map(_text, wrap(f"✗ {breach_text(say, example)}", _NOTE_WIDTH)))
    lines.append(f"Note over C,P: {wrong}")
    return "\n".join([lines[0], *(f"  {line}" for line in lines[1:])]) + "\n"


class _Participants:
    """Those who take part, each under a short name that Mermaid can read."""

    def __init__(self, say: Say, example: Counterexample) -> None:
        given = [action.get("args", {}) for action in example.actions]
        ids = [args["request_id"] for args in given if "request_id" in args]
        named = {repr(i): f"r{i}" if type(i) is int else repr(i) for i in ids}
        self._short = {shown: f"R{place}" for place, shown in enumerate(named)}
        fixed = (("C", "mermaid.client"), ("S", "mermaid.scheduler"), ("P", "mermaid.pool"))
        self.lines = [f"participant {short} as {_text(say(text))}" for short, text in fixed]
        self.lines += [
            f"participant {self._short[shown]} as {_text(name)}" for shown, name in named.items()
        ]

    def short(self, request_id: int | None) -> str:
        """The short name of a request; that of the scheduler for one nobody enqueued."""
        return self._short.get(repr(request_id), "S")


def _action(
    say: Say, people: _Participants, example: Counterexample, number: int, away: set[int]
) -> list[str]:
    action = example.actions[number - 1]
    step = example.trail[number - 1] if number <= len(example.trail) else None
    said = f"{number}. {verb(say, action)}"
    if action["op"] == "enqueue":
        detail = what_happened(say, action, None, away)
        said = join(say, "colon", [said, detail]) if detail else said
    lines = [f"C->>S: {_text(said)}"]
    if step is None:
        return lines
    lines += [f"S-->>C: {_text(outcome)}" for outcome in outcome_texts(say, step)]
    if step.refused:
        lines.append(f"S--xC: {_text(say('trail.refused'))}")
    if action["op"] == "step":
        lines += _step(say, people, step, away)
    away |= set(step.preempted)
    away.discard(step.served if step.served is not None else -1)
    return [*lines, f"Note over P: {_text(say('trail.free', free=step.free))}"]


def _step(say: Say, people: _Participants, step: TrailStep, away: set[int]) -> Sequence[str]:
    """Who gave way, who came in, what ran; of a batch, request by request."""
    lines = [
        f"S-x{people.short(victim)}: {_text(say('trail.preempted', requests=f'r{victim}'))}"
        for victim in step.preempted
    ]
    for part in step.parts:
        lines.append(f"S->>{people.short(part.request)}: {_text(part_text(say, part))}")
    if step.served is None or step.parts:
        return lines or [f"Note over S: {_text(say('trail.nobody'))}"]
    name = people.short(step.served)
    if step.admitted:
        kind = "trail.resumed" if step.served in away else "trail.admitted"
        lines.append(f"S->>P: {_text(say(kind, request=step.served))}")
    lines.append(f"S->>{name}: {_text(_ran(say, step))}")
    if step.finished:
        lines.append(f"{name}-->>C: {_text(say('trail.finished'))}")
    return lines


def _ran(say: Say, step: TrailStep) -> str:
    if step.ran == "decode" and step.generated is not None:
        return say("trail.decode", token=step.generated)
    return say("trail.prefill") if step.ran == "prefill" else str(step.ran)


def _text(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in text)
