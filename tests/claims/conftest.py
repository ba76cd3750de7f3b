"""Edges and runs for claims to look at.

Rules. An edge is played on our own model, so it breaks nothing; a test then changes one
thing about it. A run is led through a scheduler of the plain zoo, perhaps with one fault.
Both are plain functions, which the tests import; the edges that many tests use have names.
"""

from __future__ import annotations

import ast
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import schedproof.claims
from schedmodel import DecodeSchedulerSim
from schedmodel.request import state_of
from schedproof.claims.catalogue import BY_ID
from schedproof.claims.claim import Claim
from schedproof.claims.edge import Breach, Edge, make_edge
from schedproof.claims.judge import Judge
from schedproof.claims.run import Run
from schedproof.subjects.actions import STEP, Action, Enqueue, Step
from schedproof.subjects.chapter import ChapterSubject, from_class
from schedproof.subjects.contract import Config, expected_refusal
from schedproof.subjects.observation import EVENT_KEYS, Row, make_row

DERIVED = ("admitted", "done", "total_len", "remaining", "finished", "shown")


def play(*actions: Action, policy: str = "fixed_priority", blocks: int = 3) -> Edge:
    """The edge of the last of these actions, on our own model."""
    subject = ChapterSubject(from_class(DecodeSchedulerSim), Config(policy, blocks), True)
    seen = subject.observe()
    used: set[int] = set()
    edge: Edge | None = None
    for action in actions:
        refused = None
        if isinstance(action, Enqueue):
            refused = expected_refusal(action, used, seen.clock, strict_types=True)
            used.add(action.request_id)
        answer, before = subject.do(action), seen
        seen = subject.observe()
        edge = make_edge(before, action, answer, seen, subject.config.rules(), refused)
    assert edge is not None
    return edge


def steps(count: int) -> tuple[Step, ...]:
    return (STEP,) * count


ONE = Enqueue(1, 4, max_new_tokens=3)
TWO = Enqueue(2, 4)
TIMED = Enqueue(1, 4, deadline_step=9)
BIG = Enqueue(1, 4, required_blocks=2, max_new_tokens=3)
URGENT = Enqueue(2, 4, required_blocks=2, priority=1, max_new_tokens=1)
MORE_URGENT = Enqueue(3, 4, required_blocks=2, priority=2, max_new_tokens=1)

IDLE = play(STEP)
NEW = play(ONE)
SECOND = play(ONE, TWO)
REFUSED = play(ONE, replace(ONE, prompt_len=9))
BAD_SIZE = play(replace(ONE, prompt_len=0))
BAD_DEADLINE = play(ONE, *steps(1), replace(TWO, deadline_step=1))
BAD_ID = play(replace(ONE, request_id="one"))
PREFILL = play(ONE, *steps(1))
PREFILL_OF_TWO = play(ONE, TWO, *steps(1))
TOKEN = play(ONE, *steps(2))
NEXT_TOKEN = play(ONE, *steps(3))
FINISH = play(ONE, *steps(4))
AFTER_FINISH = play(ONE, *steps(4), TWO)
REST = replace(IDLE, before=FINISH.after, after=FINISH.after, some_finished=True)
STUCK = play(replace(ONE, required_blocks=9), *steps(1))
ON_TIME = play(TIMED, *steps(1))
LATE = play(replace(TIMED, deadline_step=2), *steps(1))
PREEMPTION = play(BIG, *steps(2), URGENT, *steps(1))
PASSED_BY = play(BIG, *steps(2), URGENT, *steps(2))
RESUME = play(BIG, *steps(2), URGENT, *steps(3))
PREEMPTED_TWICE = play(BIG, *steps(2), URGENT, *steps(3), MORE_URGENT, *steps(1))
TWO_HOLDERS = play(
    ONE, replace(BIG, request_id=2), *steps(2), replace(MORE_URGENT, priority=1), STEP
)
SKIP = play(replace(ONE, required_blocks=9), TWO, *steps(1))
HANDOVER = play(
    Enqueue(1, 4, max_new_tokens=1, required_blocks=2, cache_hit=True), *steps(1),
    Enqueue(2, 4, required_blocks=3), *steps(1),
)  # fmt: skip
AGED = play(ONE, TWO, *steps(1), policy="aging")
PLAYED = {name: edge for name, edge in [*globals().items()] if isinstance(edge, Edge)}


