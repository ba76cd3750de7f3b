"""The parts of the documents that can be derived: `python docs/generate.py` renews them.

Rules. Such a part stands between `<!-- generated: NAME -->` and `<!-- end -->`. NAME is a
maker of this file and its arguments, and the maker's text replaces whatever stands there.
Nothing else of a document is touched. A test compares every part with what is made now, so
a document cannot tell of another command than the one that is there. Times are left out.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from schedmodel import KNOWN_POLICIES, POLICIES
from schedmodel.diagrams import mermaid
from schedproof.claims.catalogue import CLAIMS
from schedproof.claims.claim import Claim
from schedproof.search.results import EXIT_CODES, INTERRUPTED, USAGE, Verdict
from schedproof.settings import OPTIONS, Option
from schedproof.telling.messages import join, tell
from schedproof.telling.story import title_of

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]  # the folder of this file is not installed

from docs import (  # noqa: E402
    compare_tables,
    fault_tables,
    field_tables,
    learn_tour,
    mutation_tables,
    reference,
    trace_tour,
)
from docs.markdown import markdown_table, number  # noqa: E402

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
PART = re.compile(r"(<!-- generated: (?P<name>[^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)

LOST_PROGRESS = "examples/lost_progress.py:LostProgress --policy fixed_priority"
TRAP = (
    "examples/leak_after_deadlines.py:LeakAfterDeadlines --policy fixed_priority "
    "--scope examples/with_and_without_deadline.json"
)
OWN_CLAIM = "examples/hits_first.py"
MANIFEST = ROOT / "tests" / "exhaustive" / "manifest.json"
WAITS = ROOT / "tests" / "liveness" / "manifest.json"


def main() -> None:
    """Renew every part of every document."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        renewed = renew(text)
        if renewed != text:
            document.write_text(renewed, encoding="utf-8")
            sys.stdout.write(f"renewed {document.relative_to(ROOT)}\n")


def renew(text: str) -> str:
    """A document's text with every generated part made anew."""
    return PART.sub(lambda part: f"{part[1]}{make(part['name'])}\n{part[3]}", text)


def make(name: str) -> str:
    """The part of that name: a maker and its arguments."""
    maker, *arguments = name.split()
    return MAKERS[maker](*arguments)


# -- what the command says ---------------------------------------------------


def run_check(words: str) -> subprocess.CompletedProcess[str]:
    """`schedproof check` with these words, in a folder with the examples and no settings."""
    with trace_tour.folder_with_examples() as folder:
        return trace_tour.typed(folder, f"check {words}")


def trace(lang: str) -> str:
    """The command on the broken example, as the reader types it, and all that it prints."""
    said = f"{LOST_PROGRESS} --lang zh" if lang == "zh" else LOST_PROGRESS
    printed = without_times(run_check(said).stdout)
    return f"```console\n$ python3 dev.py check {said}\n{printed}\n```"


def without_times(text: str) -> str:
    """A report less the column of seconds and the seconds of its verdict."""
    title, head, *rest = text.rstrip().split("\n")
    lines = [title, re.sub(r" +\S+$", "", head), *(re.sub(r" +\d+\.\d$", "", row) for row in rest)]
    return re.sub(r"\s*·\s+\d+\.\d (s|秒)$", "", "\n".join(lines), flags=re.MULTILINE)


def own_claim() -> str:
    """The example of a user's own claim, as it stands in its file."""
    text = (ROOT / OWN_CLAIM).read_text(encoding="utf-8")
    return f"```python\n{text}```"


def own_claim_broken(lang: str) -> str:
    """The command that breaks it, as the reader types it, and all that it prints."""
    said = f"fault:cache-rank-reversed --claims-from {OWN_CLAIM} --claims HIT-1 --policy aging"
    said += " --lang zh" if lang == "zh" else ""
    printed = without_times(run_check(said).stdout)
    return f"```console\n$ schedproof check {said}\n{printed}\n```"


