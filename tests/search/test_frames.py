"""Frames of a trace: differences that add up to the states they were made from."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schedproof.search.frames import Frame, frame_after, states_of

VALUES = st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.sampled_from(["waiting", ""]))
FIELDS = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)
STATES = st.lists(st.dictionaries(st.sampled_from("012"), FIELDS, max_size=3), max_size=6)
State = dict[str, dict[str, Any]]


def frames_of(states: list[State]) -> list[Frame]:
    start: list[State] = [{}]
    befores: list[State] = start + states
    return [
        frame_after(before, after, clock=0, free=3)
        for before, after in zip(befores, states, strict=False)
    ]


@given(STATES)
def test_frames_add_up_to_the_states(states: list[State]) -> None:
    told = json.loads(json.dumps([asdict(frame) for frame in frames_of(states)]))
    again = [Frame.from_json(record) for record in told]
    assert again == frames_of(states)
    # True and 1 are equal in Python, and not the same on a page.
    assert repr([_sorted(s) for s in states_of(again)]) == repr([_sorted(s) for s in states])


def _sorted(state: State) -> list[tuple[str, list[tuple[str, Any]]]]:
    return sorted((i, sorted(fields.items())) for i, fields in state.items())


def test_what_stays_is_not_told_again() -> None:
    before: State = {"0": {"phase": "prefill", "wait_steps": 1}, "1": {"phase": "decode"}}
    after: State = {"0": {"phase": "decode", "wait_steps": 1}, "1": {"phase": "decode"}}
    frame = frame_after(before, after, clock=1, free=2, served=(0,))
    assert frame == Frame(1, 2, {"0": {"phase": "decode"}}, served=(0,))
