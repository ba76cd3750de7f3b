"""A counterexample as a story: the same parts, in the same order, for every rendering.

Rules.
1. First the claim as a positive sentence and where it broke; then within what bounds; then
   what was right about the action; then what was wrong, with numbers that can be checked
   by hand; then what follows, how to get there, what it depends on and which line wrote it;
   then the rule to remember and the commands that go on.
2. An action is called right only where claims that judge it were judged and are not broken.
3. "No shorter trace" is said only where it was proved.
4. Of a request that waits for ever the way into the loop is told, and the loop once.
5. A story is data in one language. Who prints it adds layout, and no words but headings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from schedproof.search.results import ClaimVerdict, Counterexample, RunResult
from schedproof.telling.aftermath import follows_of
from schedproof.telling.batches import batch_setup
from schedproof.telling.books import Sum, books_of
from schedproof.telling.bounds import DOT, how_text, short_bounds
from schedproof.telling.columns import column_name, column_value
from schedproof.telling.conditions import conditions_of
from schedproof.telling.differences import Differences, differences_of
from schedproof.telling.messages import Say, has_text, join, tell
from schedproof.telling.ranks import ages, rank
from schedproof.telling.steps import StepLine, step_lines, verb, what_happened
from schedproof.telling.where import where_of

_VICTIM_CLAIMS = frozenset({"VICTIM-1", "VICTIM-2", "VICTIM-3", "VICTIM-4"})


@dataclass(frozen=True)
class Story:
    """What there is to tell about one counterexample, in one language.

    `wrong` is a list of paragraphs; `differences` and `books` are tables that stand below
    them; `also_broken` are (claim id, title) pairs; `setup` is where the steps begin, and
    `steps_end` what is said below them. `follows` are sentences on what comes of it, `matters`
    and `irrelevant` what it depends on and what not, `where` the lines of code that wrote what
    is wrong, `again` the commands that go on from here.
    """

    language: str
    claim: str
    title: str
    broken: str
    checked: tuple[str, ...]
    wrong: tuple[str, ...]
    differences: Differences | None
    books: tuple[Sum, ...]
    setup: str
    steps: tuple[StepLine, ...]
    steps_end: str
    also_broken: tuple[tuple[str, str], ...]
    why: str
    rule: str
    follows: tuple[str, ...] = ()
    matters: str = ""
    irrelevant: str = ""
    where: tuple[str, ...] = ()
    again: tuple[str, ...] = ()


AGAIN = ("schedproof replay {id}", "schedproof explain {id}")


def story_of(example: Counterexample, language: str, run: RunResult | None = None) -> Story:
    """The story of a counterexample; `run` is the search that found it, if it is known."""
    say = tell(language)
    on_edge = example.before is not None
    own = {} if run is None else run.own_claims
    conditions = conditions_of(say, example)
    return Story(
        language=language,
        claim=example.claim,
        title=title_of(say, example.claim, own),
        broken=_broken(say, example, on_edge),
        checked=_checked(say, example, run),
        wrong=_wrong(say, example, run),
        differences=differences_of(say, example),
        books=books_of(say, example),
        setup=_setup(say, example),
        steps=_steps(say, example, breaks=on_edge),
        steps_end=_steps_end(say, example),
        also_broken=tuple((claim, title_of(say, claim, own)) for claim in example.also_broken),
        why=_of_claim(say, example.claim, "why", own),
        rule=_of_claim(say, example.claim, "rule", own),
        follows=follows_of(say, example),
        matters=conditions.matters,
        irrelevant=conditions.irrelevant,
        where=where_of(say, example),
        again=again_of(example),
    )


def again_of(example: Counterexample) -> tuple[str, ...]:
    """The commands that go on from a trace that was kept."""
    if example.kept_as is None:
        return ()
    return tuple(command.replace("{id}", example.kept_as) for command in AGAIN)


OwnWords = Mapping[str, Mapping[str, str]]
"""What the authors of claims that are not ours say about them: texts by claim id and part."""


def title_of(say: Say, claim: str, own: OwnWords = MappingProxyType({})) -> str:
    """The headline of a claim; "" for one that nobody gave words to."""
    return _of_claim(say, claim, "title", own)


def breach_text(say: Say, example: Counterexample) -> str:
    """What is wrong, in one or two sentences."""
    return say(breach_id(example), **_told_values(say, example.values))


def breach_id(example: Counterexample) -> str:
    """The text of the catalogue that tells this breach best."""
    values = example.values
    if example.text == "PROGRESS-2" and values["fields"] == "generated_len":
        return "breach.PROGRESS-2.tokens"
    if example.text == "LEDGER-1" and values["sum"] > values["capacity"]:
        return "breach.LEDGER-1.too_many"
    if example.text == "ORDER-1" and values.get("column"):
        return "breach.ORDER-1.decided"
    return f"breach.{example.text}"


def _of_claim(say: Say, claim: str, part: str, own: OwnWords) -> str:
    if claim in own:
        return own[claim][part]
    text = f"claim.{claim}.{part}"
    return say(text) if has_text(text) else ""


def _told_values(say: Say, values: Mapping[str, Any]) -> dict[str, Any]:
    words = {"nobody": say("story.nobody"), "": say("story.nothing"), None: "–"}

    def told(value: Any) -> Any:
        if type(value) in (list,):  # narrowed by no type checker: it may hold anything
            return join(say, "names", [str(part) for part in value])
        return words.get(value, value) if isinstance(value, (str, type(None))) else value

    shown = {name: told(value) for name, value in values.items()}
    if values.get("column"):
        column = values["column"]
        shown["column"] = column_name(say, column)
        for name in ("first", "later"):
            shown[name] = column_value(say, column, values[name])
    return shown


def is_endless(example: Counterexample) -> bool:
    """Whether its actions end in a loop that can be repeated for ever."""
    return example.text in ("LIVE-2", "LIVE-2.idle")


def _steps(say: Say, example: Counterexample, breaks: bool) -> tuple[StepLine, ...]:
    """The numbered actions; of an endless loop one round, with a mark."""
    if not is_endless(example):
        return step_lines(say, example.actions, example.trail, breaks=breaks)
    stem, loop = example.values["stem"], example.values["loop"]
    lines = step_lines(say, example.actions[: stem + loop], example.trail)
    return (*lines[:stem], *(replace(line, again=True) for line in lines[stem:]))


def _steps_end(say: Say, example: Counterexample) -> str:
    """How the actions of an endless loop go on; "" for all other traces."""
    if not is_endless(example):
        return ""
    stem, loop = example.values["stem"], example.values["loop"]
    arrives = any(action["op"] == "enqueue" for action in example.actions[stem : stem + loop])
    return say("story.again" if arrives else "story.again_as_it_is")


def _broken(say: Say, example: Counterexample, on_edge: bool) -> str:
    if is_endless(example):
        return say(
            "story.broken_for_ever", stem=example.values["stem"], loop=example.values["loop"]
        )
    kind = "story.broken_at" if on_edge else "story.broken_after"
    return say(kind, action=example.length, of=example.length)


def _checked(say: Say, example: Counterexample, run: RunResult | None) -> tuple[str, ...]:
    shortest = say("story.shortest" if example.shortest else "story.not_shortest")
    if run is None:
        return (shortest,)
    bounds = say("story.checked", bounds=short_bounds(say, run))
    how = how_text(say, [run])
    return (bounds, DOT.join((how, shortest)) if how else shortest)


def _setup(say: Say, example: Counterexample) -> str:
    if example.limits is not None:
        return batch_setup(say, example)
    kind = "story.setup.aging" if ages(example) else "story.setup"
    return say(
        kind,
        policy=example.policy,
        blocks=example.blocks,
        aging_interval=example.aging_interval,
    )


def _wrong(say: Say, example: Counterexample, run: RunResult | None) -> tuple[str, ...]:
    right = _held_claims(example, run)
    context = "" if example.before is None else _context(say, example, right)
    return tuple(part for part in (context, breach_text(say, example)) if part)


def _held_claims(example: Counterexample, run: RunResult | None) -> frozenset[str]:
    """The claims that were judged on the breaking action and are not broken by it."""
    skipped = (ClaimVerdict.NOT_APPLICABLE.value, ClaimVerdict.NOT_EXERCISED.value)
    judged = () if run is None else (c.id for c in run.claims if c.verdict not in skipped)
    return frozenset(judged) - {example.claim, *example.also_broken}


def _context(say: Say, example: Counterexample, right: frozenset[str]) -> str:
    """What the breaking action did, and whether that was right."""
    action, step = example.actions[-1], example.trail[-1]
    values = {"action": example.length}
    if action["op"] == "enqueue":
        kind = "context.enqueue.refused" if step.refused else "context.enqueue"
        return say(kind, request=action["args"]["request_id"], **values)
    if action["op"] != "step":
        return say("context.other", what=verb(say, action), **values)
    preempted = _preempted(say, example) if step.preempted else ""
    if preempted:
        broken = {example.claim, *example.also_broken}
        allowed = right >= _VICTIM_CLAIMS and "VICTIM-6" not in broken
        return _and(say, preempted, "context.preempted.right", allowed)
    away = {i for earlier in example.trail[:-1] for i in earlier.preempted}
    told = say("context.step", what=what_happened(say, action, step, away), **values)
    served_right = step.served is not None and "ORDER-1" in right
    return _and(say, told, "context.step.right", served_right, request=step.served)


def _and(say: Say, told: str, more: str, when: bool, **values: Any) -> str:
    space = " " if told.isascii() or told.endswith(".") else ""
    return told + space + say(more, **values) if when else told


def _preempted(say: Say, example: Counterexample) -> str:
    """The preemption of the last step in one sentence; "" if its parties are not known."""
    step, before = example.trail[-1], example.before
    known = {} if before is None else before.requests
    victim, challenger = known.get(str(step.preempted[0])), known.get(str(step.served))
    if before is None or victim is None or challenger is None:
        return ""
    aging = ages(example)
    return say(
        _how_tight(challenger["required_blocks"], before.free),
        rank=say("rank.effective" if aging else "rank.priority"),
        challenger=step.served,
        challenger_rank=rank(challenger, example),
        victim=step.preempted[0],
        victim_rank=rank(victim, example),
        needs=challenger["required_blocks"],
        free=before.free,
        held=victim["held_blocks"],
    )


def _how_tight(needed: int, free: int) -> str:
    """Which of the sentences on a preemption fits."""
    if needed <= free:
        return "context.preempted.fits"
    return "context.preempted.none_free" if free <= 0 else "context.preempted"
