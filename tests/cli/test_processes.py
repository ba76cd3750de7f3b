"""The command as a process of its own: pipes, signals, terminals, locales, and a quick start."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from schedproof.cli import progress


class Said(Protocol):
    @property
    def code(self) -> int: ...
    @property
    def out(self) -> str: ...
    @property
    def err(self) -> str: ...


Run = Callable[..., Said]
COMMAND = [sys.executable, "-m", "schedproof"]
BUSY = ["--profile", "deep", "--time", "60s", "--policy", "fcfs"]
TELLS_ITS_START = """
from pathlib import Path
from schedproof.zoo.plain import PlainScheduler

class Mine(PlainScheduler):
    def step(self):
        Path("started").touch()
        return super().step()
"""
SLOW_MODULES = ["hypothesis", "rich", "jsonschema", "schedproof.api", "schedproof.search.isolation"]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, **more}


def command(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        encoding="utf-8",
        env=environment(**more),
        timeout=60,
    )


def test_the_package_runs_as_a_module() -> None:
    done = command("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("schedproof ")


def test_the_version_is_told_without_loading_a_search() -> None:
    script = (
        "import sys; from schedproof.cli.main import run; run(['--version'])\n"
        f"print([name for name in {SLOW_MODULES} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines()[1:] == ["[]"], done.stderr


def test_a_reader_who_has_seen_enough_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COMMAND, "claims", "list"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "claims", "list"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.startswith("The output cannot be written: ")
    assert done.stderr.count("\n") == 1


def test_a_terminal_without_our_letters_gets_their_numbers() -> None:
    done = command("claims", "show", "LEDGER-1", "--lang", "zh", PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u6bcf" in done.stdout


def test_the_locale_c_speaks_english() -> None:
    assert "Free blocks + held blocks" in command("claims", "list", LC_ALL="C").stdout


def test_ctrl_c_ends_a_check_in_time_and_tells_what_is_known(alone: Path) -> None:
    (alone / "mine.py").write_text(TELLS_ITS_START, encoding="utf-8")
    running = subprocess.Popen(
        [*COMMAND, "check", "mine.py:Mine", *BUSY],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment(),
    )
    while not (alone / "started").exists() and running.poll() is None:
        time.sleep(0.05)
    asked = time.monotonic()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert time.monotonic() - asked < 10
    assert "Interrupted: this is what is known so far." in out
    assert running.returncode == 130
    assert "Traceback" not in out + err


def on_a_terminal(*words: str, **more: str) -> tuple[int, str]:
    """Exit code, and all that the command shows on a terminal."""
    pty = pytest.importorskip("pty")
    parent, child = pty.openpty()
    variables = environment(TERM="xterm", COLUMNS="80", **more)
    running = subprocess.Popen(
        [*COMMAND, *words], stdin=child, stdout=child, stderr=child, env=variables
    )
    os.close(child)
    shown = b""
    while True:
        try:
            part = os.read(parent, 4096)
        except OSError:  # how a terminal says that nobody writes any more
            part = b""
        if not part:
            break
        shown += part
    os.close(parent)
    return running.wait(60), shown.decode()


CHECK = ("check", "--policy", "fcfs", "--time", "1s", "--requests", "1", "--claims", "LEDGER")


def test_a_terminal_shows_colours_unless_they_are_not_wanted() -> None:
    _, coloured = on_a_terminal(*CHECK)
    assert COLOUR.search(coloured)
    code, plain = on_a_terminal(*CHECK, "--quiet", NO_COLOR="1")
    assert code in (0, 4)
    assert not COLOUR.search(plain)


def test_elsewhere_progress_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("schedproof.cli.progress.time.monotonic", lambda: now[0])
    with progress.show_progress("en", quiet=False) as tell:
        for second in (1.0, 9.9, 10.0, 15.0, 20.5):
            now[0] = second
            tell({"policy": "aging", "done": int(second), "of": 100})
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err == "aging: 10 of 100 runs\naging: 20 of 100 runs\n"


def test_quiet_shows_no_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    with progress.show_progress("en", quiet=True) as tell:
        tell({"policy": "aging", "done": 1, "of": 100})
    assert capsys.readouterr().err == ""


def test_progress_goes_beside_the_document(
    run: Run, monkeypatch: pytest.MonkeyPatch, pretend: Callable[..., Any]
) -> None:
    import json

    from schedproof import api

    pretend()
    answer = api.check

    def check(**said: Any) -> api.CheckResult:
        said["progress"]({"policy": "aging", "done": 1, "of": 100})
        return answer(**said)

    monkeypatch.setattr(api, "check", check)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    said = run("check", "--json")
    assert said.err == "aging: 1 of 100 runs\n"
    assert json.loads(said.out)["exit_code"] == 0


def test_an_interrupt_while_the_command_is_loaded_is_no_traceback() -> None:
    program = (
        "import sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'schedproof.cli.main':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "from schedproof.cli import start\n"
        "start()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, b"")
