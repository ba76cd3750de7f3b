"""The faults as they are read: a list of all, a page for each, and the table of a hunt.

Rules. Title, story and report come from the catalogue under the fault's name; the change is
the difference between two texts, so what is shown is what is hunted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from schedproof.telling.layout import table, wrap
from schedproof.telling.messages import Say, has_text, join, tell
from schedproof.telling.story import title_of
from schedproof.telling.text import labelled
from schedproof.zoo.faults import BATCH, CHAPTER, Fault, Kill, change
from schedproof.zoo.hunted import Fate, Hunted

SCHEMA, SCHEMA_VERSION = "schedproof/hunt", 1


def faults_table(faults: Sequence[Fault], language: str, width: int = 80) -> str:
    """All faults by family, with what catches each and by how many actions."""
    say = tell(language)
    head = [say(f"table.{name}") for name in ("fault", "caught_by", "length")]
    rows = [head, *([f.name, f.claim, _length(f.length)] for f in faults)]
    first, *columns = table(rows, right=(2,))
    lines = [first]
    for family in dict.fromkeys(fault.family for fault in faults):
        lines += ["", f"{family} · {say(f'family.{family}')}"]
        for fault, column in zip(faults, columns, strict=True):
            if fault.family == family:
                title = say(f"fault.{fault.name}.title")
                lines += [column, *wrap(title, width, "    ")]
    return "\n".join([*lines, "", *wrap(say("fault.count", count=len(faults)), width)])


def fault_page(fault: Fault, language: str, width: int = 80) -> str:
    """One fault on one screen: its story, what catches it, and the change."""
    say = tell(language)
    lines = [f"{fault.name}  {say(f'fault.{fault.name}.title')}", ""]
    lines += [*wrap(say(f"fault.{fault.name}.story"), width, "  "), ""]
    lines += [line.text for line in labelled(_facts(say, fault), width)]
    lines += ["", *("  " + line for line in change(fault)), ""]
    hints = {CHAPTER: "fault.try", BATCH: "fault.try.batch"}
    hint = hints.get(fault.level, "fault.try.paged")
    return "\n".join([*lines, *wrap(say(hint, name=fault.name), width)])


def _facts(say: Say, fault: Fault) -> list[tuple[str, str]]:
    pairs = [(say("fault.caught_by"), _caught(say, fault.kill(fault.policies[0])))]
    for policy, kill in fault.otherwise.items():
        pairs.append((say("fault.under", policy=policy), _caught(say, kill)))
    pairs.append((say("page.policies"), join(say, "comma", list(fault.policies))))
    if fault.report:
        told = say(f"fault.{fault.name}.report")
        pairs.append((say("fault.report"), join(say, "colon", [fault.report, told])))
    if fault.passes_chapter:
        pairs.append((say("fault.chapter"), say("fault.passes_chapter")))
    return pairs


def _caught(say: Say, kill: Kill) -> str:
    """What catches a fault, with its title, and the number of actions."""
    title = title_of(say, kill.claim) if has_text(f"claim.{kill.claim}.title") else ""
    named = f"{kill.claim}  {title}".rstrip()
    if kill.length is None:
        return join(say, "semicolon", [named, say("fault.whole_runs")])
    return join(say, "semicolon", [named, say("fault.length", count=kill.length)])


def hunt_table(hunted: Sequence[Hunted], seconds: float, language: str, width: int = 80) -> str:
    """What became of each fault, what went otherwise than it should, and the sum."""
    say = tell(language)
    names = ("", "fault", "policy", "caught_by", "length", "seconds")
    rows = [[say(f"table.{name}") if name else "" for name in names]]
    rows += [_row(one) for one in hunted]
    lines = table(rows, right=(4, 5))
    odd = [one for one in hunted if one.fate is not Fate.KILLED]
    for one in odd:
        lines += ["", *wrap(_told(say, one), width, "  ", "✗ ")]
    mark, killed = "✗" if odd else "✓", len(hunted) - len(odd)
    total = say("hunt.total", mark=mark, killed=killed, of=len(hunted), seconds=f"{seconds:.1f}")
    return "\n".join([*lines, "", *wrap(total, width)])


def _row(one: Hunted) -> list[str]:
    mark = "✓" if one.fate is Fate.KILLED else "✗"
    found = [one.claim or "–", _length(one.length), f"{one.seconds:.1f}"]
    return [mark, one.fault, one.policy, *found]


def _told(say: Say, one: Hunted) -> str:
    """One fault whose fate is not as it should be."""
    return say(
        f"hunt.{one.fate}",
        fault=one.fault,
        policy=one.policy,
        expected=one.expected.claim,
        length=_length(one.expected.length),
        claim=one.claim or "–",
        got=_length(one.length),
        verdict=say(f"verdict.{one.verdict}"),
    )


def _length(length: int | None) -> str:
    return "–" if length is None else str(length)


def hunt_document(hunted: Iterable[Hunted], version: str) -> dict[str, Any]:
    """A hunt as one JSON document."""
    runs = [one.to_json() for one in hunted]
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "schedproof_version": version,
        "killed": sum(run["fate"] == Fate.KILLED.value for run in runs),
        "hunted": len(runs),
        "runs": runs,
    }


def hunt_schema() -> dict[str, Any]:
    """The JSON Schema of that document."""
    resource = files("schedproof.telling") / "schema" / "hunt.schema.json"
    schema: dict[str, Any] = json.loads(resource.read_text(encoding="utf-8"))
    return schema
