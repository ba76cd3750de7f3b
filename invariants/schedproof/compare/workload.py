"""The requests of a comparison: what the trace says, and what is drawn because it says nothing.

Rules.
1. Lengths and the order of arrival are the trace's. Arrival times are the trace's times the
   time factor, the same for all policies. They are never drawn again.
2. Priorities and deadlines are in no trace. They are drawn from a seed that depends on no
   policy, kept with the results, and called synthetic. A larger priority is more urgent.
3. Half of the requests have a deadline: arrival + slack * (TTFT limit + (n - 1) * TPOT limit),
   slack being 1, 2 or 4.
4. The need for KV blocks is that of prompt and output together, reserved whole: no engine
   knows the output beforehand. A step lasts equally long whatever it does.
"""

from __future__ import annotations

import hashlib
import random
from array import array
from dataclasses import dataclass, field
from math import ceil

from schedproof.compare.loader import Trace

PRIORITIES = (0, 1, 2, 3)
SLACKS = (1, 2, 4)
NO_DEADLINE = -1.0


@dataclass(frozen=True)
class Setup:
    """What every policy of a comparison runs under. Times in seconds."""

    blocks: int = 4096
    block_size: int = 16
    batch: int = 1
    token_budget: int = 16384
    aging_interval: int = 4
    time_factor: float = 1.0
    step: float = 0.02
    slo_ttft: float = 2.0
    slo_tpot: float = 0.2
    starved_after: float = 20.0
    seed: int = 0


@dataclass
class Workload:
    """All requests, in order of arrival; a request is known by its place. Times in seconds."""

    trace: Trace
    setup: Setup
    arrivals: array[float] = field(default_factory=lambda: array("d"))
    priorities: array[int] = field(default_factory=lambda: array("q"))
    deadlines: array[float] = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        return len(self.arrivals)

    def blocks(self, place: int) -> int:
        """KV blocks for prompt and output."""
        tokens = self.trace.prompts[place] + self.trace.outputs[place]
        return -(-tokens // self.setup.block_size)

    def first_step(self, place: int) -> int:
        """The number of the first step that begins when the request is there, or later."""
        arrival, step = self.arrivals[place], self.setup.step
        number = ceil(arrival / step)
        return number if number * step >= arrival else number + 1

    def synthetic_sha256(self) -> str:
        """A digest of all that was drawn: equal for equal seeds, whatever the policy."""
        return hashlib.sha256(self.priorities.tobytes() + self.deadlines.tobytes()).hexdigest()


def make_workload(trace: Trace, setup: Setup) -> Workload:
    """The requests of a trace under a set-up."""
    draw = random.Random(setup.seed)
    made = Workload(trace, setup)
    for place, arrival in enumerate(trace.arrivals):
        when = arrival * setup.time_factor
        priority, timed, slack = draw.choice(PRIORITIES), draw.random() < 0.5, draw.choice(SLACKS)
        usual = setup.slo_ttft + (trace.outputs[place] - 1) * setup.slo_tpot
        made.arrivals.append(when)
        made.priorities.append(priority)
        made.deadlines.append(when + slack * usual if timed else NO_DEADLINE)
    return made
