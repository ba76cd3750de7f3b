"""Set the project up and run it, with nothing but Python: `dev.py check`, `dev.py test`.

`dev.py browser-tests` looks at the page in a real Chromium, `dev.py docs` builds the site of
the documents, and `dev.py docs-tests` runs the lessons and the commands of all pages.

Rules. Everything is installed into `.venv` beside this file and nowhere else. A stamp,
written last, says what `.venv` was made from; an environment whose stamp is missing or
says otherwise (a run cut short, a changed pyproject.toml, another Python, a moved folder)
is thrown away and made anew, so there is one way to get one. Whatever goes wrong outside
our code is told in a sentence, never by a traceback. Only the standard library is
imported, and the file parses on Python 3.6, so that an old Python can be told what to do.
"""

import sys

if sys.version_info < (3, 10):
    sys.exit(
        "schedproof needs Python 3.10 or newer, and this is Python {}.{}: "
        "run dev.py with a newer one, for example `python3.12 dev.py test`.".format(
            *sys.version_info[:2]
        )
    )

import hashlib
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "made-by-dev"
USAGE = """usage: python3 dev.py check [arguments of `schedproof check`]
       python3 dev.py test [arguments of pytest]
       python3 dev.py browser-tests [arguments of pytest]
       python3 dev.py docs [folder]
       python3 dev.py docs-tests [arguments of pytest]

check           judge the built-in model, or a scheduler of yours: check FILE.py:CLASS
test            run the complete test suite with coverage; with arguments, pytest alone
browser-tests   look at the page of a report in a Chromium that is installed here
docs            build the site of the documents in both languages (build/docs by default)
docs-tests      run lessons, notebooks and all commands of the documents; try the site"""
COMMANDS = ("check", "test", "browser-tests", "docs", "docs-tests")
BROWSER_TESTS = ("tests/browser/browser_player.py", "tests/browser/browser_reading.py")

DOCS_TESTS = (
    "tests/docs/slow_commands.py",
    "tests/docs/slow_site.py",
    "tests/lessons/slow_lessons.py",
)


class SetupError(Exception):
    """The environment could not be made; the message is for the person at the terminal."""


def main(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0] not in COMMANDS:
        wants_help = arguments and arguments[0] in ("-h", "--help")
        print(USAGE, file=sys.stdout if wants_help else sys.stderr)
        return 0 if wants_help else 2
    command, rest = arguments[0], list(arguments[1:])
    try:
        ensure_environment(with_tools=command != "check")
        if command in OTHERS:
            return OTHERS[command](rest)
        return check(rest) if command == "check" else test(rest)
    except SetupError as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def check(arguments: list[str]) -> int:
    """`schedproof check`, in the folder of the person who asks."""
    return subprocess.call([str(VENV / "bin" / "schedproof"), "check", *arguments])


def test(arguments: list[str]) -> int:
    """The whole suite on all processors, coverage measured; or what is asked for, and nothing else.

    The long searches are a run of their own: coverage that is stopped for a test and started again
    patches `fork` once more each time, until every fork takes seconds.
    """
    if arguments:
        return run_module("pytest", *arguments)
    # Whole paths: a test may change the folder, and what it starts would measure nothing there.
    os.environ["COVERAGE_FILE"] = str(ROOT / ".coverage")
    sources = [f"--cov={ROOT / folder}" for folder in ("model", "invariants")]
    parts = ((*sources, "-m", "not unmeasured"), ("-m", "unmeasured"))
    said = [run_module("pytest", "--numprocesses", "auto", *part) for part in parts]
    return next(filter(None, said), 0)


def browser_tests(arguments: list[str]) -> int:
    """The tests in a browser; what drives it is installed when it is first needed."""
    add_tools("browser", "import playwright")
    return run_module("pytest", *BROWSER_TESTS, *arguments)


def docs(arguments: list[str]) -> int:
    """The site of the documents, with what builds it installed when it is first needed."""
    add_tools("docs", "import furo, nbclient")
    return run_module("docs.site.build", *arguments)


def docs_tests(arguments: list[str]) -> int:
    """Lessons, notebooks, commands and the site, as their own tests."""
    add_tools("docs", "import furo, nbclient")
    return run_module("pytest", *DOCS_TESTS, *arguments)


OTHERS = {"browser-tests": browser_tests, "docs": docs, "docs-tests": docs_tests}


def add_tools(group: str, needed: str) -> None:
    """Install an optional group of pyproject.toml unless it is there."""
    python = str(VENV / "bin" / "python")
    if subprocess.call([python, "-c", needed], stderr=subprocess.DEVNULL) != 0:
        install = ("-m", "pip", "install", "--quiet", "--editable", f"{ROOT}[{group}]")
        run_quietly(f"install the tools of the group {group}", python, *install)


def run_module(module: str, *arguments: str) -> int:
    return subprocess.call([str(VENV / "bin" / "python"), "-m", module, *arguments], cwd=ROOT)


def ensure_environment(with_tools: bool) -> None:
    """Leave a `.venv` that is complete; at once when there is one already."""
    stamps = [f"{recipe()} {kind}" for kind in ("run", "tools")]
    if read_stamp() in stamps[with_tools:]:
        return
    require_venv()
    print("Setting up .venv (once, for about half a minute) ...", file=sys.stderr)
    try:
        remove_environment()
        make_environment(with_tools)
        STAMP.write_text(stamps[with_tools], encoding="utf-8")
    except OSError as problem:
        remove_environment()
        raise SetupError(f"Cannot make {VENV}: {problem}.") from problem
    except BaseException:
        remove_environment()
        raise


def recipe() -> str:
    """One digest of all that an environment depends on."""
    parts = [sys.version, sys.base_prefix, str(ROOT), Path(__file__).read_text(encoding="utf-8")]
    parts.append((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read_stamp() -> str:
    """What the environment was made from, and for what; empty when that is not known."""
    try:
        return STAMP.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def require_venv() -> None:
    """Debian and its kin ship Python without the parts that make an environment."""
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        version = "{}.{}".format(*sys.version_info[:2])
        raise SetupError(
            f"This Python ({sys.executable}) cannot make a virtual environment because its "
            f"module {missing[0]} is missing: install it (on Debian and Ubuntu: "
            f"`sudo apt install python{version}-venv`) and run dev.py again."
        )


def remove_environment() -> None:
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    elif VENV.exists():
        shutil.rmtree(VENV)


def make_environment(with_tools: bool) -> None:
    base = getattr(sys, "_base_executable", None) or sys.executable
    run_quietly("make .venv", base, "-m", "venv", str(VENV))
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    run_quietly("upgrade pip", *pip, "--upgrade", "pip")
    run_quietly("install schedproof", *pip, "--editable", f"{ROOT}{'[dev]' if with_tools else ''}")


def run_quietly(purpose: str, *command: str) -> None:
    """Run it in the project's folder; when it fails, say so with its last lines."""
    result = subprocess.run(
        command,
        cwd=ROOT,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if result.returncode != 0:
        last_lines = "\n".join("  " + line for line in result.stdout.splitlines()[-12:])
        raise SetupError(f"Could not {purpose}; its last lines were:\n{last_lines}")


def clean_environment() -> dict[str, str]:
    """The caller's variables less those that would lead Python or pip out of `.venv`."""
    led_astray = ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_USER")
    kept = {name: value for name, value in os.environ.items() if name not in led_astray}
    return {**kept, "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