def changed(row: Row, **values: Any) -> Row:
    """The row with other values; its state follows its status, as in a chapter-shaped class."""
    stored = {f.name: getattr(row, f.name) for f in fields(row) if f.name not in DERIVED}
    stored.update(values)
    if {"status", "phase"} & set(values):
        try:
            stored["state"] = state_of(stored["status"], stored["phase"])
        except ValueError:
            stored["state"] = None
    return make_row(**stored)


def before(edge: Edge, request_id: int, **values: Any) -> Edge:
    """The edge, had this request been different before it."""
    rows = tuple(changed(r, **values) if r.request_id == request_id else r for r in edge.before)
    return replace(edge, before=rows)


def after(edge: Edge, request_id: int, **values: Any) -> Edge:
    """The edge, had this request come out of it differently."""
    rows = tuple(changed(r, **values) if r.request_id == request_id else r for r in edge.after)
    return replace(edge, after=rows)


def gone(edge: Edge, request_id: int) -> Edge:
    """The edge, had this request disappeared in it."""
    return replace(edge, after=tuple(r for r in edge.after if r.request_id != request_id))


def answered(edge: Edge, **values: Any) -> Edge:
    """The edge, had the scheduler answered this."""
    return replace(edge, answer=edge.answer._replace(**values))


def reported(edge: Edge, **values: Any) -> Edge:
    """The edge, had the step's report said this."""
    return answered(edge, event=tuple({**edge.event, **values}[key] for key in EVENT_KEYS))


def run_of(
    scheduler: type[Any],
    *actions: Action,
    policy: str = "fixed_priority",
    blocks: int = 3,
    drain: int | None = None,
) -> Run:
    """The run of these actions, and of `drain` steps more once arrivals stopped."""

    def start(config: Config) -> ChapterSubject:
        return ChapterSubject(from_class(scheduler), config)

    config = Config(policy, blocks)
    subject = start(config)
    answers = [subject.do(action) for action in actions]
    at_drain = None if drain is None else subject.observe()
    steps = [STEP] * (drain or 0)
    answers += [subject.do(step) for step in steps]
    taken = (*actions, *steps)
    return Run(start, config, taken, tuple(answers), subject.observe(), at_drain, len(steps))


def told(claim: Claim, about: Edge | Run) -> tuple[bool, list[Breach]]:
    """Whether the claim was exercised, and how it was broken."""
    if isinstance(about, Run):
        answer = claim.predicate(about)
        assert answer in (None, True) or isinstance(answer, Breach)
        return answer is not None, [answer] if isinstance(answer, Breach) else []
    judgement = Judge([claim]).ask(about)
    return judgement.exercised == 1, [breach for _, breach in judgement.broken]


def texts_of_breaches() -> set[str]:
    """Every text by which a claim tells a breach, read off the sources of the claims.

    They stand there in full: as the first argument of a `Breach`, or with a dot in them.
    """
    found: set[str] = set()
    for folder in schedproof.claims.__path__:
        for path in Path(folder).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "Breach":
                    found.update(t for part in ast.walk(node.args[0]) for t in _texts(part))
                found.update(text for text in _texts(node) if "." in text)
    return found


def _texts(node: ast.AST) -> list[str]:
    named = isinstance(node, ast.Constant) and isinstance(node.value, str)
    text = ast.literal_eval(node) if named else ""
    return [text] if text.partition(".")[0] in BY_ID else []
