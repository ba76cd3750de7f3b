"""The tables of `docs/faults.md`: the zoo, the kill matrix, and two searches side by side.

Rules. What stands in a table comes from the faults themselves, from the catalogue, or from
figures that a command in `tests/zoo` has written and a test compares.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docs.markdown import markdown_table

from schedproof.claims.catalogue import CLAIMS
from schedproof.telling.messages import tell
from schedproof.zoo.all_faults import BY_NAME
from schedproof.zoo.batch_faults import BATCH_FAULTS
from schedproof.zoo.chapter_faults import CHAPTER_FAULTS
from schedproof.zoo.faults import BATCH, CHAPTER, PAGED, Fault
from schedproof.zoo.paged_faults import PAGED_FAULTS

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "zoo"
RAISED = "raised"


MANIFESTS = {
    CHAPTER: "manifest.json",
    BATCH: "batch_manifest.json",
    PAGED: "paged_manifest.json",
}
LEVELS = {CHAPTER: CHAPTER_FAULTS, BATCH: BATCH_FAULTS, PAGED: PAGED_FAULTS}


def kills(level: str = CHAPTER) -> list[dict[str, Any]]:
    """The entries of a manifest."""
    read = json.loads((FOLDER / MANIFESTS[level]).read_text("utf-8"))
    records: list[dict[str, Any]] = read["kills"]
    return records


def figures() -> dict[str, Any]:
    """What the random search was measured to find."""
    read: dict[str, Any] = json.loads((FOLDER / "random_search.json").read_text("utf-8"))
    return read


def faults(lang: str, level: str = CHAPTER) -> str:
    """Every fault by family: what it is, what catches it, and where it was reported."""
    say = tell(lang)
    parts: list[str] = []
    shown = [place for place in range(6) if level == CHAPTER or place != OF_THE_CHAPTER]
    for family in dict.fromkeys(fault.family for fault in LEVELS[level]):
        rows = [_fault_row(fault, lang) for fault in LEVELS[level] if fault.family == family]
        title = f"### {family}\n\n{say(f'family.{family}').capitalize()}{STOP[lang]}"
        head, *cells = ([row[i] for i in shown] for row in (FAULT_HEAD[lang], *rows))
        parts.append(f"{title}\n\n{markdown_table(head, cells, right=(3,))}")
    return "\n\n".join(parts)


FAULT_HEAD = {
    "en": ("fault", "what goes wrong", "told first", "actions", "chapter", "report"),
    "zh": ("缺陷", "错在哪里", "最先指出", "动作数", "本章测试", "报告"),
}
OF_THE_CHAPTER = 4
STOP = {"en": ".", "zh": "。"}


def _fault_row(fault: Fault, lang: str) -> tuple[str, ...]:
    lengths = {fault.kill(policy).length for policy in fault.policies}
    told = ", ".join(str(n) for n in sorted(n for n in lengths if n is not None)) or "–"
    passes = {"en": "passes", "zh": "通过"}[lang] if fault.passes_chapter else ""
    link = f"[{fault.report}]({_address(fault.report)})" if fault.report else ""
    title = tell(lang)(f"fault.{fault.name}.title")
    return f"`{fault.name}`", title, fault.claim, told, passes, link


def _address(report: str) -> str:
    repository, _, number = report.partition("#")
    return f"https://github.com/{repository}/issues/{number}"


def passing(lang: str) -> str:
    """How many faults pass the tests of the chapter."""
    count = sum(fault.passes_chapter for fault in CHAPTER_FAULTS)
    return PASSING[lang].format(count, len(CHAPTER_FAULTS))


PASSING = {
    "en": "{} of the {} faults pass all nine tests of the chapter.",
    "zh": "{1} 个缺陷中，有 {0} 个能通过本章的全部九个测试。",
}


def matrix(level: str = CHAPTER) -> str:
    """Faults by claims: ● is told first, ○ is broken by the same action."""
    first = {(fault.name, fault.policies[0]) for fault in LEVELS[level]}
    rows = [record for record in kills(level) if (record["fault"], record["policy"]) in first]
    broken = {claim for record in rows for claim in (record["claim"], *record["also_broken"])}
    columns = [*(claim.id for claim in CLAIMS if claim.id in broken), RAISED]
    cells = [(f"`{r['fault']}`", *(_mark(r, claim) for claim in columns)) for r in rows]
    sums = [str(sum(r["claim"] == claim for r in rows)) for claim in columns]
    return markdown_table(("", *columns), [*cells, ("●", *sums)])


def _mark(record: dict[str, Any], claim: str) -> str:
    if claim == record["claim"]:
        return "●"
    return "○" if claim in record["also_broken"] else ""


def machine(lang: str, level: str = CHAPTER) -> str:
    """The faults that random runs miss, or tell by more actions than there must be."""
    seeds = figures()["seeds"]
    names = {fault.name for fault in LEVELS[level]}
    rows = [_compared(record) for record in figures()["faults"] if record["fault"] in names]
    rows.sort(key=lambda row: row[1])
    cells = [
        (f"`{row[0]}`", f"{row[1]} / {seeds}", *row[2:]) for row in rows if _differs(row, seeds)
    ]
    summary = _summary(lang, rows, seeds, bool(cells))
    table = markdown_table(MACHINE_HEAD[lang], cells, right=(1, 2, 3, 4))
    return f"{summary}\n\n{table}" if cells else summary


MACHINE_HEAD = {
    "en": ("fault", "found", "least", "median", "exhaustive"),
    "zh": ("缺陷", "找到", "最短", "中位数", "穷举"),
}


def _compared(record: dict[str, Any]) -> tuple[Any, ...]:
    """Name, found, least, median, and the proved least."""
    proved = BY_NAME[record["fault"]].kill(record["policy"]).length
    least, median = (_dash(record[name]) for name in ("least", "median"))
    return record["fault"], record["found"], least, median, _dash(proved)


def _dash(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _differs(row: tuple[Any, ...], seeds: int) -> bool:
    return bool(row[1] < seeds or row[3] != row[4])


def _summary(lang: str, rows: Sequence[tuple[Any, ...]], seeds: int, more: bool) -> str:
    never = sum(row[1] == 0 for row in rows)
    always = sum(row[1] == seeds for row in rows)
    as_short = sum(not _differs(row, seeds) for row in rows)
    said = SUMMARY[lang].format(
        total=len(rows), seeds=seeds, always=always, never=never, same=as_short
    )
    return said + REST[lang][more]


SUMMARY = {
    "en": "Of {total} faults random runs find {always} under every one of {seeds} seeds, "
    "{never} under none. {same} are found under every seed and, in the median, by as few "
    "actions as there can be",
    "zh": "{total} 个缺陷中，随机运行在 {seeds} 个种子下每次都能找到 {always} 个，"
    "一次也找不到的有 {never} 个。每次都找到、且中位数已经最短的有 {same} 个",
}
REST = {"en": (".", "; the others are these:"), "zh": ("。", "；其余如下：")}


MAKERS = (faults, passing, matrix, machine)
