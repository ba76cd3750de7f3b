"""Search every public code base of `bases.json` and write what was found to `findings.json`.

`python -m tests.engines.field [FOLDER]` gets packages with pip and repositories with git into
FOLDER (a temporary one by default), searches each for a while with all claims and nothing known
beforehand, and writes the table's data. What is already in FOLDER is not fetched again: a folder
named after the package or the commit. Nothing of it enters this repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from schedproof.claims.catalogue import CLAIMS
from schedproof.engines.named import EngineTarget
from schedproof.search.engines.box import TOKENS_UNLIMITED
from schedproof.search.engines.engine_runs import EnginePlan, judged_on_edges, run_engine
from schedproof.search.engines.engine_search import Within
from schedproof.search.results import Counterexample, RunResult
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import tell
from schedproof.telling.story import breach_text

HERE = Path(__file__).parent
BASES: list[dict[str, Any]] = json.loads((HERE / "bases.json").read_text("utf-8"))["bases"]
FINDINGS = HERE / "findings.json"
RUNS, SECONDS, SEED = 6000, 60.0, 0


class NotReached(Exception):
    """A package or repository cannot be had here."""


def fetched(base: dict[str, Any], folder: Path) -> Path:
    """Where the code base is, after getting it if need be; raises `NotReached`."""
    get = base["get"]
    name = get.get("package") or f"{get['repository'].replace('/', '__')}@{get['commit']}"
    place = folder / name
    if not place.exists():
        try:
            (_unpack if "package" in get else _clone)(get, place)
        except (subprocess.SubprocessError, OSError) as error:
            raise NotReached(f"{name}: {error}") from None
    inside: str = base["folder"]
    return place / inside


def _unpack(get: dict[str, str], place: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        wanted = f"{get['package']}=={get['version']}"
        words = ["download", "-q", "--no-deps", "--no-build-isolation", "-d", scratch, wanted]
        subprocess.run([sys.executable, "-m", "pip", *words], check=True, timeout=120)
        with zipfile.ZipFile(next(Path(scratch).glob("*.whl"))) as wheel:
            wheel.extractall(place)


def _clone(get: dict[str, str], place: Path) -> None:
    url = f"https://github.com/{get['repository']}"
    words = ["git", "clone", "-q", "--filter=blob:none", url, str(place)]
    subprocess.run(words, check=True, timeout=300)
    subprocess.run(["git", "-C", str(place), "checkout", "-q", get["commit"]], check=True)


def target_of(base: dict[str, Any], place: Path) -> EngineTarget:
    """How the command would name it."""
    if base["adapter"] == "nano-vllm":
        return EngineTarget("nano-vllm", str(place), base["name"])
    file, _, name = base["adapter"].partition(":")
    return EngineTarget("adapter", f"{(HERE / file).resolve()}:{name}={place}", base["name"])


def search(base: dict[str, Any], place: Path, within: Within) -> RunResult:
    """Search one code base in a child, for every claim that it breaks."""
    plan = EnginePlan(target_of(base, place), judged_on_edges(CLAIMS), within, SECONDS)
    return run_engine(plan, lambda _progress: None)


def told(example: Counterexample) -> dict[str, Any]:
    """One finding as the table has it: the claim, what is wrong, the input."""
    limits = example.limits
    assert limits is not None
    requests = [
        f"p{action['args']['token_ids']}m{action['args']['max_new_tokens']}".replace(" ", "")
        for action in example.actions
        if action["op"] == "enqueue"
    ]
    at_once = all(a["op"] == "enqueue" for a in example.actions[: len(requests)])
    size = f"B{example.blocks} bs{limits.block_size} S{limits.max_num_seqs}"
    size += "" if limits.max_num_batched_tokens == TOKENS_UNLIMITED else f" T{limits[2]}"
    later = "" if at_once else " (not all at once)"
    return {
        "claim": example.claim,
        "says": {lang: breach_text(tell(lang), example) for lang in LANGUAGES},
        "input": f"{size}: {'; '.join(requests)}{later}",
        "actions": example.length,
    }


def record(base: dict[str, Any], place: Path) -> dict[str, Any]:
    """What the table says of one code base."""
    began = os.times().children_user
    search(base, place, Within(RUNS, SEED, shrink_seconds=0.0))
    seconds = os.times().children_user - began
    result = search(base, place, Within(RUNS, SEED, keep_going=True))
    get = base["get"]
    return {
        "name": base["name"],
        "from": get.get("package") or get["repository"],
        "version": get.get("version") or get["commit"],
        "issue": base.get("issue", ""),
        "verdict": result.verdict,
        "runs": result.examples,
        "actions": result.transitions,
        "first_seconds": round(seconds, 1),
        "findings": [told(each) for each in result.counterexamples],
    }


def main() -> None:
    """Search all of them; what cannot be fetched keeps what was written before."""
    known = (
        {r["name"]: r for r in json.loads(FINDINGS.read_text("utf-8"))} if FINDINGS.exists() else {}
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch)
        for base in BASES:
            try:
                known[base["name"]] = record(base, fetched(base, folder))
            except NotReached as reason:
                sys.stderr.write(f"not reached: {reason}\n")
                continue
            found = known[base["name"]]
            names = ", ".join(each["claim"] for each in found["findings"])
            sys.stderr.write(f"{found['name']}: {found['verdict']} {names}\n")
    rows = [known[base["name"]] for base in BASES if base["name"] in known]
    FINDINGS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