def trap(lang: str) -> str:
    """The same broken scheduler under the full key and under a reduced one, as commands say."""
    command = TRAP.replace(" --", " \\\n  --")
    rows = [_trap_row(lang, reduction) for reduction in ("", "--reduce finished")]
    table = markdown_table(TRAP_HEAD[lang], rows, right=(3, 4))
    return f"```sh\nschedproof check {command}\n```\n\n{table}"


def _trap_row(lang: str, reduction: str) -> tuple[Any, ...]:
    code, said = _trapped(reduction)
    (run,) = said["runs"]
    examples = [(found["claim"], found["length"]) for found in said["counterexamples"]]
    found = "".join(TRAP_FOUND[lang].format(*example) for example in examples) or "–"
    verdict, states = tell(lang)(f"verdict.{run['verdict']}"), number(run["distinct_states"])
    return f"`{reduction}`" if reduction else "–", verdict, found, states, code


@cache
def _trapped(reduction: str) -> tuple[int, dict[str, Any]]:
    """Exit code and document of the search; the documents in both languages tell of it."""
    answer = run_check(f"{TRAP} {reduction} --json")
    return answer.returncode, json.loads(answer.stdout)


TRAP_HEAD = {
    "en": ("and", "verdict", "what it found", "states", "exit code"),
    "zh": ("再加上", "结论", "发现", "状态数", "退出码"),
}
TRAP_FOUND = {"en": "{} broken after {} actions", "zh": "{} 在 {} 个动作后被破坏"}


# -- tables of the catalogue -------------------------------------------------


def exits(lang: str) -> str:
    """The exit codes and what they say."""
    say = tell(lang)
    codes = sorted({USAGE, INTERRUPTED, *EXIT_CODES.values()})
    head = {"en": ("exit code", "what it says"), "zh": ("退出码", "含义")}[lang]
    return markdown_table(head, [(code, say(f"exit.{code}")) for code in codes], right=(0,))


def verdicts(lang: str) -> str:
    """The verdicts, as they are told and as JSON has them, with their exit codes."""
    say = tell(lang)
    head = {"en": ("verdict", "in JSON", "exit code", "what it says")}
    head["zh"] = ("结论", "JSON 中的值", "退出码", "含义")
    rows = [
        (say(f"verdict.{v}"), f"`{v.value}`", EXIT_CODES[v], say(f"verdict.{v}.means"))
        for v in Verdict
    ]
    return markdown_table(head[lang], rows, right=(2,))


def options(lang: str) -> str:
    """The options of `check`: as arguments, in the settings, and what they do."""
    rows: list[tuple[Any, ...]] = []
    for name, option in OPTIONS.items():
        flag = "`TARGET`" if name == "target" else f"`--{name.replace('_', '-')}`"
        rows.append((flag, f"`{name}`", default_of(option), tell(lang)(f"help.check.{name}")))
    return markdown_table(OPTIONS_HEAD[lang], rows)


OPTIONS_HEAD = {
    "en": ("option", "in `[tool.schedproof]`", "default", "what it does"),
    "zh": ("选项", "在 `[tool.schedproof]` 中", "默认值", "作用"),
}


def default_of(option: Option) -> str:
    """An option's default as it would be typed; a dash where it depends or is nothing."""
    value = option.default
    if value is None or value == () or value is False:
        return "–"
    if value == tuple(POLICIES):
        return "`all`"
    return f"`{value:g}`" if isinstance(value, (int, float)) else f"`{value}`"


def claims(lang: str) -> str:
    """Every claim in full."""
    return "\n\n".join(claim_section(claim, lang) for claim in CLAIMS)


def claim_section(claim: Claim, lang: str) -> str:
    """One claim: its sentence, and the rest as a list."""
    say = tell(lang)
    colon = {"en": ": ", "zh": "："}[lang]
    kind = say(f"kind.{claim.kind}")
    told_first = ("why", "leaves_out", "rule")
    pairs = [(say(f"page.{name}"), say(f"claim.{claim.id}.{name}")) for name in told_first]
    pairs.append((say("page.kind"), f"{kind}{colon}{say(f'kind.{claim.kind}.means')}"))
    pairs.append((say("page.scope"), say(f"scope.{claim.scope}")))
    if claim.policies is not None:
        pairs.append((say("page.policies"), join(say, "comma", sorted(claim.policies))))
    needed = sorted(say(f"feature.{feature}") for feature in claim.needs)
    pairs.append((say("page.needs"), join(say, "semicolon", needed)))
    pairs.append((say("page.source"), claim.source))
    told = "\n".join(f"- *{label}*{colon}{text}" for label, text in pairs if text)
    sentence = say(f"claim.{claim.id}.sentence")
    return f"### {claim.id}\n\n**{title_of(say, claim.id)}**\n\n{sentence}\n\n{told}"


