"""The tables of mutants in `docs/faults.md`, from what `python -m tests.mutation` has written.

Rules. A mutant is noticed if a test fails, or runs out of time. One that is not is explained, by a
reason that somebody wrote, or open. Modules that were not run are named.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docs.markdown import markdown_table

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "mutation"
PACKAGES = ROOT / "invariants" / "schedproof"

HEAD = {
    "en": ("module", "mutants", "noticed", "explained", "open"),
    "zh": ("模块", "变异体", "被发现", "有解释", "未解释"),
}
ALL = {"en": "all", "zh": "合计"}
NOT_RUN = {"en": "Not run: {}.", "zh": "没有运行：{}。"}
COMMA = {"en": ", ", "zh": "、"}


def mutants(lang: str, package: str) -> str:
    """What came of the mutants of each module of a package, and which modules were not run."""
    results, reasons = _read("results.json").get(package, {}), _read("survivors.json")
    rows = [_row(module, came, reasons) for module, came in results.items() if came["mutants"]]
    sums = [sum(row[1][place] for row in rows) for place in range(4)]
    cells = [(f"`{name}`", *map(str, numbers)) for name, numbers in rows]
    table = markdown_table(HEAD[lang], [*cells, (ALL[lang], *map(str, sums))], right=(1, 2, 3, 4))
    missing = [f"`{name}`" for name in modules(package) if name not in results]
    if not missing:
        return table
    return f"{table}\n\n{NOT_RUN[lang].format(COMMA[lang].join(missing))}"


def modules(package: str) -> list[str]:
    """The modules of a package, named as in the record."""
    folder = PACKAGES / package
    files = (file.relative_to(folder) for file in sorted(folder.rglob("*.py")))
    return [file.with_suffix("").as_posix() for file in files if file.stem != "__init__"]


def _row(
    module: str, came: dict[str, Any], reasons: dict[str, str]
) -> tuple[str, tuple[int, int, int, int]]:
    explained = sum(name in reasons for name in came["survived"])
    noticed = came["killed"] + came["timed_out"]
    return module, (came["mutants"], noticed, explained, len(came["survived"]) - explained)


def _read(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / name).read_text("utf-8"))
    return read


MAKERS = (mutants,)
