"""Where options come from: the command line, the environment, the configuration, the default."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from schedproof.settings import OPTIONS, UsageError, resolve, unknown


class Said(Protocol):
    @property
    def code(self) -> int: ...
    @property
    def out(self) -> str: ...
    @property
    def err(self) -> str: ...


Run = Callable[..., Said]
Pretend = Callable[..., dict[str, Any]]


def configure(folder: Path, *lines: str) -> None:
    text = "\n".join(["[tool.schedproof]", *lines, ""])
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def test_what_nobody_says_is_the_default() -> None:
    assert resolve({}) == {name: option.default for name, option in OPTIONS.items()}


def test_the_first_that_says_something_decides(
    run: Run, pretend: Pretend, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = pretend()
    configure(alone, "blocks = 5", 'policy = ["fcfs", "aging"]', 'time = "2m"', "requests = 4")
    monkeypatch.setenv("SCHEDPROOF_BLOCKS", "6")
    monkeypatch.setenv("SCHEDPROOF_POLICY", "deadline")
    monkeypatch.setenv("SCHEDPROOF_SEED", "11")
    assert run("check", "--blocks", "7").code == 0
    asked = heard["asked"]
    assert asked["blocks"] == 7
    assert asked["policy"] == ("deadline",)
    assert asked["seed"] == 11
    assert asked["time"] == 120.0
    assert asked["requests"] == 4
    assert asked["memory"] == 1024


def test_lists_of_the_configuration_reach_the_command(
    run: Run, pretend: Pretend, alone: Path
) -> None:
    heard = pretend()
    configure(alone, 'policy = ["fcfs", "aging"]', 'claims = "LEDGER, LIFE-1"')
    run("check")
    assert heard["asked"]["policy"] == ("fcfs", "aging")
    assert heard["asked"]["claims"] == ("LEDGER", "LIFE-1")


def test_an_empty_variable_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDPROOF_BLOCKS", "")
    assert resolve({})["blocks"] is None


def test_quiet_may_come_from_anywhere(
    run: Run, pretend: Pretend, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend()
    monkeypatch.setenv("SCHEDPROOF_QUIET", "1")
    assert "scheduler:" not in run("check").out
    monkeypatch.setenv("SCHEDPROOF_QUIET", "no")
    assert "scheduler:" in run("check").out
    monkeypatch.delenv("SCHEDPROOF_QUIET")
    configure(alone, "quiet = true")
    assert "scheduler:" not in run("check").out


def test_the_nearest_file_above_counts(alone: Path) -> None:
    configure(alone, "blocks = 5")
    below = alone / "one" / "two"
    below.mkdir(parents=True)
    assert resolve({}, below)["blocks"] == 5
    (alone / "one" / "pyproject.toml").write_text("", encoding="utf-8")
    assert resolve({}, below)["blocks"] is None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('polcy = "aging"', "[tool.schedproof]: there is no polcy. Did you mean policy? Allowed: "),
        ("colour = 1", "[tool.schedproof]: there is no colour. Allowed: target, factory, cell, "),
        ('policy = "ageing"', "[tool.schedproof] policy: there is no ageing. Did you mean aging?"),
        ("policy = 3", "[tool.schedproof] policy must be a name or a list of names, and not 3."),
        (
            "claims = [3]",
            "[tool.schedproof] claims must be a name or a list of names, and not [3].",
        ),
        (
            "blocks = 1.5",
            "[tool.schedproof] blocks must be a whole number, at least 0, and not 1.5.",
        ),
        (
            "blocks = true",
            "[tool.schedproof] blocks must be a whole number, at least 0, and not Tr",
        ),
        ("time = true", "[tool.schedproof] time must be a time such as 30s"),
        ("target = 3", "[tool.schedproof] target must be a text, and not 3."),
        ('quiet = "perhaps"', "[tool.schedproof] quiet must be true or false, and not perhaps."),
        ('lang = "de"', "[tool.schedproof] lang: there is no de. Allowed: en, zh."),
        ("lang = 3", "[tool.schedproof] lang: there is no 3. Allowed: en, zh."),
        ("blocks 3", "pyproject.toml cannot be read as configuration: "),
    ],
)
def test_a_wrong_configuration_is_told_with_its_place(
    run: Run, alone: Path, line: str, told: str
) -> None:
    configure(alone, line)
    said = run("check")
    assert (said.code, said.out) == (2, "")
    assert told in said.err


@pytest.mark.parametrize("text", ["tool = 1", "[tool]\nschedproof = 1"])
def test_a_configuration_that_is_no_table_is_told(run: Run, alone: Path, text: str) -> None:
    (alone / "pyproject.toml").write_text(text, encoding="utf-8")
    said = run("check")
    assert said.code == 2
    assert "must be a table. Write it as [tool.schedproof]" in said.err


def test_bytes_that_are_no_text_are_told(run: Run, alone: Path) -> None:
    (alone / "pyproject.toml").write_bytes(b"a = '\xff'")
    said = run("check")
    assert said.code == 2
    assert "pyproject.toml cannot be read as configuration" in said.err


def test_the_version_needs_no_readable_configuration(run: Run, alone: Path) -> None:
    (alone / "pyproject.toml").write_text("[", encoding="utf-8")
    assert run("--version").code == 0
    assert run("--help").code == 0


def test_a_wrong_variable_is_told_by_its_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDPROOF_TIME", "soon")
    assert run("check").err.startswith("SCHEDPROOF_TIME must be a time such as 30s")
    monkeypatch.delenv("SCHEDPROOF_TIME")
    monkeypatch.setenv("SCHEDPROOF_LANG", "de")
    said = run("check")
    assert said.code == 2
    assert said.err == "SCHEDPROOF_LANG: there is no de. Allowed: en, zh.\n"


@pytest.mark.parametrize(
    ("words", "variable", "configured", "locale", "chinese"),
    [
        (["--lang", "en"], "zh", "zh", "zh_CN.UTF-8", False),
        ([], "en", "zh", "zh_CN.UTF-8", False),
        ([], "", "en", "zh_CN.UTF-8", False),
        ([], "", "", "zh_CN.UTF-8", True),
        ([], "", "zh", "C", True),
        ([], "zh", "en", "C", True),
        ([], "", "", "fr_FR.UTF-8", False),
        ([], "", "", "C", False),
    ],
)
def test_the_order_of_languages(
    run: Run,
    alone: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    variable: str,
    configured: str,
    locale: str,
    chinese: bool,
) -> None:
    monkeypatch.setenv("SCHEDPROOF_LANG", variable)
    monkeypatch.setenv("LANG", locale)
    if configured:
        configure(alone, f'lang = "{configured}"')
    out = run("claims", "list", *words).out
    assert ("应当成立的性质" in out) is chinese
    assert ("用法" in run("claims", "--help", *words).out) is (chinese and not words)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30.0), ("30s", 30.0), ("1.5 m", 90.0), ("2min", 120.0), ("1h", 3600.0), ("500ms", 0.5)],
)
def test_times(text: str, seconds: float) -> None:
    assert resolve({"time": text})["time"] == seconds


@pytest.mark.parametrize("text", ["0", "-1", "", "s", "1d", "nan", "inf", "1e9", "99999999999"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="must be a time"):
        resolve({"time": text})


def test_a_mistake_in_a_call_reads_as_a_sentence() -> None:
    with pytest.raises(UsageError) as caught:
        resolve({"profile": "hard"})
    assert str(caught.value) == "profile: there is no hard. Allowed: quick, ci, deep."
    assert caught.value.told("zh") == "profile：没有 hard。可用的值：quick、ci、deep。"


def test_a_class_and_a_function_are_handed_on() -> None:
    asked = resolve({"target": Path, "factory": print})
    assert (asked["target"], asked["factory"]) == (Path, print)


def test_an_error_does_not_name_a_hundred_allowed_values() -> None:
    few = unknown("claims", "NOPE", [f"A-{i}" for i in range(22)])
    many = unknown("claims", "NOPE", [f"A-{i}" for i in range(90)])
    assert few.values["allowed"][-1] == "A-21"
    assert many.values["allowed"][-2:] == ("A-21", "… (90)")
