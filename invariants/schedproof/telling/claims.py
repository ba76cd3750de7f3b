"""The claims as they are read: a table of all, and one page for each.

Rules. Everything shown comes from the claim itself or from the catalogue under its id, so
a claim cannot be listed without having been explained.
"""

from __future__ import annotations

from schedproof.claims.catalogue import CLAIMS
from schedproof.claims.claim import Claim
from schedproof.telling.layout import table, width_of, wrap
from schedproof.telling.messages import join, tell
from schedproof.telling.story import title_of
from schedproof.telling.text import labelled


def claims_table(language: str, width: int = 80) -> str:
    """All claims, one a line, and how to read on."""
    say = tell(language)
    head = [say(f"table.{name}") for name in ("id", "kind", "title")]
    rows = [[claim.id, say(f"kind.{claim.kind}"), title_of(say, claim.id)] for claim in CLAIMS]
    columns = [max(width_of(row[column]) for row in [head, *rows]) for column in (0, 1)]
    left = sum(columns) + 4
    lines: list[str] = []
    left_parts = table([[*row[:2], ""] for row in [head, *rows]])
    for row, text in zip([head, *rows], left_parts, strict=True):
        first = text + " " * (left - width_of(text))
        lines += wrap(row[2], width, " " * left, first)
    return "\n".join([*lines, "", *wrap(say("page.count", count=len(CLAIMS)), width)])


def claim_page(claim: Claim, language: str, width: int = 80) -> str:
    """One claim in full: what it says, why it matters, what it leaves out."""
    say = tell(language)
    pairs = [(say("page.says"), say(f"claim.{claim.id}.sentence"))]
    pairs += [(say(f"page.{n}"), say(f"claim.{claim.id}.{n}")) for n in ("why", "leaves_out")]
    pairs.append((say("page.rule"), say(f"claim.{claim.id}.rule")))
    kind = join(say, "colon", [say(f"kind.{claim.kind}"), say(f"kind.{claim.kind}.means")])
    pairs += [(say("page.kind"), kind), (say("page.scope"), say(f"scope.{claim.scope}"))]
    if claim.policies is not None:
        pairs.append((say("page.policies"), join(say, "comma", sorted(claim.policies))))
    needed = sorted(say(f"feature.{feature}") for feature in claim.needs)
    pairs.append((say("page.needs"), join(say, "semicolon", needed)))
    pairs.append((say("page.source"), claim.source))
    lines = [f"{claim.id}  {title_of(say, claim.id)}", ""]
    return "\n".join(lines + [line.text for line in labelled(pairs, width)])
