"""The exercise as it is written: open in both languages, and never over another file."""

from __future__ import annotations

import ast
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import schedmodel
from schedproof.learn import solved
from schedproof.learn.api import new
from schedproof.learn.writing import ALL, as_notebook, as_python, skeleton
from schedproof.settings import UsageError
from schedproof.subjects.loading import TODO_NUMBERS, load_class, open_todos, parse_target

LANGUAGES = ("en", "zh")


def bare(text: str) -> str:
    """The code alone: no comment, no docstring."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", ["mine.py", "mine.ipynb"])
def test_a_new_exercise_is_open_in_all_four_parts(tmp_path: Path, name: str, lang: str) -> None:
    path = new(tmp_path / "deep" / name, lang=lang)
    assert open_todos(load_class(parse_target(str(path))).cls) == list(TODO_NUMBERS)
    text = path.read_text(encoding="utf-8")
    assert all(f"TODO {number}" in text for number in (1, 2, 3, 4))
    assert "???" in text
    assert "[TODO" not in text
    assert [entry.name for entry in path.parent.iterdir()] == [name]


def test_both_languages_have_the_same_code_and_each_its_own_words() -> None:
    assert bare(skeleton("en")) == bare(skeleton("zh"))
    english, chinese = (as_python(lang, "x.py") for lang in LANGUAGES)
    assert not re.search(r"[\u4e00-\u9fff]", english)
    docstrings = re.findall(r'"""(.*?)"""', chinese, re.DOTALL)
    assert len(docstrings) > 8
    assert all(re.search(r"[\u4e00-\u9fff]", text) for text in docstrings)
    comments = re.findall(r"# (TODO \d.*)", chinese)
    assert all(re.search(r"[\u4e00-\u9fff]", text) for text in comments)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_answers_fill_the_skeleton(lang: str) -> None:
    filled, whole = (
        bare(skeleton(lang, solved=ALL)),
        bare(Path(solved.__file__).read_text("utf-8")),
    )
    assert filled in whole
    assert bare(skeleton(lang)) not in whole


@pytest.mark.parametrize("lang", LANGUAGES)
def test_lines_are_not_too_long(lang: str) -> None:
    assert max(map(len, as_python(lang, "x.py").split("\n"))) <= 100


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_notebook_is_one_and_its_cells_compile(lang: str) -> None:
    notebook = json.loads(as_notebook(lang))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids))
    code = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    assert f'set_language("{lang}")' in code[0]
    assert code[2] == "learn.check(DecodeSchedulerSim)"
    for text in code:
        compile(text, "cell", "exec")


def test_nothing_is_overwritten_and_other_suffixes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        new(path)
    assert caught.value.message_id == "usage.exists"
    assert path.read_text(encoding="utf-8") == "precious"
    with pytest.raises(UsageError) as caught:
        new(tmp_path / "mine.txt")
    assert "mine.ipynb" in caught.value.told("en")


def _random_actions(seed: int) -> list[dict[str, Any] | None]:
    chance = random.Random(seed)
    actions: list[dict[str, Any] | None] = []
    for request_id in range(6):
        actions.append(
            {
                "request_id": request_id,
                "prompt_len": chance.randint(1, 3),
                "max_new_tokens": chance.randint(1, 3),
                "priority": chance.randint(0, 2),
                "cache_hit": chance.random() < 0.5,
                "required_blocks": chance.randint(1, 4),
                "deadline_step": chance.choice([None, 40]),
                "preemptible": chance.random() < 0.7,
            }
        )
        actions += [None] * chance.randint(0, 4)
    return actions


@pytest.mark.parametrize("policy", ["fixed_priority", "aging", "deadline"])
def test_the_solved_exercise_does_what_the_model_does(policy: str) -> None:
    preempted = 0
    for seed in range(60):
        ours = solved.DecodeSchedulerSim(policy, 3, 2)
        model = schedmodel.DecodeSchedulerSim(policy, 3, 2)
        for action in _random_actions(seed):
            for scheduler in (ours, model):
                scheduler.step() if action is None else scheduler.enqueue(**action)
        assert ours.run() == model.run()
        assert (ours.clock, ours.free_kv_blocks) == (model.clock, model.free_kv_blocks)
        preempted += sum(event["preempted_request_id"] is not None for event in ours.timeline)
    assert preempted > 10


def test_the_solved_exercise_refuses_what_the_chapter_refuses() -> None:
    refused: list[dict[str, Any]] = [
        {"policy": "fcfs"},
        {"free_kv_blocks": -1},
        {"aging_interval": 0},
    ]
    for wrong in refused:
        with pytest.raises(ValueError, match=r"must be"):
            solved.DecodeSchedulerSim(**wrong)
    scheduler = solved.DecodeSchedulerSim()
    scheduler.enqueue(1, 1)
    for more in ({"request_id": 1}, {"prompt_len": 0}, {"deadline_step": 0}):
        arguments: dict[str, Any] = {"request_id": 2, "prompt_len": 1, **more}
        with pytest.raises(ValueError, match=r"must be|was used"):
            scheduler.enqueue(**arguments)
    with pytest.raises(ValueError, match=r"max_steps"):
        scheduler.run(-1)
    assert len(scheduler.run(2)) == 2
