"""Entering a state in place is going there: reading it gives that state again.

Where a scheduler keeps something that cannot be written back, the search goes by copies, and
where it keeps something that cannot be copied by replay; each finds what the others would have.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from tests.exhaustive.conftest import (
    LEAKS,
    MODEL,
    SECOND,
    Edit,
    config_of,
    counts,
    lengths,
    planted,
    search,
    slots,
    starter,
)

from schedproof.claims.judge import Judge
from schedproof.search.exhaustive.bfs import Options, Search
from schedproof.search.exhaustive.by_copy import ByCopy
from schedproof.search.exhaustive.in_place import InPlace
from schedproof.search.exhaustive.scopes import Scope, load_scope
from schedproof.search.exhaustive.space import ROWS, ByReplay, NotFlat, Space, State
from schedproof.search.pace import Unhurried
from schedproof.subjects.chapter import ATTRIBUTES, ChapterSubject
from schedproof.subjects.freezing import stored
from schedproof.subjects.reading import OUR_NAMES
from schedproof.zoo.plain import PlainScheduler

pytestmark = pytest.mark.unmeasured  # what it runs is measured by smaller tests

K0, _, K2 = load_scope("small").kinds
TWICE = replace(load_scope("small"), slots=((K0,), (K2,), (K2,)))
"""The least in which a request is preempted twice."""

TARGETS = [MODEL, PlainScheduler]
IN_PLACE = pytest.mark.parametrize("target", TARGETS)


def never(_index: int) -> tuple[()]:
    raise AssertionError("nobody needs the way to a state that is entered in place")


def states_of(space: Space, subject: ChapterSubject, scope: Scope) -> set[State]:
    """Every state of a scope, as this space tells them."""
    seen = {space.initial()}

    def watch(_state: State, _what: Any, after: State, _broken: tuple[str, ...]) -> None:
        seen.add(after)

    options = Options(probing=False)
    Search(space, scope, subject.config, Judge([]), Unhurried(), options, watch=watch).run()
    return seen


def read(scheduler: Any) -> tuple[Any, ...]:
    """All that a scheduler of either make holds, by value, read off its objects."""
    extras = {} if isinstance(scheduler, MODEL) else dict(stored(scheduler))
    for name in ATTRIBUTES:
        extras.pop(name, None)
    names = (
        OUR_NAMES
        if isinstance(scheduler, MODEL)
        else tuple(stored(scheduler.queue[0]) if scheduler.queue else ())
    )
    rows = [tuple((name, getattr(request, name)) for name in names) for request in scheduler.queue]
    return (scheduler.free_kv_blocks, scheduler.clock, tuple(extras.items()), *rows)


def told_by(state: State) -> tuple[Any, ...]:
    """The same as a state tells it."""
    return (*state[:ROWS], *(tuple(zip(row.names, row.raw, strict=True)) for row in state[ROWS:]))


@IN_PLACE
def test_entering_a_state_and_reading_it_gives_the_state_again(target: type[Any]) -> None:
    scope = load_scope("small")
    subject = starter(target)(config_of(scope))
    space = InPlace(subject, by_id=False)
    states = states_of(space, subject, scope)
    assert len(states) == 13_045
    in_no_order = sorted(states, key=lambda state: (len(state), hash(state) % 1009))
    random.Random(7).shuffle(in_no_order)
    for state in in_no_order:
        space.enter(state, 0, never)
        assert space._read() == state
        assert read(space._scheduler) == told_by(state)


@IN_PLACE
@pytest.mark.parametrize("policy", ["fixed_priority", "deadline", "fcfs"])
def test_each_way_there_are_the_same_states(target: type[Any], policy: str) -> None:
    scope = slots("default", 2)
    subject = starter(target)(config_of(scope, policy))
    by_id = policy != "fcfs"
    in_place = states_of(InPlace(subject, by_id), subject, scope)
    assert in_place == states_of(ByReplay(subject, by_id), subject, scope)
    assert in_place == states_of(ByCopy(subject, by_id), subject, scope)
    assert len(in_place) > 300


def refuse(*_: Any, **__: Any) -> Any:
    raise NotFlat


@IN_PLACE
def test_each_way_comes_to_the_same(target: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    found = [search(target, slots("default", 2))]
    for kind in (InPlace, ByCopy):
        monkeypatch.setattr(kind, "__init__", refuse)
        found.append(search(target, slots("default", 2)))
    assert [result.restore for result in found] == ["in_place", "copy", "replay"]
    for result in found:
        assert counts(result) == counts(found[0])
        assert (result.verdict, result.claims) == ("holds_within_bounds", found[0].claims)


# Schedulers that are not flat.

CLASS = "class Request:\n"
IMPORT = "from dataclasses import dataclass\n"
APPEND = "        self.queue.append(request)\n"
DATACLASS = "@dataclass(eq=False)\n"
HIDDEN = "class Hidden:\n    __slots__ = ('hidden',)\n\n\n"
PHASE = '    phase: str = "prefill"\n'
RETURNED = "        self.free_kv_blocks += victim.required_blocks\n"
INIT = "        self.clock = 0\n"
TICK = "        self.clock += 1\n"
DONE = "            self._finish(chosen)\n"
CHOOSE = "        chosen, victim = self._choose(candidates)\n"
PREEMPTED = "        victim.preemptions += 1\n"
NOT_FLAT: dict[str, tuple[Edit, ...]] = {
    "a list among the attributes": (
        (INIT, INIT + "        self.log: list[int] = []\n"),
        (TICK, TICK + "        self.log.append(self.clock)\n"),
    ),
    "a list among the attributes of a request": (
        (PHASE, PHASE + "    log: list[int] | None = None\n"),
        (TICK, TICK + "        chosen.log = [*(chosen.log or []), self.clock]\n"),
    ),
    "requests with slots": (("@dataclass(eq=False)\n", "@dataclass(eq=False, slots=True)\n"),),
    "requests with slots and a dictionary": (
        (DATACLASS, HIDDEN + DATACLASS),
        (CLASS, "class Request(Hidden):\n"),
    ),
    "a scheduler with slots and a dictionary": (
        ("class PlainScheduler:\n", HIDDEN + "class PlainScheduler(Hidden):\n"),
        (INIT, INIT + "        self.hidden = 0\n"),
    ),
    "a scheduler with slots only": (
        (
            '    """Serves one request a step over a pool of KV blocks."""\n',
            "    __slots__ = 'policy free_kv_blocks aging_interval clock queue timeline'.split()\n",
        ),
    ),
    "finished requests leave the queue": (
        (DONE, DONE + "            self.queue.remove(chosen)\n"),
    ),
    "the queue is sorted in each step": (
        (CHOOSE, "        self.queue.sort(key=self._schedule_key)\n" + CHOOSE),
    ),
    "an attribute that comes later": (
        (TICK, TICK + "        self.last = chosen.request_id\n"),
    ),
    "an attribute for another": (
        (INIT, INIT + "        self.idle = True\n"),
        (
            TICK,
            TICK
            + '        if "idle" in self.__dict__:\n'
            + "            del self.idle\n"
            + "            self.busy = True\n",
        ),
    ),
    "an attribute of a request that comes later": (
        (TICK, TICK + "        chosen.last = self.clock\n"),
    ),
    "requests in a tuple": (
        (
            "        self.queue.append(request)\n",
            "        self.queue = (*self.queue, request)\n",
        ),
        ("        self.queue: list[Request] = []\n", "        self.queue = ()\n"),
    ),
}  # fmt: skip


def keeping(value: str) -> tuple[Edit, ...]:
    """A scheduler that keeps a value."""
    return (
        (IMPORT, "import collections\nimport logging\nimport threading\n" + IMPORT),
        (INIT, INIT + f"        self.kept = {value}\n"),
    )  # fmt: skip


SHARED: dict[str, tuple[Edit, ...]] = {
    value: keeping(value)
    for value in (
        "threading.Lock()",
        "threading.RLock()",
        "logging.getLogger('mine')",
        "lambda request: request.priority",
        "self._schedule_key",
        "collections.deque([1], maxlen=2)",
        "Request",
        "self",
        "threading",
    )
}
OF_ITS_OWNER: tuple[Edit, ...] = (
    (APPEND, "        request.owner = self\n" + APPEND),
)  # fmt: skip
CANNOT_BE_COPIED: dict[str, tuple[Edit, ...]] = {
    "a generator": (
        (INIT, INIT + "        self.ones = (1 for _ in iter(int, 1))\n"),
        (TICK, "        self.clock += next(self.ones)\n"),
    ),
    "an open file": ((INIT, INIT + "        self.file = open('/dev/null')  # noqa\n"),),
    "an object that refuses": (
        (CLASS, CLASS + "    def __reduce_ex__(self, _):\n        raise TypeError\n\n"),
        (INIT, INIT + "        self.first: list[Request] = []\n"),
    ),
}


@pytest.mark.parametrize("edits", [*NOT_FLAT.values(), *SHARED.values(), OF_ITS_OWNER])
def test_what_cannot_be_written_back_is_searched_by_copies(edits: tuple[Edit, ...]) -> None:
    right = search(planted(*edits), slots("small", 2), claims=("LEDGER", "LIFE"))
    assert (right.verdict, right.restore) == ("holds_within_bounds", "copy")
    wrong = search(planted(*edits, LEAKS), slots("small", 2))
    assert (wrong.verdict, wrong.restore, lengths(wrong)) == ("violated", "copy", [3])
    assert wrong.counterexamples[0].shortest


@pytest.mark.parametrize("edits", [*SHARED.values(), OF_ITS_OWNER])
def test_what_is_no_state_tells_no_states_apart(edits: tuple[Edit, ...]) -> None:
    plain = search(PlainScheduler, slots("small", 2))
    keeping = search(planted(*edits), slots("small", 2))
    assert (keeping.verdict, counts(keeping)) == (plain.verdict, counts(plain))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kind", CANNOT_BE_COPIED)
def test_what_cannot_be_copied_is_searched_by_replay(kind: str) -> None:
    right = search(planted(*CANNOT_BE_COPIED[kind]), slots("small", 2), claims=("LEDGER",))
    assert right.restore == "replay"
    assert right.verdict == "holds_within_bounds"
    wrong = search(planted(*CANNOT_BE_COPIED[kind], LEAKS), slots("small", 2))
    assert (wrong.verdict, wrong.restore, lengths(wrong)) == ("violated", "replay", [3])
    assert wrong.counterexamples[0].shortest


def test_what_hides_in_a_slot_is_not_missed() -> None:
    hidden = planted(
        (DATACLASS, HIDDEN + DATACLASS),
        (CLASS, "class Request(Hidden):\n"),
        (PREEMPTED, PREEMPTED + "        victim.hidden = getattr(victim, 'hidden', 0) + 1\n"),
        (RETURNED, "        if victim.hidden < 2:\n    " + RETURNED),
    )  # fmt: skip
    found = search(hidden, TWICE, claims=("LEDGER",))
    assert (found.verdict, found.restore, lengths(found)) == ("violated", "copy", [8])


HIDDEN_OUTSIDE: tuple[Edit, ...] = (
    ("NO_DEADLINE = 1_000_000_000\n", "NO_DEADLINE = 1_000_000_000\nSTEPS = [0]\n"),
    (INIT, INIT + "        STEPS[0] = 0\n"),
    (TICK, TICK + "        STEPS[0] += 1\n        self.steps = STEPS[0]\n"),
    ("        self.policy = policy\n", "        self.policy = policy\n        self.steps = 0\n"),
)


def test_what_hides_in_the_module_is_noticed_by_a_sample_of_states() -> None:
    found = search(planted(*HIDDEN_OUTSIDE), slots("small", 2), claims=("LEDGER",))
    assert (found.verdict, found.restore) == ("no_violation_reduced", "replay")
    assert counts(found) == counts(search(PlainScheduler, slots("small", 2)))


TIMED: tuple[Edit, ...] = (
    (IMPORT, "import random\nimport time\n" + IMPORT),
    (INIT, INIT + "        self.started_at = time.perf_counter()\n"),
    (APPEND, APPEND + "        request.salt = random.random()\n"),
)


def test_what_differs_each_time_is_left_out_and_named() -> None:
    found = search(planted(*TIMED), slots("small", 2), claims=("LEDGER",))
    assert (found.verdict, found.restore) == ("no_violation_reduced", "copy")
    assert found.notes == (("note.left_out", {"names": "salt, started_at"}),)
    assert counts(found) == counts(search(PlainScheduler, slots("small", 2)))
    wrong = search(planted(*TIMED, LEAKS), slots("small", 2))
    assert (wrong.verdict, lengths(wrong)) == ("violated", [3])


def test_who_decides_by_what_differs_is_not_deterministic() -> None:
    key = "            request.request_id,\n        )\n"
    by_chance = planted(*TIMED, (key, "            request.salt,\n" + key))
    found = search(by_chance, slots("small", 2))
    assert found.trouble is not None
    assert found.trouble.kind == "not_deterministic"


def test_a_violation_that_only_comes_of_entering_in_place_is_none() -> None:
    outside = planted(
        ("NO_DEADLINE = 1_000_000_000\n", "NO_DEADLINE = 1_000_000_000\nCOUNT = [0]\n"),
        (INIT, INIT + "        COUNT[0] = 0\n"),
        (PREEMPTED, PREEMPTED + "        COUNT[0] += 1\n"),
        (RETURNED, "        if COUNT[0] < 3:\n    " + RETURNED),
    )  # fmt: skip
    found = search(outside, slots("small", 2), claims=("LEDGER",))
    assert (found.verdict, found.restore) == ("no_violation_reduced", "replay")


def test_the_second_preemption_is_found_each_way(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [search(planted(SECOND), TWICE, claims=("LEDGER-2",))]
    for kind in (InPlace, ByCopy):
        monkeypatch.setattr(kind, "step", refuse)
        found.append(search(planted(SECOND), TWICE, claims=("LEDGER-2",)))
    assert [result.restore for result in found] == ["in_place", "copy", "replay"]
    for result in found:
        assert result.counterexamples == found[0].counterexamples
        assert result.notes == found[0].notes


# What is no scheduler at all, after a while.

WRONG_KINDS = {
    "clock": "None",
    "free_kv_blocks": "'many'",
    "queue": "None",
    "timeline": "None",
}
WRONG_IN_REQUEST = {
    "wait_steps": "None",
    "generated_len": "'one'",
    "preemptions": "[]",
    "required_blocks": "None",
    "request_id": "None",
}


def assert_told(found: Any) -> None:
    assert found.verdict == "error"
    assert (found.trouble.kind, found.trouble.message_id[:9]) == ("contract", "contract.")
    assert found.trouble.actions


@pytest.mark.parametrize("name", WRONG_KINDS)
def test_an_attribute_of_a_wrong_kind_is_told(name: str) -> None:
    broken = planted((TICK, f"{TICK}        self.{name} = {WRONG_KINDS[name]}\n"))
    assert_told(search(broken, slots("small", 2)))


@pytest.mark.parametrize("name", WRONG_KINDS)
def test_an_attribute_that_goes_away_is_told(name: str) -> None:
    broken = planted((TICK, f"{TICK}        del self.{name}\n"))
    assert_told(search(broken, slots("small", 2)))


@pytest.mark.parametrize("name", WRONG_IN_REQUEST)
def test_a_field_of_a_wrong_kind_is_told(name: str) -> None:
    broken = planted((TICK, f"{TICK}        chosen.{name} = {WRONG_IN_REQUEST[name]}\n"))
    assert_told(search(broken, slots("small", 2)))


def test_a_field_that_goes_away_is_told() -> None:
    assert_told(
        search(planted((TICK, f"{TICK}        del chosen.request_id\n")), slots("small", 2))
    )


def test_a_report_that_is_none_is_told() -> None:
    broken = planted((TICK + "        return event\n", TICK + "        return 5\n"))
    assert_told(search(broken, slots("small", 2)))
