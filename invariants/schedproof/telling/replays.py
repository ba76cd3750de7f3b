"""What became of traces that were taken again: one in full, or many in a table.

Rules.
1. The first line says it all: still broken, broken otherwise, fixed, no longer fits, error.
2. Whether the source was edited since is told wherever it is known.
3. A trace that is broken is told as a story, like any other violation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedproof.search.results import ClaimResult, ClaimVerdict, RunResult, Trouble
from schedproof.telling.bounds import DOT
from schedproof.telling.layout import table, wrap
from schedproof.telling.messages import Say, join, tell
from schedproof.telling.story import story_of
from schedproof.telling.text import BAD, FAINT, GOOD, Line, story_lines
from schedproof.telling.trouble import trouble_lines
from schedproof.traces.reduce import Minimised
from schedproof.traces.replay import STATUSES, Replayed
from schedproof.traces.taken import FAILED, FIXED, OTHERWISE, STILL, UNFIT

_MARKS = {FIXED: "✓", UNFIT: "–"}
_STYLES = {FIXED: GOOD, UNFIT: FAINT}


def replay_lines(each: Replayed, language: str, width: int = 80) -> list[Line]:
    """One trace in full."""
    say = tell(language)
    taken = each.taken
    mark, style = _MARKS.get(taken.status, "✗"), _STYLES.get(taken.status, BAD)
    lines = [Line(part, style) for part in wrap(f"{mark} {_headline(say, each)}", width, "  ", "")]
    if taken.reason:
        lines += [Line(part) for part in wrap(say(taken.reason, **taken.values), width, "  ")]
    lines += [Line(part, FAINT) for part in wrap(_subject(say, each), width, "  ")]
    if taken.status == FIXED:
        text = say("replay.check_again", subject=each.trace.subject)
        lines += [Line(part) for part in wrap(text, width, "  ")]
    if taken.example is not None:
        lines += [Line(""), *story_lines(story_of(taken.example, language, _run(each)), width)]
    if taken.trouble is not None:
        lines += [Line(""), *_trouble(say, each, taken.trouble, width)]
    return lines


def _headline(say: Say, each: Replayed) -> str:
    taken, example = each.taken, each.taken.example
    values = {"trace": each.name, "claim": each.trace.claim}
    if each.trace.claim is None and each.trace.trouble is None:
        return _of_another_tool(say, each)
    if taken.status == STILL:
        if example is None:
            return say("replay.still_failing", **values)
        kind = "replay.still_broken" if example.before is not None else "replay.still_broken.run"
        return say(kind, action=example.length, of=each.trace.length, **values)
    if taken.status == OTHERWISE and example is not None:
        return say("replay.broken_otherwise", other=example.claim, action=example.length, **values)
    if taken.status == FIXED:
        return say("replay.fixed", actions=each.trace.length, **values)
    return say(f"replay.{FAILED if taken.status == FAILED else UNFIT}", **values)


def _of_another_tool(say: Say, each: Replayed) -> str:
    """What became of a trace that names no claim."""
    taken, example = each.taken, each.taken.example
    if example is not None:
        return say("replay.breaks", trace=each.name, claim=example.claim, action=example.length)
    if taken.status == FIXED:
        return say("replay.breaks_nothing", trace=each.name, actions=each.trace.length)
    return say(f"replay.{FAILED if taken.status == FAILED else UNFIT}", trace=each.name)


def _subject(say: Say, each: Replayed) -> str:
    config = each.trace.config
    subject = each.trace.factory or each.trace.subject
    told = say("replay.subject", subject=subject, policy=config.policy, blocks=config.blocks)
    return DOT.join(part for part in (told, _edited(say, each)) if part)


def _edited(say: Say, each: Replayed) -> str:
    if each.edited is None:
        return ""
    return say("replay.edited" if each.edited else "replay.unedited")


def _run(each: Replayed) -> RunResult | None:
    """The bounds within which the trace was found, as a story tells them; None if not known."""
    if not each.trace.provenance.bounds:
        return None
    policy, bounds = each.trace.config.policy, each.trace.provenance.bounds
    held = ClaimVerdict.NO_VIOLATION_FOUND.value
    claims = tuple(ClaimResult(claim, held, 1) for claim in each.taken.judged)
    blank = RunResult.blank(policy, each.trace.provenance.found_by, bounds)
    return replace(blank, claims=claims)


def _trouble(say: Say, each: Replayed, trouble: Trouble, width: int) -> list[Line]:
    return trouble_lines(say, each.trace.config.policy, trouble, width)


def replays_table(replayed: Sequence[Replayed], language: str) -> str:
    """All traces, one a line, and how many of each status there are."""
    say = tell(language)
    rows = [
        [
            f"{_MARKS.get(each.taken.status, '✗')} {each.name}",
            say(f"replay.status.{each.taken.status}"),
            each.trace.config.policy,
            each.trace.factory or each.trace.subject,
            say("replay.edited.short") if each.edited else "",
        ]
        for each in replayed
    ]
    counts = [(s, sum(each.taken.status == s for each in replayed)) for s in STATUSES]
    told = [
        say("replay.count.part", count=count, status=say(f"replay.status.{status}"))
        for status, count in counts
        if count
    ]
    total = say("replay.count", traces=len(replayed), counts=join(say, "comma", told))
    return "\n".join([*table(rows), "", total])


def minimised_lines(made: Minimised, language: str, width: int = 80) -> list[Line]:
    """What became of a trace that was to be made smaller."""
    say = tell(language)
    example = made.example
    if example is None:
        taken = made.taken
        if taken is not None and taken.status != STILL:
            return replay_lines(Replayed(made.kept.name, made.kept.trace, taken), language, width)
        return [Line(say("minimize.no_edge", trace=made.kept.name))]
    shortest = say("story.shortest" if example.shortest else "story.not_shortest")
    values = {"trace": made.kept.name, "shortest": shortest}
    if made.now is None or made.now == made.kept:
        told = say("minimize.already", length=example.length, **values)
    else:
        before, now = made.kept.trace.length, made.now.name
        kind = "minimize.smaller" if example.length < before else "minimize.plainer"
        told = say(kind, before=before, after=example.length, now=now, **values)
    lines = [Line(part, GOOD) for part in wrap(told, width, "  ", "")]
    story = story_of(example, language, made.run)
    return [*lines, Line(""), *story_lines(story, width)]
