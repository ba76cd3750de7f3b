"""The claims over all runs in a few lines: what was exercised, what was not, what is noted.

Rules. A claim that no run exercised is named, because silence about it means nothing; one
that only some policies did not exercise is named with these policies. Claims that are not
applicable under any policy are named too; those about another kind of scheduler are only
counted. Runs that ended in trouble or at a violation name none: they did
not get far enough for that to mean anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schedproof.claims.catalogue import BY_ID
from schedproof.search.results import OTHER_POLICY, ClaimVerdict, RunResult, Verdict
from schedproof.subjects.contract import OF_BATCHES, OF_ENGINES
from schedproof.telling.bounds import grouped
from schedproof.telling.layout import wrap
from schedproof.telling.messages import Say, join
from schedproof.telling.text import BAD, FAINT, GOOD, Line

IN_BATCHES = {"PREEMPTION": "EVICTION", "RESUME": "RECOMPUTE"}
"""What a preemption and a resume are called where batches are scheduled."""
_NOT_JUDGED = frozenset((ClaimVerdict.NOT_EXERCISED.value, ClaimVerdict.NOT_APPLICABLE.value))
_REACH = frozenset((ClaimVerdict.REACHED.value, ClaimVerdict.NOT_REACHED.value))


def exercised_of(runs: Iterable[RunResult], name: str) -> int:
    """How often something was reached: PREEMPTION, RESUME, MISS, …"""
    ids = (f"REACH-{name}", f"REACH-{IN_BATCHES.get(name, name)}")
    return sum(c.exercised for run in runs for c in run.claims if c.id in ids)


def claim_lines(say: Say, runs: Sequence[RunResult], width: int) -> list[Line]:
    """What is known of the claims: first what was judged, then what was not."""
    runs = [run for run in runs if run.claims]
    if not runs:
        return []
    lines = [_judged(say, runs)]
    counts = {
        name: grouped(exercised_of(runs, reach))
        for name, reach in (
            ("preemptions", "PREEMPTION"),
            ("resumes", "RESUME"),
            ("misses", "MISS"),
        )
    }
    lines.append(Line(say("how.exercised", **counts)))
    broke = Verdict.VIOLATED.value
    to_the_end = [run for run in runs if run.trouble is None and run.verdict != broke]
    for verdict in ("not_exercised", "not_reached"):
        lines += _named(say, to_the_end, verdict, width)
    if any(run.verdict == broke for run in runs):
        lines += [Line(line) for line in wrap(say("report.ended_early"), width, "  ", "")]
    return lines + _never_applicable(say, runs, width)


def note_lines(say: Say, runs: Sequence[RunResult], width: int) -> list[Line]:
    """What the runs noted, each note once."""
    notes = [
        (message, values)
        for run in runs
        for message, values in run.notes
        if values.get("actions") != 0  # that nothing breaks without an action says nothing
    ]
    told = dict.fromkeys(say(message, **values) for message, values in notes)
    stopped = {
        join(say, "colon", [run.policy, _stopped(say, run.stopped_by)])
        for run in runs
        if run.stopped_by
    }
    texts = [*told, *sorted(stopped)]
    return [Line(line, FAINT) for text in texts for line in wrap(text, width, "  ", "")]


def _stopped(say: Say, reason: str) -> str:
    known = ("time", "memory", "interrupt", "cap", OTHER_POLICY)
    return say(f"stopped.{reason}") if reason in known else say("stopped.other", reason=reason)


def _judged(say: Say, runs: Sequence[RunResult]) -> Line:
    """How many claims were exercised, and which of them are broken."""
    results = [claim for run in runs for claim in run.claims]
    skipped = _NOT_JUDGED | _REACH
    judged = dict.fromkeys(c.id for c in results if c.exercised and c.verdict not in skipped)
    violated = ClaimVerdict.VIOLATED.value
    broken = list(dict.fromkeys(c.id for c in results if c.verdict == violated))
    if broken:
        names = join(say, "names", broken)
        return Line(say("report.broken", judged=len({*judged, *broken}), broken=names), BAD)
    if not judged:
        return Line(say("report.nothing_exercised"), BAD)
    return Line(say("report.clean", judged=len(judged)), GOOD)


def _named(say: Say, runs: Sequence[RunResult], verdict: str, width: int) -> list[Line]:
    """The claims with this verdict; apart from the rest those that have it in some runs only."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for claim, policies in _policies(runs, verdict).items():
        everywhere = len(policies) == _times_applied(runs, claim)
        groups.setdefault(() if everywhere else tuple(policies), []).append(claim)
    lines: list[Line] = []
    for where, claims in sorted(groups.items()):
        kind = f"report.{verdict}.under" if where else f"report.{verdict}"
        names = join(say, "names", claims)
        text = say(kind, policies=join(say, "names", list(where)), claims=names)
        lines += [Line(line) for line in wrap(text, width, "  ", "")]
    return lines


def _policies(runs: Sequence[RunResult], verdict: str) -> dict[str, list[str]]:
    """For each claim with this verdict the policies under which it has it."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for claim in run.claims:
            if claim.verdict == verdict:
                found.setdefault(claim.id, []).append(run.policy)
    return found


def _times_applied(runs: Sequence[RunResult], claim_id: str) -> int:
    results = [claim for run in runs for claim in run.claims if claim.id == claim_id]
    return sum(claim.verdict != ClaimVerdict.NOT_APPLICABLE.value for claim in results)


def _never_applicable(say: Say, runs: Sequence[RunResult], width: int) -> list[Line]:
    searched = [run for run in runs if run.verdict != Verdict.NOT_APPLICABLE.value]
    where = _policies(searched, ClaimVerdict.NOT_APPLICABLE.value)
    names = [claim for claim, policies in where.items() if len(policies) == len(searched)]
    if not names:
        return []
    foreign = _of_other_kinds(searched, names)
    named = join(say, "names", [name for name in names if name not in foreign])
    kind = "report.not_applicable"
    if foreign:
        kind += ".others" if named else ".only_others"
    text = say(kind, claims=named, others=len(foreign))
    return [Line(line, FAINT) for line in wrap(text, width, "  ", "")]


def _of_other_kinds(runs: Sequence[RunResult], names: Sequence[str]) -> set[str]:
    """The claims among these that need what only another kind of scheduler has.

    A scheduler to which one such claim applies is of that kind: what it lacks is worth a name.
    """
    foreign: set[str] = set()
    for kind in (OF_BATCHES, OF_ENGINES):
        asked = {c.id for run in runs for c in run.claims}
        of_kind = {name for name in asked if name in BY_ID and BY_ID[name].needs & kind}
        if of_kind <= set(names):
            foreign |= of_kind
    return foreign
