"""The lifecycle, written down a second time by hand and compared with the machine.

`EDGES` is the specification. Every state is tried with every trigger in every situation
that a guard can tell apart, through the fast look-up and through the machine itself; both
must do what the table says, and a refused move must leave no trace.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.model.conftest import EDGES
from transitions import MachineError

from schedmodel import IllegalTransition, RequestState, State, Trigger
from schedmodel.ledger import CapacityLedger, Claimant
from schedmodel.lifecycle import (
    HOLDING,
    MACHINE,
    MOVES,
    TABLE,
    Blocks,
    fire,
    fire_through_machine,
)

ROOT = Path(__file__).resolve().parents[2]

REQUIRED, LIMIT, CAPACITY = 3, 2, 10


class Growing(CapacityLedger):
    """A ledger that gives one block more to who holds some, as long as there is one."""

    def can_grow(self, request: Claimant) -> bool:
        return self.free > 0

    def grow(self, request: Claimant) -> None:
        self.free -= 1


class Situation(NamedTuple):
    """All that a guard can look at."""

    state: State
    phase: str
    free: int
    preemptible: bool
    generated_len: int

    def build(self) -> tuple[RequestState, CapacityLedger]:
        request = RequestState(
            request_id=7,
            prompt_len=4,
            max_new_tokens=LIMIT,
            required_blocks=REQUIRED,
            preemptible=self.preemptible,
        )
        request._state, request._phase = self.state, self.phase
        request.generated_len = self.generated_len
        ledger = Growing(CAPACITY)
        ledger.free = self.free
        return request, ledger

    def says_yes(self, guard: str) -> bool:
        return {
            "": True,
            "blocks fit": self.free >= REQUIRED,
            "saved phase is prefill": self.phase == "prefill",
            "saved phase is decode": self.phase == "decode",
            "room to grow": self.free > 0,
            "below limit": self.generated_len < LIMIT,
            "limit reached": self.generated_len >= LIMIT,
            "is preemptible": self.preemptible,
        }[guard]


SITUATIONS = [
    Situation(*values)
    for values in itertools.product(
        State,
        ("prefill", "decode"),
        (0, REQUIRED - 1, REQUIRED, CAPACITY),
        (True, False),
        (0, LIMIT - 1, LIMIT, LIMIT + 1),
    )
]
PAIRS = list(itertools.product(State, Trigger))


class Outcome(NamedTuple):
    """What a trigger left behind: every field of the request, the ledger, the verdict."""

    row: tuple[object, ...]
    free: int
    capacity: int
    verdict: str


def by_look_up(request: RequestState, trigger: Trigger, ledger: CapacityLedger) -> str:
    try:
        fire(request, trigger, ledger)
    except IllegalTransition as refusal:
        return "no edge" if refusal.reason == "no such edge" else "guard"
    return "moved"


def by_machine(request: RequestState, trigger: Trigger, ledger: CapacityLedger) -> str:
    try:
        return "moved" if fire_through_machine(request, trigger, ledger) else "guard"
    except MachineError:
        return "no edge"


Way = Callable[[RequestState, Trigger, CapacityLedger], str]


def outcome(way: Way, situation: Situation, trigger: Trigger) -> Outcome:
    request, ledger = situation.build()
    verdict = way(request, trigger, ledger)
    return Outcome(request.to_row(), ledger.free, ledger.capacity, verdict)


def specified(situation: Situation, trigger: Trigger) -> Outcome:
    """What the table at the top asks for."""
    request, ledger = situation.build()
    edges = [e for e in EDGES if e[:2] == (situation.state.value, trigger.value)]
    if not edges:
        return Outcome(request.to_row(), ledger.free, ledger.capacity, "no edge")
    ((source, name, dest, guard),) = edges
    if not situation.says_yes(guard):
        return Outcome(request.to_row(), ledger.free, ledger.capacity, "guard")
    if name in ("admit", "resume"):
        ledger.free -= REQUIRED
    if name in ("preempt", "finish") or (
        name == "abort" and source in ("admitted", "prefill", "decode")
    ):
        ledger.free += REQUIRED
    if name == "grow":
        ledger.free -= 1
    if name == "preempt":
        request.preemptions += 1
    if name == "begin_decode":
        request._phase = "decode"
    if name == "emit_token":
        request.generated_len += 1
    request.finish_reason = {"finish": "length", "abort": "aborted", "reject": "rejected"}.get(name)
    request._state = State(dest)
    return Outcome(request.to_row(), ledger.free, ledger.capacity, "moved")


@pytest.mark.parametrize(("state", "trigger"), PAIRS)
def test_look_up_and_machine_do_what_the_specification_says(state: State, trigger: Trigger) -> None:
    verdicts: set[str] = set()
    for situation in (s for s in SITUATIONS if s.state is state):
        wanted = specified(situation, trigger)
        assert outcome(by_look_up, situation, trigger) == wanted, situation
        assert outcome(by_machine, situation, trigger) == wanted, situation
        verdicts.add(wanted.verdict)
    guards = {e[3] for e in EDGES if e[:2] == (state.value, trigger.value)}
    reachable = {"no edge"} if not guards else {"moved"} if guards == {""} else {"moved", "guard"}
    assert verdicts == reachable


@pytest.mark.parametrize("trigger", Trigger)
def test_a_refused_move_changes_nothing(trigger: Trigger) -> None:
    refused = 0
    for situation in SITUATIONS:
        request, ledger = situation.build()
        before = request.to_row(), ledger.free, ledger.capacity
        try:
            fire(request, trigger, ledger)
        except IllegalTransition:
            refused += 1
            assert (request.to_row(), ledger.free, ledger.capacity) == before
    assert refused


@pytest.mark.parametrize(("state", "trigger"), PAIRS)
def test_a_refusal_names_request_state_trigger_and_reason(state: State, trigger: Trigger) -> None:
    hopeless = [
        Situation(state, phase, 0, False, generated)
        for phase in ("prefill", "decode")
        for generated in (0, LIMIT)
    ]
    for situation in hopeless:
        request, ledger = situation.build()
        wanted = specified(situation, trigger)
        if wanted.verdict == "moved":
            continue
        with pytest.raises(IllegalTransition) as caught:
            fire(request, trigger, ledger)
        error = caught.value
        assert (error.request_id, error.state, error.trigger) == (7, state, trigger)
        guards = [e[3] for e in EDGES if e[:2] == (state.value, trigger.value)]
        reason = f"not {guards[0].replace(' ', '_')}" if guards else "no such edge"
        assert error.reason == reason
        assert str(error) == f"request 7 in state {state.value} cannot {trigger.value}: {reason}"


def test_the_machine_has_exactly_the_specified_edges() -> None:
    held = {
        (
            move.source.value,
            move.trigger.value,
            move.dest.value,
            " and ".join(guard.__name__ for guard in move.guards).replace("_", " "),
        )
        for move in MOVES.values()
    }
    assert held == EDGES


def test_the_table_has_exactly_the_specified_edges() -> None:
    rows = {
        (source.value, row.trigger.value, row.dest.value) for row in TABLE for source in row.sources
    }
    assert rows == {edge[:3] for edge in EDGES}


def test_there_are_six_states_and_they_are_those_of_the_machine() -> None:
    names = ["waiting", "admitted", "prefill", "decode", "preempted", "finished"]
    assert [state.value for state in State] == names
    assert [State[name].value for name in MACHINE.states] == names
    assert State[str(MACHINE.initial)] is State.WAITING


def test_every_pair_of_state_and_trigger_has_at_most_one_move() -> None:
    held = [
        transition
        for event in MACHINE.events.values()
        for transitions in event.transitions.values()
        for transition in transitions
    ]
    assert len(held) == len(MOVES) == len(EDGES)
    assert all((move.source, move.trigger) == pair for pair, move in MOVES.items())


def test_only_the_named_triggers_exist_and_no_automatic_ones() -> None:
    assert set(MACHINE.events) == {trigger.value for trigger in Trigger}
    assert MACHINE.auto_transitions is False


def test_the_shared_machine_holds_no_request() -> None:
    request, ledger = SITUATIONS[0].build()
    fire_through_machine(request, Trigger.ABORT, ledger)
    assert MACHINE.models == []


@pytest.mark.parametrize("trigger", Trigger)
def test_finished_is_final(trigger: Trigger) -> None:
    assert not [pair for pair in MOVES if pair[0] is State.FINISHED]
    for situation in (s for s in SITUATIONS if s.state is State.FINISHED):
        request, ledger = situation.build()
        with pytest.raises(IllegalTransition, match="no such edge"):
            fire(request, trigger, ledger)
        assert request.state is State.FINISHED


def test_blocks_are_held_in_the_states_that_an_admission_leads_to() -> None:
    assert {state.value for state in HOLDING} == {"admitted", "prefill", "decode"}


class Diary:
    """Blocks of another make: it writes down what it is asked, and in which state."""

    def __init__(self, grants: bool) -> None:
        self.grants = grants
        self.entries: list[tuple[str, State]] = []

    def can_grant(self, request: RequestState) -> bool:
        self.entries.append(("can_grant", request.state))
        return self.grants

    def grant(self, request: RequestState) -> None:
        self.entries.append(("grant", request.state))

    def can_grow(self, request: RequestState) -> bool:
        return False

    def grow(self, request: RequestState) -> None:
        raise AssertionError("there is never room to grow")

    def take_back(self, request: RequestState) -> None:
        self.entries.append(("take_back", request.state))


@pytest.mark.parametrize("way", [fire, fire_through_machine])
def test_guard_comes_before_effect_and_effect_before_state(
    way: Callable[[RequestState, Trigger, Blocks], object],
) -> None:
    request, diary = RequestState(1, 1, 1), Diary(grants=True)
    way(request, Trigger.ADMIT, diary)
    way(request, Trigger.PREEMPT, diary)
    assert diary.entries == [
        ("can_grant", State.WAITING),
        ("grant", State.WAITING),
        ("take_back", State.ADMITTED),
    ]


@pytest.mark.parametrize("way", [fire, fire_through_machine])
def test_no_effect_runs_when_the_guard_refuses(
    way: Callable[[RequestState, Trigger, Blocks], object],
) -> None:
    request, diary = RequestState(1, 1, 1), Diary(grants=False)
    try:
        moved = way(request, Trigger.ADMIT, diary)
    except IllegalTransition:
        moved = False
    assert not moved
    assert diary.entries == [("can_grant", State.WAITING)]


def test_a_resumed_request_goes_on_from_its_saved_phase_with_its_tokens() -> None:
    request, ledger = RequestState(1, 5, 3, required_blocks=2), CapacityLedger(2)
    life = [Trigger.ADMIT, Trigger.BEGIN_PREFILL, Trigger.BEGIN_DECODE, Trigger.EMIT_TOKEN]
    for trigger in [*life, Trigger.PREEMPT]:
        fire(request, trigger, ledger)
    assert (request.phase, request.generated_len, ledger.free) == ("decode", 1, 2)
    fire(request, Trigger.RESUME, ledger)
    with pytest.raises(IllegalTransition, match="saved_phase_is_prefill"):
        fire(request, Trigger.BEGIN_PREFILL, ledger)
    for trigger in (Trigger.BEGIN_DECODE, Trigger.EMIT_TOKEN, Trigger.EMIT_TOKEN, Trigger.FINISH):
        fire(request, trigger, ledger)
    assert (request.generated_len, request.finish_reason, ledger.free) == (3, "length", 2)


def test_a_request_preempted_in_prefill_begins_its_prefill_again() -> None:
    request, ledger = RequestState(1, 5, 3), CapacityLedger(1)
    for trigger in (Trigger.ADMIT, Trigger.BEGIN_PREFILL, Trigger.PREEMPT, Trigger.RESUME):
        fire(request, trigger, ledger)
    with pytest.raises(IllegalTransition, match="saved_phase_is_decode"):
        fire(request, Trigger.BEGIN_DECODE, ledger)
    fire(request, Trigger.BEGIN_PREFILL, ledger)
    assert request.state is State.PREFILL


@pytest.mark.parametrize("state", [State.PREFILL, State.DECODE])
def test_what_the_ledger_granted_never_grows(state: State) -> None:
    request, ledger = RequestState(1, 5, 3, required_blocks=2), CapacityLedger(9)
    request._state = state
    with pytest.raises(IllegalTransition, match="room_to_grow"):
        fire(request, Trigger.GROW, ledger)
    ledger.grow(request)
    assert ledger.free == 9


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_only_the_lifecycle_imports_transitions() -> None:
    sources = [*ROOT.glob("model/**/*.py"), *ROOT.glob("invariants/**/*.py")]
    users = [path.name for path in sources if "transitions" in set(imports_of(path))]
    assert users == ["lifecycle.py"]


def test_states_and_triggers_print_as_their_ascii_values() -> None:
    for member in (*State, *Trigger):
        assert re.fullmatch(r"[a-z_]+", member.value)
        assert str(member) == f"{member}" == member.value
