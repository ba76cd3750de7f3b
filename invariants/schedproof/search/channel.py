"""What a job in a child process sees of the outside.

A job gets a `Channel`. Before each call into the subject's code it adds one to `action` (a plain
attribute: the search does this millions of times); everything else is optional: names for actions
that may hang, progress that is told now and then, the deadline to keep, and `interrupted`, which
turns true on Ctrl-C: a job that looks at it returns what it knows. `ActionHung` is raised into the
subject's code when one action takes too long (`watch.py`), so that the job can say which it was.
"""

from __future__ import annotations

import mmap
import struct
import time
from typing import TYPE_CHECKING, Any, Final

from schedproof.subjects.places import StopSubject

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRESS_SECONDS: Final = 0.2


class ActionHung(StopSubject):
    """Raised into the subject's code when one action takes longer than `action_seconds`."""


class Pulse:
    """A page of memory that both processes see: when the child last showed life, its label.

    The label is cut to what fits. The parent makes it before the fork and closes it at the end.
    """

    _HEAD = struct.Struct("=dqH")
    SIZE: Final = 1024

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, self.SIZE)
        self.beat()

    def beat(self) -> None:
        """Say that the child is alive now."""
        # Eight bytes at once: `pack_into` clears them first, and the parent may look just then.
        self._page[:8] = struct.pack("=d", time.monotonic())

    def beaten_at(self) -> float:
        """When the child last said so, in seconds of the monotonic clock."""
        return float(struct.unpack_from("=d", self._page, 0)[0])

    def count_dropped(self, lines: int) -> None:
        """Say how many lines of output were dropped in the child."""
        struct.pack_into("=q", self._page, 8, lines)

    def dropped(self) -> int:
        """How many lines of output the child dropped."""
        return int(struct.unpack_from("=q", self._page, 8)[0])

    def set_label(self, label: str) -> None:
        """Keep the name of what the child does now."""
        text = label.encode(errors="replace")[: self.SIZE - self._HEAD.size]
        self._page[self._HEAD.size : self._HEAD.size + len(text)] = text
        struct.pack_into("=H", self._page, 16, len(text))

    def label(self) -> str:
        """The name of what the child did last; "" if it gave none."""
        length = struct.unpack_from("=H", self._page, 16)[0]
        start = self._HEAD.size
        return self._page[start : start + length].decode(errors="ignore")

    def close(self) -> None:
        """Give the page back."""
        self._page.close()


class Channel:
    """A job's line to the outside.

    `action` counts calls into the subject (the job adds one before each), `deadline` is the
    moment of the monotonic clock at which the job should return, `interrupted` turns true when
    somebody pressed Ctrl-C. A job that catches `ActionHung` adds one to `action` again before it
    asks the subject anything more.
    """

    def __init__(
        self, deadline: float, send: Callable[[dict[str, Any]], None], pulse: Pulse | None = None
    ) -> None:
        self.action = 0
        self.deadline = deadline
        self.interrupted = False
        self.label = ""
        self.busy = False
        self._send = send
        self._pulse = pulse
        self._next_progress = 0.0

    def begin(self, label: str) -> None:
        """Begin an action that has a name worth telling when it hangs or dies."""
        self.action += 1
        self.label = label
        if self._pulse is not None:
            self._pulse.set_label(label)

    def progress(self, data: dict[str, Any]) -> None:
        """Tell how far the job is: a JSON object. More than five a second are dropped."""
        now = time.monotonic()
        if now < self._next_progress:
            return
        self._next_progress = now + PROGRESS_SECONDS
        if self._pulse is not None:
            self._pulse.beat()
        # An interrupt in the middle of a message would garble all that follow.
        self.busy = True
        try:
            self._send({"kind": "progress", "data": data})
        finally:
            self.busy = False

    def known(self, value: Any) -> None:
        """Tell what the job would return by now: it counts if the job does not come to its end."""
        self.busy = True
        try:
            self._send({"kind": "known", "value": value})
        finally:
            self.busy = False

    def seconds_left(self) -> float:
        """Seconds until the deadline; negative after it."""
        return self.deadline - time.monotonic()
