"""Each TODO alone: the smallest case that shows a mistake, and none where there is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from schedproof.learn import solved as solved_module
from schedproof.learn.bench import Benches, Mistaken
from schedproof.learn.evidence import OPEN, WRONG, Seen
from schedproof.learn.exercise import TODOS, alone, request_class_of, todo_named
from schedproof.learn.try_capacity import states, try_capacity
from schedproof.learn.try_enqueue import try_enqueue
from schedproof.learn.try_key import try_key
from schedproof.search.isolation import Channel

MakeClass = Callable[..., type[Any]]
TRIES = {1: try_enqueue, 2: try_key, 3: try_capacity}

KEY = "-self._effective_priority(request),\n            request.total_len,"
VICTIM = 'victim.status = "preempted"\n'
INDENT = " " * 16


def seen_of(cls: type[Any], number: int) -> Seen | None:
    """What trying one TODO of a class shows; None for nothing."""
    channel = Channel(float("inf"), lambda _message: None)
    try:
        TRIES[number](Benches(cls, TODOS[number - 1], channel))
    except Mistaken as mistaken:
        return Seen.from_json(json.loads(json.dumps(mistaken.seen.to_json())))
    return None


@pytest.mark.parametrize("number", [1, 2, 3])
def test_nothing_is_found_in_what_is_right(solved: MakeClass, number: int) -> None:
    assert seen_of(solved(), number) is None


MISTAKES: list[tuple[int, tuple[str, str], str, str]] = [
    (1, ("            cache_hit=cache_hit,\n", ""), "learn.enqueue.fields", "cache_hit"),
    (1, ("cache_hit=cache_hit", "cache_hit=int(cache_hit)"), "learn.enqueue.fields", "cache_hit"),
    (1, ("max_new_tokens: int = 2", "max_new_tokens: int = 3"), "learn.enqueue.fields", "max_new"),
    (1, ("self.queue.append(request)", "self.queue.insert(0, request)"), "learn.enqueue.fi", "que"),
    (1, ("self.queue.append(request)", "pass"), "learn.enqueue.count", ""),
    (1, ("prompt_len < 1 or", "prompt_len < 5 or"), "learn.enqueue.refused", ""),
    (1, ("required_blocks < 1:", "required_blocks < 0:"), "learn.enqueue.accepted", ""),
    (1, ("        if prompt_len < 1", "        self.clock += 1\n        if prompt_len < 1"),
     "learn.enqueue.fields", "clock"),
    (2, ('self.policy == "deadline" and request', "request"), "learn.key.id", "deadline_step"),
    (2, ("self.clock - remaining", "self.clock"), "learn.key.slack", "_schedule_key"),
    (2, (KEY, KEY[1:]), "learn.key.priority", "priority"),
    (2, (KEY, KEY.partition("\n")[0]), "learn.key.length", "prompt_len"),
    (2, ("0 if request.cache_hit else 1", "0"), "learn.key.cache", "cache_hit"),
    (2, ('0 if request.phase == "prefill" else 1', "0"), "learn.key.phase", "phase"),
    (2, ("            request.request_id,\n        )", "        )"), "learn.key.id", "request_id"),
    (2, ("deadline_slack = NO_DEADLINE", "deadline_slack = request.wait_steps = 7"),
     "learn.key.changes", "wait_steps"),
    (2, ('if self.policy == "aging"', "if True"), "learn.key.id", "wait_steps"),
    (3, (VICTIM, f"{VICTIM}{INDENT}victim.generated_len = 0\n"), "learn.capacity.victim", "gen"),
    (3, (VICTIM, f"{VICTIM}{INDENT}victim.wait_steps = 0\n"), "learn.capacity.victim", "wait"),
    (3, ("+= victim.required_blocks", "+= challenger.required_blocks"), "learn.capacity.vi", "fr"),
    (3, ("(request) < self", "(request) <= self"), "learn.capacity.nobody", "return"),
    (3, ("and request.preemptible\n", ""), "learn.capacity.nobody", "return"),
    (3, ("-request.required_blocks,\n", "request.required_blocks,\n"), "learn.capacity.vic", "re"),
    (3, ("                        request.request_id,\n", ""), "learn.capacity.victim", "return"),
    (3, ("required_blocks > self.free", "required_blocks >= self.free"), "learn.capacity.fits", ""),
    (3, ("if not challenger.admitted:", "if True:"), "learn.capacity.admitted", ""),
    (3, ("if request.admitted\n", "if True\n"), "learn.capacity.nobody", "return"),
    (3, ("return None if victim is None else victim.request_id", "return victim"),
     "learn.capacity.victim", "return"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "change", "text", "name"), MISTAKES)
def test_a_mistake_is_shown_by_its_smallest_case(
    solved: MakeClass, number: int, change: tuple[str, str], text: str, name: str
) -> None:
    seen = seen_of(solved(change), number)
    assert seen is not None
    assert seen.case is not None
    assert (seen.number, seen.state, seen.trouble) == (number, WRONG, None)
    assert seen.case.text.startswith(text)
    assert any(shown.name.startswith(name) for shown in seen.case.shown) or not name


@pytest.mark.parametrize(("number", "change", "text", "name"), MISTAKES[-10:])
def test_the_lines_of_a_case_can_be_typed_again(
    solved: MakeClass, number: int, change: tuple[str, str], text: str, name: str
) -> None:
    """They lead to what is shown: as they stand, on the class itself."""
    cls = solved(change)
    seen = seen_of(cls, number)
    assert seen is not None
    assert seen.case is not None
    names: dict[str, Any] = {"DecodeSchedulerSim": cls}
    *lines, last = seen.case.code
    exec("\n".join(lines), names)
    answer = eval(last, names)
    for shown in seen.case.shown:
        if shown.name == "return" and type(shown.got) is not str:
            assert answer == shown.got
        if shown.whose is not None:
            request = next(r for r in names["s"].queue if r.request_id == shown.whose)
            assert getattr(request, shown.name) == shown.got != shown.must_be


def test_another_key_of_the_same_order_is_right(solved: MakeClass) -> None:
    key = (
        "            phase_rank,\n            cache_rank,",
        "            2 * phase_rank + cache_rank,",
    )
    assert seen_of(solved(("1_000_000_000\n\n", "float('inf')\n\n"), key), 2) is None


def test_what_is_open_or_crashes_when_it_runs_is_told_apart(solved: MakeClass) -> None:
    late = (
        "victim = None\n        if not",
        "if self.clock == 0: raise NotImplementedError\n        if not",
    )
    seen = seen_of(solved(late), 3)
    assert seen is not None
    assert seen.state == OPEN
    seen = seen_of(solved(("victim.preemptions += 1", "victim.preemtions += 1")), 3)
    assert seen is not None
    assert seen.state == WRONG
    assert seen.case is not None
    assert seen.trouble is not None
    assert seen.case.code[-1] == "s._ensure_capacity(s.queue[1])"
    assert seen.trouble.place is not None
    assert seen.trouble.place["function"] == "_ensure_capacity"


def test_the_other_parts_do_not_matter(solved: MakeClass) -> None:
    broken = solved(
        ("        # TODO 2", "        raise OSError\n        # TODO 2"),
        ('if self.policy == "aging":', "if request.no_such_field:"),
        ("            cache_hit=cache_hit,\n", ""),
    )
    assert seen_of(broken, 3) is None
    whole = alone(broken, None)
    assert whole.__name__ == "DecodeSchedulerSim"
    assert issubclass(whole, broken)
    assert vars(broken)["step"] is not vars(whole)["step"]


def test_our_parts_make_requests_of_the_learners_class(solved: MakeClass) -> None:
    cls = solved(("    preemptions: int = 0\n", "    preemptions: int = 0\n    saved: int = 5\n"))
    scheduler = alone(cls, TODOS[3])("aging", 3, 2)
    scheduler.enqueue(1, 4, priority=2)
    assert (scheduler.queue[0].saved, scheduler.queue[0].priority) == (5, 2)
    other = solved(("    preemptions: int = 0\n", "    preemptions: int = 0\n    more: int\n"
                    .replace("more: int", "def __post_init__(self): raise OSError")))  # fmt: skip
    assert request_class_of(other) is solved_module.RequestState


def test_states_are_tried_from_the_plainest_on() -> None:
    counts = [len(state.others) for state in states()]
    assert counts == sorted(counts)
    assert {state.policy for state in states()} == {"fixed_priority", "deadline", "aging"}


@pytest.mark.parametrize("text", ["TODO 3", "todo3", " 3 ", 3, "TODO #3", "_ensure_capacity"])
def test_a_todo_has_many_names(text: str | int) -> None:
    found = todo_named(text)
    assert found is not None
    assert found.number == 3


@pytest.mark.parametrize("text", ["TODO 5", "", "0", "run", "three"])
def test_other_names_name_none(text: str) -> None:
    assert todo_named(text) is None
