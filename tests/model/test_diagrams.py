"""The pictures of the lifecycle, read back into edges and compared with the table by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from tests.model.conftest import EDGES

from schedmodel.diagrams import dot, mermaid


def triggers_in(label: str) -> Iterator[tuple[str, str]]:
    """(trigger, guard) for each part of an arrow's label."""
    for part in label.split(", "):
        match = re.fullmatch(r"([a-z ]+?)(?: \[([a-z ]+)\])?", part)
        assert match, part
        yield match[1].replace(" ", "_"), match[2] or ""


def test_the_mermaid_picture_has_every_edge_and_its_structure() -> None:
    first, start, *arrows, end = mermaid().splitlines()
    assert first == "stateDiagram-v2"
    assert start == "    [*] --> waiting"
    assert end == "    finished --> [*]"
    drawn: list[tuple[str, str, str, str]] = []
    for line in arrows:
        match = re.fullmatch(r"    ([a-z]+) --> ([a-z]+): (.+)", line)
        assert match, line
        drawn += [(match[1], t, match[2], guard) for t, guard in triggers_in(match[3])]
    assert len(drawn) == len(EDGES)
    assert set(drawn) == EDGES


def test_the_dot_picture_has_every_edge_and_its_structure() -> None:
    lines = dot().splitlines()
    assert lines[0] == "digraph lifecycle {"
    assert lines[-1] == "}"
    assert "    start -> waiting;" in lines
    assert "    finished [peripheries=2];" in lines
    drawn: list[tuple[str, str, str, str]] = []
    for line in lines:
        match = re.fullmatch(r'    ([a-z]+) -> ([a-z]+) \[label="([^"]+)"\];', line)
        if match:
            drawn += [(match[1], t, match[2], guard) for t, guard in triggers_in(match[3])]
    assert len(drawn) == len(EDGES)
    assert set(drawn) == EDGES


@pytest.mark.parametrize("draw", [mermaid, dot])
def test_pictures_are_ascii_stable_and_end_in_one_newline(draw: Callable[[], str]) -> None:
    text = draw()
    assert text.isascii()
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert text == draw()
