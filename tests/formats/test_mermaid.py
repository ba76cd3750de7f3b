"""Sequence diagrams: a line for everything that happened, and no sign that breaks the drawing."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.telling.conftest import FOUND

from schedproof.formats import mermaid
from schedproof.formats.mermaid import to_mermaid

NAME = r"[A-Z]\d*"
TEXT = r"(?:[^#;<>\n]|#(?:\d+|lt|gt);|<br/>)+"
LINES = (
    rf"participant {NAME} as {TEXT}",
    rf"title {TEXT}",
    rf"{NAME}(?:->>|-->>|-x|--x){NAME}: {TEXT}",
    rf"Note over {NAME}(?:,{NAME})?: {TEXT}",
    rf"loop {TEXT}",
    r"end",
)


def lines_of(text: str) -> list[str]:
    """The lines, each in a form that Mermaid reads."""
    first, *rest = text.splitlines()
    assert first == "sequenceDiagram"
    for line in rest:
        assert any(re.fullmatch("  " + form, line) for form in LINES), line
    names = re.findall(rf"participant ({NAME}) ", text)
    used = re.findall(rf"^  ({NAME})(?:->>|-->>|-x|--x)({NAME}):", text, re.MULTILINE)
    assert {name for pair in used for name in pair} <= set(names)
    return [line.strip() for line in rest]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", FOUND)
def test_every_violation_can_be_drawn(name: str, language: str) -> None:
    (found,) = FOUND[name]().counterexamples
    lines = lines_of(to_mermaid(found, language))
    assert sum(line.startswith("C->>S: ") for line in lines) == found.length
    assert lines[-1].startswith("Note over C,P: ✗ ")


def test_what_happened_stands_in_its_order() -> None:
    (found,) = FOUND["progress-2"]().counterexamples
    lines = lines_of(to_mermaid(found, "en"))
    step = lines.index("C->>S: 5. step")
    assert lines[step + 1 : step + 5] == [
        "S-xR0: r1 preempted",
        "S->>P: r2 admitted",
        "S->>R1: prefill → decode",
        "R1-->>C: finished",
    ] or lines[step + 1 : step + 4] == [
        "S-xR0: r1 preempted",
        "S->>P: r2 admitted",
        "S->>R1: prefill → decode",
    ]
    assert "Note over P: free 1" in lines


def test_signs_of_mermaid_in_names_are_written_as_numbers() -> None:
    (found,) = FOUND["ledger-1"]().counterexamples
    enqueue = {"op": "enqueue", "args": {"request_id": "a;b#c<\nend", "prompt_len": 1}}
    strange = replace(found, actions=(enqueue, *found.actions[1:]))
    text = "\n".join(lines_of(to_mermaid(strange, "en")))
    assert "'a#59;b#35;c#lt;\\nend'" in text


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_name_never_ends_its_line(end: str) -> None:
    assert mermaid._text(f"above{end}below").split() == ["above", "below"]
    assert not set(mermaid._text(f"above{end}below")) & set("\r\n")


def test_a_loop_is_drawn_once() -> None:
    (found,) = FOUND["ledger-1"]().counterexamples
    values = {"stem": 1, "loop": 2, "request": 1, "needs": 1, "rounds": 3}
    endless = replace(found, text="LIVE-2.idle", claim="LIVE-2", values=values)
    lines = lines_of(to_mermaid(endless, "en"))
    inside = lines[lines.index("loop ↻ again and again") : lines.index("end")]
    assert sum(line.startswith("C->>S: ") for line in inside) == 2
    assert sum(line.startswith("C->>S: ") for line in lines) == 3
