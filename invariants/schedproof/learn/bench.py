"""Two schedulers side by side, led through the same prepared case: the learner's part, and ours.

Rules.
1. What must be is never written down: it is what our part does in the same case.
2. Requests come to their state by being assigned to, as a test would do it, so that a part can
   be tried in states which other parts may not reach yet.
3. The learner's code is called in one place, where its exceptions are told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from schedproof.learn import solved
from schedproof.learn.evidence import OPEN, WRONG, Case, Difference, Seen
from schedproof.learn.exercise import Todo, alone
from schedproof.search.isolation import Channel
from schedproof.search.replay import plain
from schedproof.search.summing_up import trouble_of
from schedproof.subjects.chapter import ChapterSubject
from schedproof.subjects.contract import SubjectError
from schedproof.subjects.places import StopSubject

FIELDS = tuple(solved.RequestState.__dataclass_fields__)
AGING_INTERVAL = 2
NO_ATTRIBUTE = "–"


class Mistaken(Exception):
    """Raised where a case shows that the part is wrong, or still open."""

    def __init__(self, seen: Seen) -> None:
        super().__init__(seen.state)
        self.seen = seen


@dataclass
class Bench:
    """One case under way: the learner's scheduler, ours, and the lines that led here."""

    todo: Todo
    policy: str
    blocks: int
    mine: Any
    ours: Any
    code: list[str] = field(default_factory=list[str])

    @property
    def both(self) -> tuple[Any, Any]:
        """The two schedulers."""
        return self.mine, self.ours

    @property
    def our_enqueue(self) -> Callable[..., None]:
        """Our enqueue, to be called on either scheduler."""
        enqueue: Callable[..., None] = self.ours.enqueue.__func__
        return enqueue

    def enqueue(self, request_id: int, prompt_len: int, **values: Any) -> None:
        """Enqueue in both, by our enqueue."""
        for scheduler in self.both:
            self.our_enqueue(scheduler, request_id, prompt_len, **values)
        self.code.append(f"s.enqueue({called(request_id, prompt_len, **values)})")

    def assign(self, place: int, **values: Any) -> None:
        """Put the request at this place of the queue into a state."""
        for name, value in values.items():
            for scheduler in self.both:
                setattr(scheduler.queue[place], name, value)
            self.code.append(f"s.queue[{place}].{name} = {value!r}")

    def set(self, name: str, value: Any) -> None:
        """Set an attribute of the schedulers."""
        for scheduler in self.both:
            setattr(scheduler, name, value)
        self.code.append(f"s.{name} = {value!r}")


def called(*values: Any, **named: Any) -> str:
    """Arguments as they are typed."""
    return ", ".join([*map(repr, values), *(f"{name}={value!r}" for name, value in named.items())])


class Benches:
    """Makes cases for one TODO of a class, and counts them."""

    def __init__(self, cls: type[Any], todo: Todo, channel: Channel) -> None:
        self.todo, self.channel, self.tried = todo, channel, 0
        self._mine, self._ours = alone(cls, todo), alone(cls, None)
        self._name = cls.__name__

    def new(self, policy: str, blocks: int) -> Bench:
        """The next case: new schedulers."""
        self.tried += 1
        self.channel.action += 1
        mine, ours = (
            cls(policy=policy, free_kv_blocks=blocks, aging_interval=AGING_INTERVAL)
            for cls in (self._mine, self._ours)
        )
        code = [f"s = {self._name}({policy!r}, {blocks}, {AGING_INTERVAL})"]
        return Bench(self.todo, policy, blocks, mine, ours, code)

    def call(self, bench: Bench, line: str, call: Callable[[], Any]) -> Any:
        """Call into the learner's part; what it raises ends the case."""
        self.channel.action += 1
        try:
            return call()
        except (Exception, SystemExit, StopSubject) as error:
            self.channel.action += 1
            raise Mistaken(self.failed(bench, line, error)) from error

    def failed(self, bench: Bench, line: str, error: BaseException) -> Seen:
        """What a call that raised comes to: an open part, or a wrong one with its place."""
        try:
            if isinstance(error, StopSubject):
                raise error
            ChapterSubject.fail(self.todo.method, error)
        except (SubjectError, StopSubject) as told:
            trouble = trouble_of(told)
        state = OPEN if trouble.kind == "open_todo" else WRONG
        case = Case("", {}, (*bench.code, line), bench.policy)
        return Seen(self.todo.number, state, self.tried, case, trouble)

    def wrong(
        self, bench: Bench, line: str, text: str, values: dict[str, Any], shown: list[Difference]
    ) -> Mistaken:
        """A case that shows that the part is wrong."""
        values = {name: plain(value) for name, value in values.items()}
        rows = tuple(Difference(d.whose, d.name, plain(d.must_be), plain(d.got)) for d in shown)
        case = Case(text, values, (*bench.code, line), bench.policy, rows)
        return Mistaken(Seen(self.todo.number, WRONG, self.tried, case))


def state_of(scheduler: Any) -> dict[tuple[int | None, str], Any]:
    """Everything of a scheduler that a part may change, by request id and name."""
    seen: dict[tuple[int | None, str], Any] = {
        (None, "free_kv_blocks"): scheduler.free_kv_blocks,
        (None, "clock"): scheduler.clock,
        (None, "len(timeline)"): len(scheduler.timeline),
        (None, "queue"): [getattr(r, "request_id", NO_ATTRIBUTE) for r in scheduler.queue],
    }
    for request in scheduler.queue:
        for name in FIELDS:
            whose = getattr(request, "request_id", None)
            seen[whose, name] = getattr(request, name, NO_ATTRIBUTE)
    return seen


def differences(ours: Any, mine: Any) -> list[Difference]:
    """Where the learner's scheduler is not as ours is."""
    must_be, got = state_of(ours), state_of(mine)
    shown: list[Difference] = []
    for key in dict.fromkeys([*must_be, *got]):
        right, is_now = must_be.get(key, NO_ATTRIBUTE), got.get(key, NO_ATTRIBUTE)
        if not _same(right, is_now):
            shown.append(Difference(*key, right, is_now))
    return shown


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same; True is not 1 here."""
    return bool(one == other) and isinstance(one, bool) is isinstance(other, bool)
