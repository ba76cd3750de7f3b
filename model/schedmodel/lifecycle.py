"""The life of a request: six states, one table of moves, one shared machine.

Rules.
1. Every move that a request can make is a row of `TABLE`; nothing else changes `state`.
2. A row pairs a guard with an effect. Both are plain functions of the request and of the
   blocks that its scheduler hands in, so a scheduler with another kind of pool brings
   another `Blocks` and keeps the table.
3. The effect runs only after the guard has said yes, and the state changes only after
   the effect. A refused move raises `IllegalTransition` and changes nothing.
4. `MACHINE` is built from the table and is the one definition of the lifecycle. `MOVES`
   is a look-up read back out of the machine at import, because a move through the
   machine costs some forty times as much; a test fires every state and trigger through
   both and compares.
5. `finished` is final: no row leaves it.

Left out: time, order and choice. Which request moves, and when, is the scheduler's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any, NamedTuple, Protocol, cast

from transitions import Machine

from schedmodel.errors import IllegalTransition


class State(str, Enum):
    """Where a request is in its life."""

    WAITING = "waiting"
    ADMITTED = "admitted"
    PREFILL = "prefill"
    DECODE = "decode"
    PREEMPTED = "preempted"
    FINISHED = "finished"

    __str__ = str.__str__
    __hash__ = str.__hash__  # Enum's own runs in Python, on the way of every move


class Trigger(str, Enum):
    """What can happen to a request."""

    ADMIT = "admit"
    RESUME = "resume"
    BEGIN_PREFILL = "begin_prefill"
    PREFILL_CHUNK = "prefill_chunk"
    BEGIN_DECODE = "begin_decode"
    EMIT_TOKEN = "emit_token"
    GROW = "grow"
    PREEMPT = "preempt"
    FINISH = "finish"
    ABORT = "abort"
    REJECT = "reject"

    __str__ = str.__str__
    __hash__ = str.__hash__  # Enum's own runs in Python, on the way of every move


HOLDING = frozenset({State.ADMITTED, State.PREFILL, State.DECODE})
"""The states in which a request holds the blocks that it was granted."""

WORK = frozenset(
    {Trigger.PREEMPT, Trigger.BEGIN_PREFILL, Trigger.PREFILL_CHUNK, Trigger.EMIT_TOKEN}
)
"""The triggers of which a request takes at most one in a step."""


class Moving(Protocol):
    """What the lifecycle needs of a request."""

    _state: State
    _phase: str
    request_id: int
    generated_len: int
    max_new_tokens: int
    preemptible: bool
    preemptions: int
    finish_reason: str | None


class Blocks(Protocol):
    """The pool that a scheduler hands in; guard and effect are a pair."""

    def can_grant(self, request: Any) -> bool:
        """Whether what the request needs is free."""
        ...

    def grant(self, request: Any) -> None:
        """Give the request what it needs."""
        ...

    def can_grow(self, request: Any) -> bool:
        """Whether there is more for a request that holds some already."""
        ...

    def grow(self, request: Any) -> None:
        """Give the request more."""
        ...

    def take_back(self, request: Any) -> None:
        """Take back all that the request holds."""
        ...


Guard = Callable[[Any, Blocks], bool]
Effect = Callable[[Any, Blocks], None]


def blocks_fit(request: Moving, blocks: Blocks) -> bool:
    return blocks.can_grant(request)


def saved_phase_is_prefill(request: Moving, blocks: Blocks) -> bool:
    return request._phase == "prefill"


def saved_phase_is_decode(request: Moving, blocks: Blocks) -> bool:
    return request._phase == "decode"


def below_limit(request: Moving, blocks: Blocks) -> bool:
    return request.generated_len < request.max_new_tokens


def limit_reached(request: Moving, blocks: Blocks) -> bool:
    return request.generated_len >= request.max_new_tokens


def room_to_grow(request: Moving, blocks: Blocks) -> bool:
    return blocks.can_grow(request)


def is_preemptible(request: Moving, blocks: Blocks) -> bool:
    return request.preemptible


def grant_blocks(request: Moving, blocks: Blocks) -> None:
    blocks.grant(request)


def enter_decode(request: Moving, blocks: Blocks) -> None:
    request._phase = "decode"


def count_token(request: Moving, blocks: Blocks) -> None:
    request.generated_len += 1


def grow_blocks(request: Moving, blocks: Blocks) -> None:
    blocks.grow(request)


def release_and_count(request: Moving, blocks: Blocks) -> None:
    """Phase and tokens stay: preemption takes the blocks, not the progress."""
    blocks.take_back(request)
    request.preemptions += 1


def end_by_length(request: Moving, blocks: Blocks) -> None:
    blocks.take_back(request)
    request.finish_reason = "length"


def end_by_abort(request: Moving, blocks: Blocks) -> None:
    if request._state in HOLDING:
        blocks.take_back(request)
    request.finish_reason = "aborted"


def end_by_rejection(request: Moving, blocks: Blocks) -> None:
    request.finish_reason = "rejected"


class Edge(NamedTuple):
    """One row: from any of `sources`, by `trigger`, to `dest`."""

    trigger: Trigger
    sources: tuple[State, ...]
    dest: State
    guard: Guard | None
    effect: Effect | None


_S, _T = State, Trigger
_UNFINISHED = tuple(state for state in State if state is not State.FINISHED)

TABLE: tuple[Edge, ...] = (
    Edge(_T.ADMIT, (_S.WAITING,), _S.ADMITTED, blocks_fit, grant_blocks),
    Edge(_T.RESUME, (_S.PREEMPTED,), _S.ADMITTED, blocks_fit, grant_blocks),
    Edge(_T.BEGIN_PREFILL, (_S.ADMITTED,), _S.PREFILL, saved_phase_is_prefill, None),
    Edge(_T.PREFILL_CHUNK, (_S.PREFILL,), _S.PREFILL, None, None),
    Edge(_T.BEGIN_DECODE, (_S.ADMITTED,), _S.DECODE, saved_phase_is_decode, None),
    Edge(_T.BEGIN_DECODE, (_S.PREFILL,), _S.DECODE, None, enter_decode),
    Edge(_T.EMIT_TOKEN, (_S.DECODE,), _S.DECODE, below_limit, count_token),
    Edge(_T.GROW, (_S.PREFILL,), _S.PREFILL, room_to_grow, grow_blocks),
    Edge(_T.GROW, (_S.DECODE,), _S.DECODE, room_to_grow, grow_blocks),
    Edge(
        _T.PREEMPT,
        tuple(s for s in _S if s in HOLDING),
        _S.PREEMPTED,
        is_preemptible,
        release_and_count,
    ),
    Edge(_T.FINISH, (_S.DECODE,), _S.FINISHED, limit_reached, end_by_length),
    Edge(_T.ABORT, _UNFINISHED, _S.FINISHED, None, end_by_abort),
    Edge(_T.REJECT, (_S.WAITING,), _S.FINISHED, None, end_by_rejection),
)


def _build_machine() -> Machine:
    """One machine for all requests: it holds no request, it is fired on them."""
    machine = Machine(
        model=None,
        states=State,
        initial=State.WAITING,
        auto_transitions=False,
        model_attribute="_state",
    )
    for edge in TABLE:
        machine.add_transition(
            edge.trigger.value,
            list(edge.sources),
            edge.dest,
            conditions=[edge.guard] if edge.guard else [],
            before=[edge.effect] if edge.effect else [],
        )
    return machine


MACHINE = _build_machine()


class Move(NamedTuple):
    """One edge as the machine holds it, from one source."""

    trigger: Trigger
    source: State
    dest: State
    guards: tuple[Guard, ...]
    effects: tuple[Effect, ...]


def _moves_of_machine() -> Iterator[Move]:
    """Every edge that `MACHINE` holds, read back out of it."""
    for name, event in MACHINE.events.items():
        for source, transitions in event.transitions.items():
            for transition in transitions:
                guards = tuple(cast(Guard, condition.func) for condition in transition.conditions)
                effects = tuple(cast(Effect, effect) for effect in transition.before)
                dest = State[str(transition.dest)]
                yield Move(Trigger(name), State[source], dest, guards, effects)


MOVES: dict[tuple[State, Trigger], Move] = {
    (move.source, move.trigger): move for move in _moves_of_machine()
}


def fire(request: Moving, trigger: Trigger, blocks: Blocks) -> None:
    """Move `request` along the edge that `trigger` names.

    Raises `IllegalTransition` when the state has no such edge or a guard refuses;
    nothing has changed then.
    """
    move = MOVES.get((request._state, trigger))
    if move is None:
        raise IllegalTransition(request.request_id, request._state, trigger, "no such edge")
    make(move, request, blocks)


def make(move: Move, request: Moving, blocks: Blocks) -> None:
    """Make a move from the state in which `request` is; its guard is asked all the same."""
    trigger, source, dest, guards, effects = move
    for guard in guards:
        if not guard(request, blocks):
            raise IllegalTransition(request.request_id, source, trigger, f"not {guard.__name__}")
    for effect in effects:
        effect(request, blocks)
    request._state = dest


def moves_along(state: State, triggers: Iterable[Trigger]) -> tuple[Move, ...]:
    """The moves by these triggers, one after the other, from `state` on."""
    moves: list[Move] = []
    for trigger in triggers:
        moves.append(MOVES[state, trigger])
        state = moves[-1].dest
    return tuple(moves)


def fire_through_machine(request: Moving, trigger: Trigger, blocks: Blocks) -> bool:
    """The same move by the machine itself, slowly: what `fire` is compared with.

    Answers False where a guard refuses and raises the library's `MachineError` where
    there is no such edge, as `transitions` does.
    """
    return bool(MACHINE.events[trigger.value].trigger(request, request, blocks))
