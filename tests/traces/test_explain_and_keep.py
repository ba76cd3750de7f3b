"""What `check` keeps, what `explain` says of it, and what `minimize` makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.traces.conftest import LOSES_A_TOKEN, Keep, Run, enqueue

import schedproof
from schedproof.subjects.actions import STEP
from schedproof.traces.store import Store

CHECK = ("check", "fault:exact-fit-waits", "--requests", "1")


def test_check_keeps_what_it_finds_and_says_what_to_type_next(run: Run) -> None:
    said = run(*CHECK, "--policy", "aging,fcfs")
    kept = Store().all()
    assert {each.trace.config.policy for each in kept} == {"aging", "fcfs"}
    assert all(each.trace.fingerprint for each in kept)
    assert "Kept in .schedproof: 2 traces." in said.out
    assert "The same actions break it under fcfs, too." in said.out
    told = [line.split("  ")[1] for line in said.out.splitlines() if line.startswith("  schedp")]
    (name,) = {command.split()[-1] for command in told[:2]}
    assert told == [
        f"schedproof replay {name}",
        f"schedproof explain {name}",
        "schedproof claims show WORK-1",
    ]
    for command in told:
        assert run(*command.split()[1:]).code in (0, 1)


def test_nothing_is_kept_when_nobody_wants_it(
    run: Run, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = run(*CHECK, "--policy", "aging", "--no-save")
    assert said.code == 1
    assert "Kept in" not in said.out
    assert "schedproof claims show WORK-1" in said.out
    monkeypatch.setenv("SCHEDPROOF_NO_SAVE", "1")
    run(*CHECK, "--policy", "aging")
    result = schedproof.check("fault:exact-fit-waits", policy="aging", requests=1)
    assert (result.kept, result.first is not None) == ((), True)
    assert not (alone / ".schedproof").exists()


def test_python_keeps_traces_where_it_is_told_to() -> None:
    result = schedproof.check("fault:exact-fit-waits", policy="aging", requests=1, no_save=False)
    assert result.first is not None
    assert [path.name for path in result.kept] == [f"{result.first.kept_as}.json"]


def test_a_folder_that_cannot_be_written_to_is_no_failure_of_the_check(
    run: Run, alone: Path
) -> None:
    (alone / ".schedproof").write_text("a file", encoding="utf-8")
    said = run(*CHECK, "--policy", "aging,fcfs")
    assert said.code == 1
    assert said.err.count("could not be kept") == 1
    assert "Again" not in said.out


def test_a_scheduler_that_raises_leaves_a_trace(run: Run) -> None:
    said = run("check", "fault:empty-step-raises", "--policy", "fcfs", "--requests", "1")
    assert said.code == 3
    (kept,) = Store().all()
    assert (kept.trace.verdict, kept.trace.trouble, kept.trace.claim) == ("error", "raised", None)
    assert run("replay").code == 3


def test_a_class_in_python_is_named_so_that_it_can_be_found_again(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (alone / "waiting.py").write_text(
        "from schedmodel import DecodeSchedulerSim\n\n\nclass Waits(DecodeSchedulerSim):\n"
        "    def step(self):\n        return None\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(alone))
    from waiting import Waits  # type: ignore[import-not-found]

    schedproof.check(Waits, policy="fcfs", requests=1, no_save=False)
    (kept,) = Store().all()
    assert kept.trace.subject == "waiting:Waits"


def test_a_trace_file_as_a_target_is_replayed(run: Run, keep: Keep) -> None:
    path = str(keep().path)
    assert run("check", path).out == run("replay", path).out
    assert json.loads(run("check", path, "--json").out)["schema"] == "schedproof/replay"


def test_each_step_is_explained_with_the_column_that_decides(run: Run, keep: Keep) -> None:
    name = keep().name
    said = run("explain", name)
    assert said.code == 0
    assert [line for line in said.out.splitlines() if line.startswith("Action ")] == [
        "Action 2 · clock 0 · 3 of 3 blocks free",
        "Action 3 · clock 1 · 1 of 3 blocks free",
        "Action 5 · clock 2 · 1 of 3 blocks free",
    ]
    only = run("explain", name, "--step", "5").out
    assert "decode*" in only
    assert "comes later, by phase" in only
    assert "r1 is served, and r0 makes room for it, as the rules say." in only
    assert "Action 2" not in only


def test_the_reason_for_each_that_was_passed_over(run: Run, keep: Keep) -> None:
    actions = [
        enqueue(0, 2, preemptible=False),
        STEP,
        enqueue(1, 1, max_new_tokens=1, priority=1),
        STEP,
        enqueue(2, 3, priority=2),
        STEP,
    ]
    out = " ".join(run("explain", keep(subject="model", actions=actions).name).out.split())
    assert "passed over: needs 3 blocks, 0 free; r0 is not preemptible; r1 would give only" in out


def test_what_the_scheduler_did_and_the_rules_do_not_say(run: Run, keep: Keep) -> None:
    actions = [enqueue(0), enqueue(1, cache_hit=True), STEP]
    name = keep(subject="fault:cache-rank-reversed", actions=actions, claim="ORDER-1").name
    assert "r0 is served. By the rules: r1 is served." in run("explain", name).out
    assert "服务 r0。按规则应当是：服务 r1。" in run("explain", name, "--lang", "zh").out
    assert "as the rules say" in run("explain", name, "--on", "model").out
    record = json.loads(run("explain", name, "--json").out)
    (decision,) = record["decisions"]
    assert (record["schema"], decision["as_ruled"]) == ("schedproof/explain", False)
    assert (decision["served"], decision["why"]["chosen"]) == (0, 1)


def test_deadlines_and_reserved_blocks_are_explained(run: Run, keep: Keep) -> None:
    late = [enqueue(0), enqueue(1, deadline_step=9), STEP]
    out = run("explain", keep(subject="model", actions=late, policy="deadline").name).out
    assert "slack" in out
    assert "comes later, by slack" in out
    kept_free = [enqueue(0, 2), STEP, enqueue(1, 3, priority=1), enqueue(2, 1), STEP, STEP]
    name = keep(subject="model", actions=kept_free, policy="reserved_aging").name
    assert run("explain", name).code == 0


def test_mistakes_about_steps(run: Run, keep: Keep) -> None:
    name = keep().name
    said = run("explain", name, "--step", "4")
    assert (said.code, said.out) == (2, "")
    assert "is no step. Its steps are: 2, 3, 5." in said.err
    assert run("explain", name, "--step", "x").code == 2
    assert "has no step to explain" in run("explain", keep(actions=[enqueue(0)]).name).out


def test_a_crash_ends_the_explanation(run: Run, keep: Keep) -> None:
    kept = keep(subject="fault:empty-step-raises", actions=[STEP], claim=None)
    said = run("explain", kept.name)
    assert said.code == 3
    assert "AssertionError" in said.out


def test_a_long_trace_is_made_smaller_and_kept(run: Run, keep: Keep) -> None:
    long = [*LOSES_A_TOKEN[:3], enqueue(7), *LOSES_A_TOKEN[3:]]
    kept = keep(actions=long, shortest=False)
    said = run("minimize", kept.name)
    assert said.code == 0
    first = " ".join(said.out.splitlines()[:2])
    assert "6 actions became 5, kept as PROGRESS-2-" in first
    assert "no shorter trace breaks this claim" in " ".join(first.split())
    smaller = next(each for each in Store().all() if each.name != kept.name)
    assert (smaller.trace.length, smaller.trace.shortest) == (5, True)
    again = run("minimize", smaller.name)
    assert again.out.startswith(f"{smaller.name}: nothing to leave out. 5 actions, no shorter")


def test_what_is_not_broken_cannot_be_made_smaller(run: Run, keep: Keep) -> None:
    assert "fixed" in run("minimize", keep(subject="model").name).out
    lasso = {"request": 0, "stem": 2, "loop": 1}
    actions = [enqueue(0, 3), enqueue(1, 1, max_new_tokens=9, priority=5), *[STEP] * 4]
    name = keep(subject="model", claim="LIVE-2", lasso=lasso, actions=actions).name
    assert "its loop is what it is about" in run("minimize", name).out
