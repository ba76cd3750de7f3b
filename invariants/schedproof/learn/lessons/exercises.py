"""What each lesson asks for, as data.

Rules.
1. An answer is one of four kinds: a run (`run(s)` calls enqueue and step on a scheduler), a
   test (`test(Scheduler)` fails on broken schedulers), a scheduler (a class), or a claim.
2. A run must break a named claim, or come to a situation that `goals.py` knows by name. All
   other texts stand in the message catalogue under the lesson's number.
3. Each exercise comes with one answer, in `answers/`; a test checks that it is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from schedproof.subjects.contract import Config, Limits
from schedproof.subjects.sources import OUR_BATCHES, OURS

RUN, TEST, SCHEDULER, CLAIM = "run", "test", "scheduler", "claim"
MOST_ACTIONS = 100
LIMITS = Limits(block_size=2, max_num_seqs=2, max_num_batched_tokens=4)
SEVEN = (
    "preempt-forgets-tokens",
    "preempt-returns-challengers-blocks",
    "equal-priority-preempts",
    "aging-forgotten-for-victims",
    "chosen-waits-too",
    "preempt-drops-deadline",
    "wait-reset-on-preemption",
)
"""Faults of the zoo that pass all tests of the chapter."""


@dataclass(frozen=True)
class Lesson:
    """One exercise.

    `target` is the scheduler that the answer is tried on, `most` the actions that a run may
    have. A run is right when it breaks `claim`, or reaches `goal`. A claim must be broken by
    `target`, and a scheduler must escape a search with `reduce` over `scope`.
    """

    number: int
    kind: str
    target: str = OURS
    policy: str = "fixed_priority"
    blocks: int = 3
    most: int = MOST_ACTIONS
    claim: str = ""
    goal: str = ""
    scope: str = ""
    reduce: str = ""

    @property
    def config(self) -> Config:
        """How the scheduler is set up that the answer is tried on."""
        limits = LIMITS if self.target == OUR_BATCHES else None
        return Config(self.policy, self.blocks, limits=limits)

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults that a test must find."""
        return SEVEN if self.kind == TEST else ()

    @property
    def answer(self) -> str:
        """An answer that is right, as a Python file."""
        name = f"lesson_{self.number:02}.py.txt"
        return (files("schedproof.learn.lessons") / "answers" / name).read_text(encoding="utf-8")


LESSONS = (
    Lesson(1, RUN, goal="survives"),
    Lesson(2, RUN, "fault:preempt-returns-challengers-blocks", claim="LEDGER-1", most=4),
    Lesson(3, RUN, "fault:preempt-forgets-tokens", claim="PROGRESS-2", most=5),
    Lesson(4, RUN, goal="more_blocks"),
    Lesson(5, TEST),
    Lesson(6, RUN, "fault:second-preemption-leaks", claim="LEDGER-2", most=8),
    Lesson(7, RUN, policy="aging", blocks=2, goal="starves"),
    Lesson(8, SCHEDULER, scope="hits.json", reduce="finished"),
    Lesson(9, RUN, OUR_BATCHES, policy="fcfs", goal="prefills_again"),
    Lesson(10, CLAIM, "fault:preempt-drops-deadline"),
)
