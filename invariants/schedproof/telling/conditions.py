"""What matters about a trace and what does not, from one field changed at a time.

Rules.
1. Where the last step preempted somebody, the parties are compared with each other: who
   outranks whom, and what does not fit together. Everything else is told field by field,
   with the bound that was found.
2. A field that does not matter for any request is told once, for all of them.
3. The policies stand where they belong: among what matters if some of them do not show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schedproof.search.evidence import Evidence, Varied
from schedproof.search.results import Counterexample
from schedproof.telling.books import TOLD_BY_BOOKS
from schedproof.telling.messages import Say, join
from schedproof.telling.ranks import ages, rank

_FLAGS = {
    ("preemptible", True): "matter.preemptible",
    ("preemptible", False): "matter.not_preemptible",
    ("cache_hit", True): "matter.cache_hit",
    ("cache_hit", False): "matter.no_cache_hit",
    ("deadline_step", None): "matter.no_deadline",
}
_BOUNDS = {
    (False, True): "matter.at_least",
    (True, False): "matter.at_most",
    (False, False): "matter.exactly",
}
_WHETHER = frozenset({"preemptible", "cache_hit"})
Told = set[tuple[int, str]]


@dataclass(frozen=True)
class Conditions:
    """What matters, what does not, each as one text; "" where nothing is known."""

    matters: str = ""
    irrelevant: str = ""


def conditions_of(say: Say, example: Counterexample) -> Conditions:
    """Both texts of a counterexample."""
    evidence = example.evidence
    if evidence is None or not evidence.varied:
        return Conditions()
    matters = [*_relations(say, example, evidence)]
    under, not_under = _policies(evidence)
    if not_under:
        names = {"breaks": join(say, "names", under), "holds": join(say, "names", not_under)}
        matters.append(say("matter.policies", **names))
    irrelevant = [*_irrelevant(say, evidence.varied)]
    if len(under) > 1 and not not_under:
        irrelevant.append(say("idle.policies", count=len(under)))
    return Conditions(_sentence(say, matters or [say("matter.order_only")]), _row(say, irrelevant))


def _sentence(say: Say, parts: list[str]) -> str:
    return say("list.end", text=join(say, "semicolon", parts))


def _row(say: Say, parts: list[str]) -> str:
    return say("list.end", text=join(say, "comma", parts)) if parts else ""


def _policies(evidence: Evidence) -> tuple[list[str], list[str]]:
    """The policies under which the claim breaks, and those under which it does not."""
    under = [name for name, breaks in evidence.policies if breaks]
    return under, [name for name, breaks in evidence.policies if not breaks]


def _relations(say: Say, example: Counterexample, evidence: Evidence) -> Iterator[str]:
    matter = {(v.request, v.name): v for v in evidence.varied if v.matters}
    told: Told = set()
    parties = _parties(example)
    if parties is not None:
        yield from _between(say, example, *parties, matter, told)
    else:
        yield from _ranks(say, matter, told)
    for key, varied in matter.items():
        if key not in told:
            yield _alone(say, varied)


def _parties(example: Counterexample) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The victim and the challenger of the last step, as they were before it."""
    step = example.trail[-1]
    if example.before is None or not step.preempted or step.served is None:
        return None
    known = example.before.requests
    victim, challenger = known.get(str(step.preempted[0])), known.get(str(step.served))
    return None if victim is None or challenger is None else (victim, challenger)


Matter = Mapping[tuple[int, str], Varied]


def _between(
    say: Say,
    example: Counterexample,
    victim: dict[str, Any],
    challenger: dict[str, Any],
    matter: Matter,
    told: Told,
) -> Iterator[str]:
    """What matters between the two parties of a preemption."""
    ids = (victim["request_id"], challenger["request_id"])
    if _takes(matter, told, ids, "priority"):
        kind = "effective" if ages(example) else "outranks"
        yield _rank(say, kind, rank(victim, example), rank(challenger, example), *ids)
    held, needs = victim["held_blocks"], challenger["required_blocks"]
    if example.claim in TOLD_BY_BOOKS and _cancels_out(matter, ids, held, needs):
        _takes(matter, told, ids, "required_blocks")
        yield say("matter.different", victim=held, challenger=needs)
    elif held + needs > example.blocks and _takes(matter, told, ids, "required_blocks"):
        yield say("matter.together", first=held, second=needs, capacity=example.blocks)
    generated = victim["generated_len"]
    lost = example.text == "PROGRESS-2" and (ids[0], "generated_len") in example.guilty
    if lost and generated > 0:
        told.add((ids[0], "max_new_tokens"))
        left = victim["max_new_tokens"] - generated
        kind = "matter.has_token" if generated == left == 1 else "matter.has_tokens"
        yield say(kind, request=ids[0], generated=generated, left=left)


def _takes(matter: Matter, told: Told, ids: tuple[int, int], name: str) -> bool:
    """Whether a field matters for either; then it counts as told for both."""
    found = [(i, name) for i in ids if (i, name) in matter]
    told.update(found)
    return bool(found)


def _cancels_out(matter: Matter, ids: tuple[int, int], held: int, needs: int) -> bool:
    """Whether the claim holds once both parties have the same number of blocks."""
    if abs(held - needs) != 1:
        return False
    victim, challenger = (matter.get((i, "required_blocks")) for i in ids)
    up, down = (victim, challenger) if held < needs else (challenger, victim)
    return (up is not None and up.high is False) or (down is not None and down.low is False)


def _rank(say: Say, kind: str, first_value: int, second_value: int, first: int, second: int) -> str:
    if first_value == second_value:
        return say("matter.same_rank", first=first, second=second)
    high, low = (first, second) if first_value > second_value else (second, first)
    return say(f"matter.{kind}", high=high, low=low)


def _ranks(say: Say, matter: Matter, told: Told) -> Iterator[str]:
    """Two requests whose priorities both matter are compared with each other."""
    ranked = [varied for (_, name), varied in matter.items() if name == "priority"]
    if len(ranked) == 2:
        told.update((varied.request, "priority") for varied in ranked)
        one, other = ranked
        yield _rank(say, "outranks", one.value, other.value, one.request, other.request)


def _alone(say: Say, varied: Varied) -> str:
    values = {"request": varied.request, "value": varied.value}
    if (varied.name, varied.value) in _FLAGS and type(varied.value) is not int:
        return say(_FLAGS[varied.name, varied.value], **values)
    bound = _BOUNDS.get((varied.low is not False, varied.high is not False), "matter.is")
    if bound != "matter.is" and not varied.steady:
        bound = "matter.is"
    elif bound == "matter.is" and not varied.far_low and varied.far_high:
        bound = "matter.large_enough"
    elif bound == "matter.is" and varied.far_low and not varied.far_high:
        bound = "matter.small_enough"
    elif varied.low is None or varied.high is None:
        bound = "matter.is"
    return say(bound, field=say(f"vary.{varied.name}"), **values)


def _irrelevant(say: Say, varied: tuple[Varied, ...]) -> Iterator[str]:
    """Fields that matter for nobody, then those that matter only for others."""
    names = dict.fromkeys(each.name for each in varied)
    matter = {each.name for each in varied if each.matters}
    yield from (say(f"vary.{name}") for name in names if name not in matter)
    for each in varied:
        if each.name in matter and not each.matters:
            kind = f"idle.{each.name}" if each.name in _WHETHER else "idle.of"
            yield say(kind, request=each.request, field=say(f"vary.{each.name}"))