# -- the model and the scopes ------------------------------------------------


def lifecycle() -> str:
    """The lifecycle as GitHub draws it."""
    return f"```mermaid\n{mermaid()}```"


def counts(lang: str) -> str:
    """The manifest's figures for the built-in model under its own exact key."""
    records = json.loads(MANIFEST.read_text("utf-8"))["configurations"]
    numbers = ("distinct_states", "transitions", "depth")
    rows = [
        (f"`{r['scope']}`", f"`{r['policy']}`", *(number(r[name]) for name in numbers))
        for r in records
        if r["target"] == "model" and not r["reduce"]
    ]
    in_turn = list(dict.fromkeys(scope for scope, *_ in rows))
    rows.sort(key=lambda row: in_turn.index(row[0]))
    return markdown_table(COUNTS_HEAD[lang], rows, (2, 3, 4))


COUNTS_HEAD = {
    "en": ("scope", "policy", "states", "transitions", "depth"),
    "zh": ("范围", "策略", "状态", "转移", "深度"),
}


def waits(lang: str) -> str:
    """Each scope under each policy: the worst wait with two and three active requests, or ∞."""
    cells: dict[str, list[str]] = {}
    for record in json.loads(WAITS.read_text("utf-8"))["configurations"]:
        wait = "**∞**" if record["verdict"] == "violated" else str(record["steps"])
        cells.setdefault(record["scope"], []).append(wait)
    rows = [
        (
            f"`{scope}`",
            *(f"{two} / {three}" for two, three in zip(row[::2], row[1::2], strict=True)),
        )
        for scope, row in cells.items()
    ]
    head = {"en": "scope", "zh": "范围"}[lang]
    return markdown_table((head, *(f"`{name}`" for name in KNOWN_POLICIES)), rows)


def lassos(lang: str) -> str:
    """Each lasso with the fewest active requests: who waits, the stem, the loop, the wait."""
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for record in json.loads(WAITS.read_text("utf-8"))["configurations"]:
        if record["verdict"] == "violated":
            first.setdefault((record["scope"], record["policy"]), record)
    fields = ("active", "kind", "stem", "loop", "each")
    rows = [
        (f"`{scope}`", f"`{policy}`", *(record[name] for name in fields))
        for (scope, policy), record in first.items()
    ]
    return markdown_table(LASSO_HEAD[lang], rows, right=(2, 4, 5, 6))


LASSO_HEAD = {
    "en": ("scope", "policy", "active", "who waits", "stem", "loop", "waits each round"),
    "zh": ("范围", "策略", "同时未完成", "谁在等", "前段", "循环", "每轮多等"),
}


def keys(lang: str) -> str:
    """What each policy sorts by."""
    head = {"en": ("policy", "key, smallest first"), "zh": ("策略", "排序键，小者优先")}[lang]
    rows = [(f"`{name}`", f"`({', '.join(p.columns)})`") for name, p in KNOWN_POLICIES.items()]
    return markdown_table(head, rows)


_MAKERS: tuple[Callable[..., str], ...] = (
    *(trace, trap, own_claim, own_claim_broken, exits, verdicts, options, claims),
    *(lifecycle, counts, waits, lassos, keys),
    *reference.MAKERS,
    *fault_tables.MAKERS,
    *mutation_tables.MAKERS,
    *compare_tables.MAKERS,
    *field_tables.MAKERS,
    *trace_tour.MAKERS,
    *learn_tour.MAKERS,
)
MAKERS = {maker.__name__: maker for maker in _MAKERS}


if __name__ == "__main__":
    main()
