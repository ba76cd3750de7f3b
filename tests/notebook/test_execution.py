"""Cells that end with a check: what a notebook shows, keeps, and sees of a class that changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # of Jupyter's own packages

Execute = Callable[..., Any]
IMPORTS = "import schedproof\nfrom schedproof import check, learn"
CHECK = "check(DecodeSchedulerSim, policy='fixed_priority', requests=2)"


@pytest.mark.unmeasured
def test_a_cell_shows_a_card_and_sees_the_class_as_it_is_now(
    execute: Execute, classes: dict[str, str]
) -> None:
    notebook = execute(
        IMPORTS,
        classes["open"],
        CHECK,
        classes["loses tokens"],
        CHECK,
        "print(bool(_), _.verdict)",
        classes["crashes"],
        CHECK,
        "learn.hint('TODO 3')",
        "learn.check(DecodeSchedulerSim).headline",
    )
    outputs = [cell.outputs for cell in notebook.cells]
    cards = {place: outputs[place][0]["data"] for place in (2, 4, 7, 8)}
    for place, forms in cards.items():
        assert [output["output_type"] for output in outputs[place]] == ["execute_result"]
        assert set(forms) == {"text/plain", "text/markdown", "text/html"}
        assert sum(len(text.encode()) for text in forms.values()) < 60_000
        assert "<script" not in forms["text/html"]
        assert all("Traceback" not in text for text in forms.values())
    assert "TODO 1 (enqueue)" in cards[2]["text/plain"]
    assert all("PROGRESS-2" in text for text in cards[4].values())
    assert outputs[5][0]["text"] == "False violated\n"
    assert "preemtions" in cards[7]["text/plain"]
    assert "In [7], line" in cards[7]["text/plain"]
    assert "Hint 1 of 3" in cards[8]["text/html"]
    assert outputs[9][0]["data"]["text/plain"] == "'TODO 3 is wrong; TODO 1, 2 and 4 look right'"
