"""What to type next: the three commands that help most after a violation.

Rules. They are real commands, with the ids of traces that were really kept. Which of several
violations they name does not matter much: it is the first, whose story stands first.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedproof.telling.layout import wrap
from schedproof.telling.messages import tell
from schedproof.telling.report import Summary
from schedproof.telling.text import HEADING, Line, labelled


def next_lines(summary: Summary, language: str, width: int = 80) -> list[Line]:
    """The commands with what they are for; none where nothing was found."""
    say = tell(language)
    kept = list(dict.fromkeys(_kept(summary)))
    claims = dict.fromkeys(e.claim for run in summary.runs for e in run.counterexamples)
    pairs: list[tuple[str, str]] = []
    if kept:
        pairs.append((f"schedproof replay {kept[0]}", say("command.replay")))
        pairs.append((f"schedproof explain {kept[0]}", say("command.explain")))
    own = {claim for run in summary.runs for claim in run.own_claims}
    for claim in [claim for claim in claims if claim not in own][:1]:
        pairs.append((f"schedproof claims show {claim}", say("command.claims_show")))
    if not pairs:
        return []
    lines = [Line(say("report.next"), HEADING), *labelled(pairs, width)]
    if kept:
        text = say("report.kept", traces=len(kept))
        lines = [*(Line(part) for part in wrap(text, width)), *lines]
    return lines


def _kept(summary: Summary) -> Iterator[str]:
    for run in summary.runs:
        yield from (example.kept_as for example in run.counterexamples if example.kept_as)
        if run.trouble is not None and run.trouble.kept_as:
            yield run.trouble.kept_as
