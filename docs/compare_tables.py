"""The table of `docs/compare.md`: what the policies come to on the recorded arrivals.

Rules. The figures are those that a command in `tests/compare` has written and a test compares.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docs.markdown import markdown_table, number

from schedproof.compare.words import seconds
from schedproof.telling.messages import tell

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "compare"
COLUMNS = "policy wait_mean ttft_mean ttft_p99 tpot_p99 starved attainment deadlines word".split()
PREEMPTIONS = {"en": "preemptions", "zh": "抢占"}


def compared(lang: str) -> str:
    """For every recording the command, and a row for each policy."""
    return _tables("findings.json", lang)


def compared_full(lang: str) -> str:
    """The same of the longer recordings."""
    return _tables("full_findings.json", lang)


def _tables(name: str, lang: str) -> str:
    say = tell(lang)
    head = [say(f"compare.column.{name}") for name in COLUMNS]
    head.insert(-1, PREEMPTIONS[lang])
    parts: list[str] = []
    for found in json.loads((FOLDER / name).read_text("utf-8"))["findings"]:
        rows = [_row(run, lang) for run in found["policies"]]
        command = f"schedproof compare {found['command']}".replace(" --", " \\\n  --", 1)
        parts.append(f"### {found['name']}\n\n```sh\n{command}\n```")
        parts.append(markdown_table(head, rows, right=range(1, len(head) - 1)))
    return "\n\n".join(parts)


def _row(run: dict[str, Any], lang: str) -> list[str]:
    times = ("wait_mean", "ttft_mean", "ttft_p99", "tpot_p99")
    return [
        f"`{run['policy']}`",
        *(seconds(run[name]) for name in times),
        number(run["starved"]),
        f"{100 * run['attainment']:.1f} %",
        f"{run['deadlines_missed']} / {run['deadlines']}",
        number(run["preemptions"]),
        tell(lang)(f"compare.word.{run['word']}"),
    ]


MAKERS = (compared, compared_full)
