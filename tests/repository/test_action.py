"""The GitHub Action: its inputs, and the script behind it, with nothing really installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import click
import pytest

from schedproof.cli.commands import build
from schedproof.reports.formats import FORMATS

ROOT = Path(__file__).resolve().parents[2]
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
SCRIPT = ROOT / ".ci" / "check"
# Stands for Python: splits words like the real one, and notes what else it is asked to run.
FAKE = """#!/bin/sh
if [ "$1" = -c ]; then exec {python} "$@"; fi
for word in "$@"; do printf '%s\\n' "$word" >>"$HEARD"; done
case "$*" in *report.xml*) : >"$RUNNER_TEMP/schedproof/report.xml";; esac
[ "$2" != schedproof ] || exit 3
"""


def run_script(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    bin_ = folder / "bin"
    bin_.mkdir()
    (bin_ / "python3").write_text(FAKE.format(python=sys.executable), encoding="utf-8")
    (bin_ / "python3").chmod(0o755)
    usual = {
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(folder),
        "GITHUB_OUTPUT": str(folder / "output"),
        "HEARD": str(folder / "heard"),
    }
    return subprocess.run(
        ["bash", str(SCRIPT)], env={**usual, **environment}, capture_output=True, text=True
    )


def heard(folder: Path) -> list[str]:
    return (folder / "heard").read_text(encoding="utf-8").splitlines()


def test_words_stay_words_and_the_exit_code_comes_through(tmp_path: Path) -> None:
    environment = {
        "ARGS": "--claims 'LEDGER, LIFE' --scope \"$(touch pwned)\"",
        "TARGET": "my file.py:A; rm -rf x",
        "LANGUAGE": "zh",
        "INSTALL": "no",
    }
    ended = run_script(tmp_path, **environment)
    assert ended.returncode == 3, ended.stderr
    words = heard(tmp_path)
    assert words[:5] == ["-m", "schedproof", "check", "--lang", "zh"]
    assert words[-5:] == [
        "--claims",
        "LEDGER, LIFE",
        "--scope",
        "$(touch pwned)",
        "my file.py:A; rm -rf x",
    ]
    output = (tmp_path / "output").read_text(encoding="utf-8").splitlines()
    assert output == ["exit-code=3", f"junit={tmp_path}/schedproof/report.xml"]


@pytest.mark.parametrize(
    ("version", "installed"), [("", str(ROOT)), ("1.2.3", "schedproof==1.2.3")]
)
def test_it_installs_itself_or_a_release(version: str, installed: str, tmp_path: Path) -> None:
    run_script(tmp_path, VERSION=version)
    words = heard(tmp_path)
    assert words[: words.index(installed) + 1][:3] == ["-m", "pip", "install"]
    assert words[-1].startswith("md=")


def test_arguments_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    ended = run_script(tmp_path, ARGS="--claims 'LEDGER", INSTALL="no")
    assert ended.returncode != 0
    assert "Quote them as in a shell" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_every_input_is_used_and_told() -> None:
    block = ACTION[ACTION.index("inputs:") : ACTION.index("outputs:")]
    inputs = re.findall(r"^  ([a-z-]+):$", block, re.MULTILINE)
    used = set(re.findall(r"inputs\.([a-z-]+)", ACTION))
    assert used == set(inputs)
    for page in ("ci.md", "ci.zh.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert [name for name in inputs if f"`{name}`" not in text] == []


@pytest.mark.parametrize("page", ["ci.md", "ci.zh.md", "tests.md", "exports.md"])
def test_the_documents_name_options_that_are_there(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    commands: Mapping[str, click.Command] = build("en").commands
    used = [
        (command, option)
        for line in re.findall(r"schedproof ((?:check|export) [^`\n]*)", text)
        for command, option in re.findall(r"(?:^(\w+))?.*?(--[\w-]+)", line)
    ]
    names = {name for c in ("check", "export") for p in commands[c].params for name in p.opts}
    assert used
    assert {option for _, option in used} - names == set()


@pytest.mark.parametrize("page", ["exports.md", "exports.zh.md"])
def test_every_format_and_its_file_is_told(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    rows = {f"| `{made.name}` | `{made.file_name}` |" for made in FORMATS.values()}
    assert {row for row in rows if row not in text} == set()


def test_the_script_reads_what_the_action_hands_it() -> None:
    handed = set(re.findall(r"^        ([A-Z_]+): ", ACTION, re.MULTILINE))
    text = SCRIPT.read_text(encoding="utf-8")
    assert {name for name in handed if name not in text} == set()
    assert "${{ inputs" not in text
