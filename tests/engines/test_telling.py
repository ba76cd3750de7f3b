"""A check of an engine as a person sees it: from the command to the story, in both languages."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from tests.engines.conftest import TINY, MakeTiny, searched

import schedproof
from schedproof.engines.adapter import Request, Setup, Work
from schedproof.engines.forward import Cache, Tokens
from schedproof.engines.nano_vllm import NanoVllm
from schedproof.search.engines.box import Plan
from schedproof.search.engines.shrinking import smaller
from schedproof.search.results import RunResult
from schedproof.settings import UsageError
from schedproof.subjects.actions import EngineEnqueue, from_json, to_json
from schedproof.subjects.load_errors import TargetError
from schedproof.subjects.observation import Foreign
from schedproof.telling.report import Summary, render_text

ADAPTER = """\
from schedproof.engines.nano_vllm import NanoVllm


class Mine(NanoVllm):
    package = {package!r}
"""


@pytest.mark.unmeasured
def test_an_engine_is_checked_in_a_child_and_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(ADAPTER.format(package=str(TINY)), encoding="utf-8")
    result = schedproof.check(
        f"adapter:{file}",
        requests=2,
        blocks=4,
        seed=3,
        claims="KV,LEDGER",
        profile="ci",
        time="10m",  # however busy the machine
    )
    run = result.runs[0]
    assert (result.verdict, result.exit_code, run.seed) == ("no_violation_found", 0, 3)
    assert run.bounds["requests"] == 2
    assert "random search" in result.explain("en")


def test_a_story_of_an_engine_tells_prompts_in_both_languages(broken: MakeTiny) -> None:
    adapter = broken("range(self.size, len(seq), self", "range(self.size, len(seq) + 1, self")
    found = searched(adapter, 500, shrink_seconds=2.0)
    example = found.counterexamples[0]
    prompts = [action["args"]["token_ids"] for action in example.actions if "args" in action]
    assert prompts in ([[0], [0, 0]], [[0, 0], [0, 0]])  # which one is met first is chance
    assert example.blocks == 1
    for lang, words in (("en", "prompt [0, 0], max_new 1"), ("zh", "prompt [0, 0]，max_new 1")):
        told = render_text(Summary("tiny", (found,), 1.0), lang)
        assert words in told
    assert RunResult.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_an_exception_is_told_with_its_place(broken: MakeTiny) -> None:
    adapter = broken("        if not self.free_block_ids:\n            return False\n", "")
    told = render_text(Summary("tiny", (searched(adapter, 500),), 1.0), "en")
    assert "schedule raised IndexError: pop from an empty deque (engine/scheduler.py" in told


def test_an_exception_that_names_an_object_is_the_same_each_time(broken: MakeTiny) -> None:
    adapter = broken(
        "        return self.decodes(), False",
        "        if len(self.waiting) + len(self.running) == 2:\n"
        "            raise ValueError(f'{self!r} is lost')\n"
        "        return self.decodes(), False",
    )
    found = searched(adapter, 500)
    assert found.verdict == "violated"
    assert found.counterexamples[0].values["text"].endswith("Scheduler object> is lost")


def test_a_package_in_a_folder_of_another_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "tiny"]:
        monkeypatch.delitem(sys.modules, name)  # other tests have imported it
    shutil.copytree(Path(__file__).parent / "tiny", tmp_path / "mine")
    with pytest.raises(TargetError, match="Name the folder tiny, and check that"):
        schedproof.check(f"nano-vllm:{tmp_path / 'mine'}")


def test_a_request_that_is_lost_in_a_step_has_no_number_of_its_token(broken: MakeTiny) -> None:
    adapter = broken("seq.token_ids.append(token)", "self.running.remove(seq)")
    story = render_text(Summary("tiny", (searched(adapter, 500),), 1.0), "en")
    assert "LIFE-4" in story
    assert "None" not in story


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("nano-vllm:no_such_package", "no_such_package was not found"),
        (f"adapter:{Path(__file__).parent / 'conftest.py'}", "exactly one subclass"),
    ],
)
def test_what_cannot_be_loaded_is_told(target: str, text: str) -> None:
    with pytest.raises(TargetError, match=text):
        schedproof.check(target)


def test_options_of_other_searches_are_refused() -> None:
    with pytest.raises(UsageError, match="--scope is not for engines"):
        schedproof.check(f"nano-vllm:{TINY}", scope="small")


def test_an_enqueue_with_a_prompt_has_a_json_form() -> None:
    action = EngineEnqueue.of(1, [0, 1], 3)
    assert action.prompt_len == 2
    assert from_json(json.loads(json.dumps(to_json(action)))) == action


def test_a_slot_holds_what_it_was_computed_for() -> None:
    tokens = {0: Tokens([0, 0, 0]), 1: Tokens([1, 0])}
    cache = Cache(3, 2)
    assert cache.run([Work(0, 0, 2, [0]), Work(1, 0, 2, [1])], tokens) == (4, None)
    assert cache.run([Work(0, 2, 3, [0, 2])], tokens) == (3, None)
    cache.copy([(1, 0)])
    foreign = cache.run([Work(0, 2, 3, [0, 2])], tokens)[1]
    assert foreign == Foreign("foreign", 0, 0, 0, 0, 1, 0)


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        (Work(0, 2, 4, [0, 1]), "past_end"),
        (Work(0, 2, 3, [0]), "no_block"),
        (Work(0, 2, 3, [0, 1]), "empty"),
    ],
)
def test_what_cannot_be_read_is_named(work: Work, kind: str) -> None:
    foreign = Cache(2, 2).run([work], {0: Tokens([0, 0, 0])})[1]
    assert foreign is not None
    assert foreign.kind == kind


def test_smaller_plans_are_smaller(tiny: NanoVllm) -> None:
    requests = ((0, Request(0, (1, 1, 0), 4)), (2, Request(1, (1, 0), 2)))
    plan = Plan(Setup(4, 4, 2, 8), "fcfs", requests)
    found = list(smaller(plan))
    assert len(found) > 20
    assert all(each.size < plan.size for each in found)
    assert any(len(each.requests) == 1 for each in found)
