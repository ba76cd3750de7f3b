"""A scheduler whose fault a reduced search does not see: docs/verdicts.md tells why.

It is right as long as fewer than three requests with a deadline have finished. From then on, a
request that never had to wait keeps its blocks when it finishes. What decides is in requests
that are finished, and that is just what `--reduce finished` leaves out of the states.
"""

from __future__ import annotations

from schedproof.zoo.plain import PlainScheduler, Request


class LeakAfterDeadlines(PlainScheduler):
    """Gives no blocks back of whoever comes after three finished requests with a deadline."""

    def _finish(self, request: Request) -> None:
        ended = [other for other in self.queue if other.status == "finished"]
        free = self.free_kv_blocks
        super()._finish(request)
        of_deadlines = sum(other.deadline_step is not None for other in ended)
        if of_deadlines >= 3 and not request.wait_steps:
            self.free_kv_blocks = free
