"""What the policies come to on the recorded arrivals: the table of the document, kept as data.

    python -m tests.compare.findings                           run all, write findings.json anew
    python -m tests.compare.findings FOLDER                    the same of longer recordings there
    python -m pytest tests/compare/slow_findings.py            compare all (minutes)

Rules. Each entry is a command that a reader can type, and for each policy the few numbers that
the document tells. The same seed gives the same numbers on every machine. The longer
recordings are not kept here: they are the first rows of the same public files, and their digests
are in `full_findings.json`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("findings.json")
FULL_PATH = PATH.with_name("full_findings.json")
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [p for p in (str(ROOT / "model"), str(ROOT / "invariants")) if p not in sys.path]

from schedproof.cli.main import run  # noqa: E402

FOLDER = "tests/data/traces/"
COMMANDS = {
    "code": "azure_llm_2023_code_rows_00001_00400.csv --step-ms 5 --blocks 1024",
    "conv": "azure_llm_2023_conv_rows_00001_00600.csv --step-ms 1 --blocks 1024",
    "mooncake": "mooncake_fast25_conversation_rows_00001_00150.jsonl --step-ms 1 --blocks 6000",
    "burstgpt": "burstgpt_1_rows_00001_00400.csv --drop --step-ms 10 --blocks 512 "
    "--time-factor 0.02",
    "conv in batches": "azure_llm_2023_conv_rows_00001_00600.csv --batch 16 --step-ms 30 "
    "--blocks 1024",
    "mooncake in batches": "mooncake_fast25_conversation_rows_00001_00150.jsonl --batch 8 "
    "--step-ms 30 --blocks 12000",
}
"""Name and words after `schedproof compare`."""

FULL_COMMANDS = {
    "code, 5,000 rows": "azure_llm_2023_code_rows_00001_05000.csv --step-ms 5 --blocks 1024",
    "conv, 12,000 rows": "azure_llm_2023_conv_rows_00001_12000.csv --step-ms 1 --blocks 1024",
    "mooncake, 7,989 rows": "mooncake_fast25_conversation_rows_00001_07989.jsonl --step-ms 1 "
    "--blocks 6000",
    "conv in batches, 12,000 rows": "azure_llm_2023_conv_rows_00001_12000.csv --batch 64 "
    "--step-ms 30 --blocks 4096",
    "mooncake in batches, 7,989 rows": "mooncake_fast25_conversation_rows_00001_07989.jsonl "
    "--batch 64 --step-ms 30 --blocks 40000",
}
"""The same of the longer recordings, with the set-ups of the short ones."""

Document = tuple[str, str, dict[str, Any]]


def documents(commands: dict[str, str] = COMMANDS, folder: str = FOLDER) -> Iterator[Document]:
    """Name, command and the document that it prints, for every command."""
    for name, words in commands.items():
        printed = io.StringIO()
        here = Path.cwd()
        os.chdir(ROOT)
        try:
            with contextlib.redirect_stdout(printed):
                run(["compare", *f"{folder}{words} --json --quiet".split()])
        finally:
            os.chdir(here)
        yield name, (folder if folder == FOLDER else "") + words, json.loads(printed.getvalue())


def record_of(name: str, command: str, document: dict[str, Any]) -> dict[str, Any]:
    """One entry of the file."""
    return {
        "name": name,
        "command": command,
        "rows": document["trace"]["rows_kept"],
        "policies": [
            {
                "policy": run["policy"],
                "wait_mean": run["queue_wait"]["mean"],
                "ttft_mean": run["ttft"]["mean"],
                "ttft_p99": run["ttft"]["p99"],
                "tpot_p99": run["tpot"]["p99"],
                "rejected": sum(run["rejected"].values()),
                "starved": run["starved"],
                "attainment": run["slo_attainment"],
                "deadlines": run["deadlines"],
                "deadlines_missed": run["deadlines_missed"],
                "preemptions": run["preemptions"],
                "word": run["judgement"]["word"],
            }
            for run in document["policies"]
        ],
    }


def full(folder: str) -> list[dict[str, Any]]:
    """The entries of the longer recordings in that folder, with the digests of the files."""
    found = documents(FULL_COMMANDS, str(Path(folder).resolve()) + "/")
    return [{**record_of(*each), "sha256": each[2]["trace"]["sha256"]} for each in found]


def read(path: Path = PATH) -> list[dict[str, Any]]:
    """The entries."""
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["findings"]
    return found


def write(records: list[dict[str, Any]], path: Path) -> None:
    text = json.dumps({"schema_version": 1, "findings": records}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def main(arguments: list[str]) -> None:
    if arguments:
        write(full(arguments[0]), FULL_PATH)
    else:
        write([record_of(*each) for each in documents()], PATH)


if __name__ == "__main__":
    main(sys.argv[1:])
