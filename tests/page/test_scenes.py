"""Scenes: what the player shows after each action, and the table that shows the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.page.conftest import Reader

import schedproof
from schedproof.page.columns import cell, changed, more, name_of, used_columns
from schedproof.page.document import page
from schedproof.page.html import Html, both, element
from schedproof.page.scenes import scenes_of, told
from schedproof.search.results import Counterexample, RunResult
from schedproof.telling.messages import tell
from schedproof.telling.report import Summary

Found = Callable[[str], RunResult]


def test_scenes_are_the_start_and_one_after_each_action(found: Found) -> None:
    (example,) = found("progress-2").counterexamples
    scenes = scenes_of(example, example.length)
    assert [scene.free for scene in scenes] == [3, *(step.free for step in example.trail)]
    assert [scene.missing for scene in scenes] == [0] * 6
    assert scenes[-1].held == {"2": 2}
    assert example.after is not None
    for request_id, fields in example.after.requests.items():
        assert fields.items() <= scenes[-1].requests[request_id].items()


def test_missing_and_surplus_blocks_are_counted(found: Found) -> None:
    (example,) = found("ledger-1").counterexamples
    scenes = scenes_of(example, example.length)
    assert [scene.missing for scene in scenes] == [0, 0, 0, 0, 1]
    more_free = replace(example.frames[-1], free=5)
    odd = replace(example, frames=(*example.frames[:-1], more_free))
    assert scenes_of(odd, example.length)[-1].missing == -4


def test_effective_priority_and_slack_are_worked_out(found: Found) -> None:
    (example,) = found("victim-2-aging").counterexamples
    scenes = scenes_of(example, example.length)
    last = scenes[-1].requests["2"]
    assert last["effective_priority"] == last["priority"] + last["wait_steps"] // 2
    frame = example.frames[1]
    dated = {**frame.changed["1"], "deadline_step": 7}
    late = replace(example, frames=(example.frames[0], replace(frame, changed={"1": dated})))
    # One prefill and nine tokens remain of a deadline at step 7.
    assert scenes_of(late, 1)[-1].requests["1"]["slack"] == 7 - 0 - 10


def test_scheduler_that_stores_odd_values_is_shown_as_it_is(found: Found) -> None:
    (example,) = found("victim-2-aging").counterexamples
    frame = example.frames[1]
    odd = {**frame.changed["1"], "wait_steps": "many", "deadline_step": "soon"}
    frames = (example.frames[0], replace(frame, changed={"1": odd}))
    (_, scene) = scenes_of(replace(example, frames=frames), 1)
    assert "slack" not in scene.requests["1"]
    assert cell("waited", scene.requests["1"]) == "many"


def test_fields_that_nobody_sees_are_left_out_unless_guilty(found: Found) -> None:
    (example,) = found("ledger-1").counterexamples
    frame = example.frames[1]
    large = {**frame.changed["1"], "tokens": "x" * 10_000, "block_ids": [1, 2]}
    frames = (example.frames[0], replace(frame, changed={"1": large}))
    seen = scenes_of(replace(example, frames=frames), 1)[-1].requests["1"]
    assert "tokens" not in seen
    assert seen["block_ids"] == [1, 2]
    guilty = replace(example, frames=frames, guilty=((1, "tokens"),))
    assert "tokens" in scenes_of(guilty, 1)[-1].requests["1"]


def test_page_gets_differences_only(found: Found) -> None:
    (example,) = found("progress-2").counterexamples
    records = told(scenes_of(example, example.length))
    assert records[0] == {"clock": 0, "free": 3}
    assert records[3]["changed"] == {"1": {"generated_len": 1}}
    assert records[5]["ways"]["1"] == [["decode", "preempted"], True]
    assert records[5]["preempted"] == ["1"]


def test_cells_are_numbers_and_names() -> None:
    fields = {"status": "running", "state": "decode", "generated_len": 1, "max_new_tokens": 3}
    fields |= {"priority": 2, "effective_priority": 5, "deadline_step": 4, "slack": -1}
    assert cell("status", fields) == "▶ running"
    assert cell("generated", fields) == "1/3"
    assert cell("priority", fields) == "2 → 5"
    assert cell("deadline", fields) == "4 (-1)"
    assert cell("phase", fields) == "–"
    held = {"held_blocks": 2, "required_blocks": 3, "block_ids": [0, 4]}
    assert cell("blocks", held) == "2/3 #0 #4"
    assert changed("blocks", held, {**held, "block_ids": [0, 5]})
    assert used_columns([{"0": fields}]) == ["status", "generated", "priority", "deadline"]
    assert name_of("3") == "r3"
    assert name_of("a'b") == '"a\'b"'


def test_passing_time_is_no_change() -> None:
    before = {"wait_steps": 1, "priority": 1, "effective_priority": 1, "slack": 3}
    after = {**before, "wait_steps": 2, "effective_priority": 2, "slack": 2}
    assert not any(changed(column, before, after) for column in ("waited", "priority", "deadline"))
    assert changed("priority", before, {**after, "priority": 4})
    assert not changed("priority", None, after)


def test_guilty_extra_is_told_in_words() -> None:
    fields = {"prompt_len": 2, "cache_hit": True, "preemptible": False, "secret": 5}
    assert more(tell("en"), fields, ["secret", "generated_len"]) == [
        "prompt 2",
        "cache hit",
        "not preemptible",
        "✗ secret = 5",
    ]


def test_html_escapes_all_but_html() -> None:
    made = element("p", "<b>", element("i", 'a"'), title='"<', hidden=True, class_=None)
    assert made == '<p title="&quot;&lt;" hidden>&lt;b&gt;<i>a&quot;</i></p>'
    assert isinstance(made, Html)
    assert both(lambda say: say("list.comma", first="<", second=">")).count("&lt;, &gt;") == 1


@pytest.fixture(scope="module")
def paged() -> Counterexample:
    """A violation over numbered blocks, with steps in flight."""
    (run,) = schedproof.check(
        "fault:known-before-it-is-computed", policy="fcfs", time="5m", no_save=True
    ).runs
    return run.counterexamples[0]


def test_steps_in_flight_are_followed_from_action_to_action(paged: Counterexample) -> None:
    scenes = scenes_of(paged, paged.length)
    assert paged.before is not None
    assert paged.after is not None
    for scene, moment in ((scenes[-2], paged.before), (scenes[-1], paged.after)):
        flying = [[[i, first, last + 1] for i, first, last in flight] for flight in scene.flights]
        assert flying == [[list(part) for part in flight] for flight in moment.in_flight]
    assert scenes[-2].flights
    assert not scenes[0].flights


def test_page_gets_what_the_blocks_are_drawn_from(paged: Counterexample) -> None:
    run = replace(RunResult.blank("fcfs", "exhaustive", {}), counterexamples=(paged,))
    source = page(Summary("fault", (run,), 1.0), "en")
    record = Reader(source).data["examples"][0]
    assert (record["block_size"], record["blocks"]) == (2, 2)
    assert record["slot"] == [paged.values["block"], paged.values["offset"]]
    fields = scenes_of(paged, paged.length)[-2].requests
    assert any(row["block_ids"] for row in fields.values())
    assert all("computed_len" in row for row in fields.values())
