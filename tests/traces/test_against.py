"""The claim that a scheduler does what the built-in model does, and `diff` of any two."""

from __future__ import annotations

import pytest
from tests.traces.conftest import Keep, Run, enqueue

import schedproof
from schedproof.claims.against import MODEL_1
from schedproof.subjects.actions import STEP


def against(name: str) -> tuple[str, str, int]:
    """The claim, the text and the length of what a fault does otherwise than the model."""
    result = schedproof.check(
        f"fault:{name}", policy="fixed_priority", requests=2, against="model", time="5m"
    )
    assert result.verdict == "violated"
    assert result.first is not None
    return result.first.claim, result.first.text, result.first.length


@pytest.mark.parametrize(
    ("name", "text", "length"),
    [
        ("cache-rank-reversed", "MODEL-1.served", 3),
        ("preempt-repeats-prefill", "MODEL-1.state", 4),
        ("finish-keeps-blocks", "MODEL-1.free", 3),
        ("event-says-finish-too-early", "MODEL-1.event", 3),
        ("exact-fit-waits", "MODEL-1.served", 2),
        ("large-request-refused", "MODEL-1.refused", 1),
    ],
)
def test_what_a_fault_does_otherwise_is_found_at_once(name: str, text: str, length: int) -> None:
    assert against(name) == (MODEL_1.id, text, length)


def test_the_model_does_what_the_model_does() -> None:
    result = schedproof.check(policy="aging", requests=2, against="model", time="5m")
    assert result.verdict == "holds_within_bounds"
    assert next(claim.id for claim in result.runs[0].claims if claim.exercised) == "MODEL-1"


def test_the_claim_can_be_read_about_and_its_trace_replayed(run: Run) -> None:
    assert run("claims", "show", "model-1").out.startswith("MODEL-1  It does what")
    words = "check fault:exact-fit-waits --against model --policy fcfs --requests 1"
    said = run(*words.split())
    assert said.code == 1
    assert "The step serves nobody; the model serves r0." in said.out
    assert run("replay").code == 1
    assert run("replay", "MODEL-1", "--on", "model").code == 0
    assert run("minimize", "MODEL-1").out.splitlines()[0].endswith("no shorter trace breaks this")


def test_two_schedulers_part_where_they_first_differ(run: Run, keep: Keep) -> None:
    kept = keep()
    said = run("diff", kept.name)
    assert said.code == 1
    assert "✗ They part at action 5: r0.generated_len is another afterwards." in said.out
    assert "By the rules" in said.out
    said = run("diff", "fault:preempt-repeats-prefill", "model", "--trace", kept.name)
    assert "r0.phase is another afterwards." in said.out
    said = run("diff", "model", "fault:finish-keeps-blocks", "--trace", kept.name, "--lang", "zh")
    assert "两者在第 5 个动作开始不同" not in said.out or said.code == 0


def test_two_that_do_the_same(run: Run, keep: Keep) -> None:
    name = keep().name
    said = run("diff", "model", "fault:last-come-first-served", "--trace", name)
    assert (said.code, said.out.splitlines()[-1]) == (0, "✓ They do the same, action by action.")


def test_a_crash_and_a_missing_policy_are_told(run: Run, keep: Keep) -> None:
    name = keep(actions=[enqueue(0, 4), STEP]).name
    said = run("diff", "fault:empty-step-raises", "model", "--trace", name)
    assert "They part at action 2: one of them raises." in said.out
    assert "AssertionError" in said.out
    name = keep(policy="reserved_aging").name
    said = run("diff", "fault:finish-keeps-blocks", "model", "--trace", name)
    assert said.code == 1
    assert "does not have the policy reserved_aging" in " ".join(said.out.split())
