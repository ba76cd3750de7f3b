"""The table of what was found in public schedulers, from the record that a command writes.

Rules. `python -m tests.engines.field` writes the record; this only draws it. Of each code base two
findings are told in full: those with the fewest actions; the rest are named.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docs.markdown import markdown_table

FINDINGS = Path(__file__).resolve().parents[1] / "tests" / "engines" / "field" / "findings.json"
TOLD = 2
HEAD = {
    "en": ("code base", "version", "claim", "smallest input found", "what happens", "seconds"),
    "zh": ("代码库", "版本", "性质", "找到的最小输入", "发生了什么", "秒"),
}
NOTHING = {"en": "nothing found in {} runs", "zh": "{} 次运行未发现问题"}
ALSO = {"en": "also {}", "zh": "另有 {}"}


def field(lang: str) -> str:
    """One row for each finding that is told, code base by code base."""
    rows: list[tuple[Any, ...]] = []
    for base in json.loads(FINDINGS.read_text(encoding="utf-8")):
        rows += _rows(base, lang)
    return markdown_table(HEAD[lang], rows, right=(5,))


def _rows(base: dict[str, Any], lang: str) -> list[tuple[Any, ...]]:
    name = f"{base['name']} ({base['from']})" if base["from"] != base["name"] else base["name"]
    findings = sorted(base["findings"], key=lambda found: found["actions"])
    if not findings:
        told = NOTHING[lang].format(f"{base['runs']:,}")
        return [(name, f"`{base['version']}`", "–", "–", told, "–")]
    rest = [found["claim"] for found in findings[TOLD:]]
    return [
        (
            *((name, f"`{base['version']}`") if first else ("", "")),
            found["claim"],
            f"`{found['input']}`",
            found["says"][lang]
            + (f" ({base['issue']})" if base["issue"] and first else "")
            + (_also(rest, lang) if place == len(findings[:TOLD]) - 1 else ""),
            f"{base['first_seconds']:.1f}" if first else "",
        )
        for place, found in enumerate(findings[:TOLD])
        for first in [place == 0]
    ]


def _also(claims: list[str], lang: str) -> str:
    if not claims:
        return ""
    names = ", ".join(claims)
    return {"en": " ", "zh": ""}[lang] + f"({ALSO[lang].format(names)})"


MAKERS: tuple[Callable[..., str], ...] = (field,)
