"""The event: what a step that served somebody reports.

Rules. An event is a plain dict with exactly ten keys; lengths, waits and blocks are those
after the step. `deadline_missed` judges the step to come: a request whose remaining steps,
begun right after this one, would end beyond its deadline has missed it.
"""

from __future__ import annotations

from typing import TypedDict

from schedmodel.policy import Ranked, remaining_steps


class Event(TypedDict):
    """What was served, and the state after it."""

    request_id: int
    phase: str
    action: str
    prompt_len: int
    generated_len: int
    max_new_tokens: int
    wait_steps: int
    free_kv_blocks: int
    preempted_request_id: int | None
    deadline_missed: bool


PREFILL_TO_DECODE, DECODE_ONE_STEP, FINISH = "prefill_to_decode", "decode_one_step", "finish"
ACTIONS = (PREFILL_TO_DECODE, DECODE_ONE_STEP, FINISH)


def deadline_missed(request: Ranked, clock: int) -> bool:
    """Whether a request that was just served at `clock` can no longer end in time."""
    deadline = request.deadline_step
    return deadline is not None and clock + 1 + remaining_steps(request) > deadline
