"""Replays: still broken, broken otherwise, fixed, no longer fits, error; and many at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.conftest import FORGETS, LOSES_A_TOKEN, Keep, Run, enqueue

from schedproof.search.isolation import Limits
from schedproof.subjects.actions import STEP, Abort, Enqueue
from schedproof.traces import children
from schedproof.traces import replay as replays
from schedproof.traces.replay import replay
from schedproof.traces.taken import FAILED, FIXED, OTHERWISE, STILL, UNFIT

FORGETFUL = "        victim.generated_len = 0\n"


def status(keep: Keep, on: str | None = None, **fields: Any) -> str:
    (replayed,) = replay([keep(**fields)], on)
    return replayed.taken.status


def test_still_broken(keep: Keep) -> None:
    (replayed,) = replay([keep()])
    example = replayed.taken.example
    assert (replayed.taken.status, replayed.exit_code) == (STILL, 1)
    assert example is not None
    assert (example.claim, example.length, example.shortest) == ("PROGRESS-2", 5, True)
    assert example.evidence is not None
    assert "PROGRESS-1" in example.also_broken


def test_fixed_on_the_model(keep: Keep) -> None:
    (replayed,) = replay([keep()], "model")
    assert (replayed.taken.status, replayed.exit_code, replayed.edited) == (FIXED, 0, None)


def test_broken_otherwise(keep: Keep) -> None:
    (replayed,) = replay([keep()], "fault:finish-keeps-blocks")
    assert (replayed.taken.status, replayed.exit_code) == (OTHERWISE, 1)
    assert replayed.taken.example is not None
    assert replayed.taken.example.claim == "LEDGER-1"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"policy": "fixed_priority", "claim": "NOTHING-9"}, "unfit.claim_unknown"),
        ({"claim": "ORDER-2", "policy": "fcfs"}, "unfit.claim_not_applicable"),
        ({"actions": [enqueue(0), Abort(0)]}, "unfit.no_verb"),
        ({"claim": "LIVE-2"}, "unfit.no_loop"),
        ({"subject": "fault:no-such-fault"}, "unfit.fault_unknown"),
        ({"subject": "nowhere.py:Class"}, "target.no_file"),
    ],
)
def test_no_longer_fits_says_why(keep: Keep, fields: dict[str, object], reason: str) -> None:
    (replayed,) = replay([keep(**fields)])
    assert (replayed.taken.status, replayed.exit_code) == (UNFIT, 5)
    assert replayed.taken.reason == reason


def test_no_longer_fits_without_the_policy(keep: Keep, broken_file: Path) -> None:
    text = broken_file.read_text(encoding="utf-8")
    refusing = text.replace(
        "    def __init__(\n",
        "    def __init__(self, **more):\n        raise ValueError('no policies')\n\n"
        "    def was_init(\n",
        1,
    )
    assert refusing != text
    broken_file.write_text(refusing, encoding="utf-8")
    (replayed,) = replay([keep(subject="mine.py")])
    assert replayed.taken.reason == "unfit.policy"
    assert "no policies" in str(replayed.taken.values)


def test_no_longer_fits_where_nothing_is_preempted_any_more(keep: Keep, alone: Path) -> None:
    (alone / "kind.py").write_text(
        "from schedmodel import DecodeSchedulerSim\n\n\n"
        "class Kind(DecodeSchedulerSim):\n"
        "    def enqueue(self, *, preemptible=True, **more):\n"
        "        return super().enqueue(preemptible=False, **more)\n",
        encoding="utf-8",
    )
    (replayed,) = replay([keep(subject="kind.py:Kind")])
    assert (replayed.taken.status, replayed.taken.reason) == (UNFIT, "unfit.not_exercised")


def test_a_scheduler_that_raises(keep: Keep) -> None:
    raising = "fault:empty-step-raises"
    assert status(keep, subject=raising, actions=[STEP]) == FAILED
    (replayed,) = replay([keep(subject=raising, actions=[STEP], claim=None)])
    assert (replayed.taken.status, replayed.exit_code) == (STILL, 3)
    assert status(keep, on="model", subject=raising, actions=[STEP], claim=None) == FIXED


def test_a_scheduler_that_hangs_is_an_error(
    keep: Keep, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    limits = Limits(seconds=5.0, memory_mib=1024, action_seconds=0.3)
    monkeypatch.setattr(replays, "do_all", lambda tasks: children.do_all(tasks, limits))
    (alone / "slow.py").write_text(
        "from schedmodel import DecodeSchedulerSim\n\n\n"
        "class Slow(DecodeSchedulerSim):\n    def step(self):\n        while True:\n"
        "            pass\n",
        encoding="utf-8",
    )
    (replayed,) = replay([keep(subject="slow.py:Slow")])
    assert replayed.taken.status == FAILED
    assert replayed.taken.trouble is not None
    assert replayed.taken.trouble.kind == "hung"


def test_an_endless_wait_is_taken_again(keep: Keep) -> None:
    stem = [enqueue(0, 3), enqueue(1, 1, max_new_tokens=9, priority=5)]
    loop = [STEP]
    lasso = {"request": 0, "stem": 2, "loop": 1}
    fields: dict[str, Any] = {"claim": "LIVE-2", "lasso": lasso, "subject": "model"}
    assert status(keep, actions=[*stem, *loop * 4], **fields) == STILL
    assert status(keep, actions=[enqueue(0, 3), STEP, *loop * 4], **fields) == FIXED


def test_a_claim_about_a_whole_run(keep: Keep) -> None:
    actions = [enqueue(0, 2), enqueue(1, 2, max_new_tokens=1, priority=1), *[STEP] * 4]
    subject = "fault:exact-fit-waits"
    assert status(keep, subject=subject, actions=[enqueue(0, 3)], claim="LIVE-1") == STILL
    assert status(keep, subject="model", actions=actions, claim="LIVE-1") == FIXED


def test_an_edited_file_is_said_to_be(run: Run, broken_file: Path) -> None:
    target = f"{broken_file.name}:DecodeSchedulerSim"
    assert run("check", target, "--policy", "fixed_priority", "--requests", "2").code == 1
    said = run("replay", "progress")
    assert said.code == 1
    assert ": still broken, at action 5 of 5" in said.out
    assert "Its source is the same as when this trace was found." in " ".join(said.out.split())
    text = broken_file.read_text(encoding="utf-8")
    assert FORGETFUL in text
    broken_file.write_text(text.replace(FORGETFUL, ""), encoding="utf-8")
    said = run("replay", "progress")
    assert said.code == 0
    assert said.out.startswith("✓ PROGRESS-2-")
    assert "Its source has changed since this trace was found." in " ".join(said.out.split())


def test_many_at_once_end_with_the_worst(run: Run, keep: Keep) -> None:
    keep()
    keep(subject="model")
    keep(subject="nowhere.py:Class")
    said = run("replay", "--all")
    assert said.code == 1
    lines = said.out.splitlines()
    assert [line[0] for line in lines[:3]].count("✗") == 1
    assert lines[-1] == "3 traces: 1 still broken, 1 no longer fits, 1 fixed"
    record = json.loads(run("replay", "--all", "--json").out)
    assert record["schema"] == "schedproof/replay"
    assert record["exit_code"] == 1
    assert sorted(each["status"] for each in record["replays"]) == sorted([STILL, UNFIT, FIXED])


def test_the_exit_code_of_several_is_that_of_the_worst(run: Run, keep: Keep) -> None:
    keep(subject="model")
    assert run("replay", "--all").code == 0
    keep(subject="nowhere.py:Class")
    assert run("replay", "--all").code == 5
    keep(subject="fault:empty-step-raises", actions=[STEP], claim=None)
    assert run("replay", "--all").code == 3


def test_without_traces_there_is_nothing_to_replay(run: Run) -> None:
    said = run("replay", "--all")
    assert (said.code, said.out) == (
        0,
        "No traces are kept in .schedproof, so there is nothing to replay.\n",
    )
    assert run("replay").code == 2
    assert "--all, not both" in run("replay", "PROGRESS-2", "--all").err


def test_a_bad_file_is_a_mistake_of_usage(run: Run, alone: Path) -> None:
    (alone / "t.json").write_text('{"schema": 1}', encoding="utf-8")
    said = run("replay", "t.json")
    assert (said.code, said.out) == (2, "")
    assert "t.json, line 1: this is no trace" in said.err


def test_a_trace_from_another_folder_finds_its_file(
    run: Run, broken_file: Path, monkeypatch: pytest.MonkeyPatch, keep: Keep
) -> None:
    kept = keep(subject=f"{broken_file.name}:DecodeSchedulerSim").path.absolute()
    elsewhere = broken_file.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run("replay", str(kept)).code == 1


def test_the_trace_of_the_fault_has_its_actions() -> None:
    assert FORGETS == "preempt-forgets-tokens"
    assert len(LOSES_A_TOKEN) == 5


def test_no_shorter_trace_is_said_only_of_the_scheduler_it_was_proved_of(
    run: Run, broken_file: Path
) -> None:
    run("check", "mine.py", "--policy", "fixed_priority", "--claims", "PROGRESS-2")
    proved = "no shorter trace breaks this claim"
    assert proved in run("replay").out
    assert proved not in run("replay", "--on", f"fault:{FORGETS}").out
    text = broken_file.read_text(encoding="utf-8")
    broken_file.write_text(text + "\n# edited\n", encoding="utf-8")
    assert proved not in run("replay").out


@pytest.mark.parametrize("name", ["prompt_len", "required_blocks", "deadline_step"])
def test_a_text_where_a_number_belongs_is_the_schedulers_to_refuse(
    keep: Keep, broken_file: Path, name: str
) -> None:
    actions = [Enqueue(0, **{"prompt_len": 1, name: "2"}), STEP]
    (replayed,) = replay([keep(subject=f"{broken_file.name}:DecodeSchedulerSim", actions=actions)])
    trouble = replayed.taken.trouble
    assert trouble is not None
    assert trouble.kind == "raised"


def test_an_id_that_is_a_list_is_refused_with_the_reason(run: Run, keep: Keep) -> None:
    path = keep(actions=[enqueue([1]), STEP]).path  # type: ignore[arg-type]
    said = run("replay", str(path))
    assert (said.code, "request_id must be a number or a text, got [1]" in said.err) == (2, True)
