"""What a run leaves behind: a few numbers for each request, and pictures of it over time.

Rules.
1. Steps are counted and seconds are worked out at the end. A step that begins at number k
   takes from k to k + 1; a token is there at the end of its step.
2. Events are looked at once and not kept. Gaps between tokens are kept as a count for each
   length, so memory does not grow with the number of steps.
3. The longest wait of a request is its longest stretch without blocks: from its arrival to its
   first service, or from a preemption to the next service.
4. Queue and pool over time are kept in at most 512 slices of equal length; each shows the
   most that was in it.
"""

from __future__ import annotations

from array import array

NEVER = -1
WAITING, FINISHED, NO_BLOCKS, NO_TOKENS = 0, 1, 2, 3
"""How a request stands at the end: unfinished, complete, or rejected and for what."""
SLICES = 512


class Curve:
    """The most of a quantity in each slice of time; slices grow with the run."""

    def __init__(self) -> None:
        self.steps_each = 1
        self.most: list[int] = []
        self._last = 0

    def add(self, step: int, value: int) -> None:
        """Say what the quantity is at this step; steps never go back."""
        while step // self.steps_each >= SLICES:
            self._merge()
        place = step // self.steps_each
        while len(self.most) <= place:
            self.most.append(self._last)
        if value > self.most[place]:
            self.most[place] = value
        self._last = value

    def _merge(self) -> None:
        most = self.most
        self.most = [max(most[place : place + 2]) for place in range(0, len(most), 2)]
        self.steps_each *= 2


class Record:
    """One policy's run over `count` requests, which are known by their place.

    `found_tokens` were found in the prefix cache; None where there is none.
    """

    def __init__(self, policy: str, count: int) -> None:
        self.policy = policy
        self.first_service = array("q", [NEVER]) * count
        self.first_token = array("q", [NEVER]) * count
        self.last_token = array("q", [NEVER]) * count
        self.lost = array("q", [NEVER]) * count
        self.preempted_steps = array("q", [0]) * count
        self.longest_gap = array("q", [0]) * count
        self.preemptions = array("q", [0]) * count
        self.tokens = array("q", [0]) * count
        self.ends = bytearray(count)
        self.gaps: dict[int, int] = {}
        self.queue, self.held = Curve(), Curve()
        self.arrived = 0
        self.steps = 0
        self.end_step = 0
        self.found_tokens: int | None = None
        self.seconds = 0.0

    def draw(self, step: int, waiting: int, held: int) -> None:
        """Where both curves are at this step; what stays the same need not be said again."""
        self.queue.add(step, waiting)
        self.held.add(step, held)

    def served(self, place: int, step: int) -> bool:
        """A request gets a step; whether it had no blocks before."""
        if self.first_service[place] == NEVER:
            self.first_service[place] = step
            return True
        since = self.lost[place]
        if since == NEVER:
            return False
        self.lost[place] = NEVER
        self.preempted_steps[place] += step - since
        self.longest_gap[place] = max(self.longest_gap[place], step - since)
        return True

    def emitted(self, place: int, step: int) -> None:
        """The request's token is there at the end of the step."""
        end = step + 1
        before = self.last_token[place]
        if before == NEVER:
            self.first_token[place] = end
        else:
            gap = end - before
            self.gaps[gap] = self.gaps.get(gap, 0) + 1
        self.last_token[place] = end
        self.tokens[place] += 1

    def preempted(self, place: int, step: int) -> None:
        """The request loses its blocks when the step begins."""
        self.lost[place] = step
        self.preemptions[place] += 1

    def found(self, tokens: int) -> None:
        """So many tokens of a request that came in were found in the prefix cache."""
        self.found_tokens = (self.found_tokens or 0) + tokens

    def finished(self, place: int) -> None:
        self.ends[place] = FINISHED

    def rejected(self, place: int, end: int) -> None:
        self.ends[place] = end
