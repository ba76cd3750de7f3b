"""One claim that stands apart: in every step the scheduler does what the built-in model does.

Rules.
1. It is judged edge by edge: the model is put into the state before the action, takes the
   same action, and its answer and the state after it are compared field by field. So the
   shortest way to a difference is found like that to any violation.
2. It is judged only when somebody asks for it (`--against model`): a scheduler of one's own
   may do other things than the chapter's and be right.
3. What is told is the first difference, in this order: whether a request is accepted, whom
   the step serves, whom it preempts, the free blocks, the requests, the rest of the event.
"""

from __future__ import annotations

from typing import Any

from schedmodel.request import RequestState
from schedmodel.scheduler import DecodeSchedulerSim, Snapshot
from schedproof.claims.claim import REFERENCE, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Edge, Judged
from schedproof.subjects.contract import Feature
from schedproof.subjects.observation import EVENT_KEYS, STORED_FIELDS, Row

MODEL = "model"
_SLOTS = RequestState.__slots__
_FIRST = ("request_id", "preempted_request_id")


def does_as_the_model(edge: Edge) -> Judged:
    if not edge.stepped:
        return _accepts_as_the_model(edge)
    if any(row.state is None for row in edge.before):
        return None
    model = DecodeSchedulerSim(edge.rules.name, edge.capacity, edge.rules.aging_interval)
    rows = tuple(tuple(_value(row, slot) for slot in _SLOTS) for row in edge.before)
    model.restore(Snapshot(edge.rules, edge.clock or 0, edge.free_before, rows, ()))
    event: Any = model.step()
    questions = (_served_as(edge, event), _after(edge, model), _event(edge, event))
    return next((broken for broken in questions if broken is not None), True)


def _value(row: Row, slot: str) -> object:
    value: object = getattr(row, slot.removeprefix("_"))
    return value


def _accepts_as_the_model(edge: Edge) -> Judged:
    if edge.answer.accepted is None:
        return None
    if edge.refused == (edge.must_refuse is not None):
        return True
    request = getattr(edge.action, "request_id", None)
    kind = "MODEL-1.refused" if edge.refused else "MODEL-1.accepted"
    values = {"request": request, "argument": edge.must_refuse or ""}
    return Breach(kind, values, ((request, "request_id"),))


def _served_as(edge: Edge, due: dict[str, Any] | None) -> Breach | None:
    """Whether the same request is served, and the same one preempted for it."""
    got = edge.event
    if not got or due is None:
        if bool(got) == (due is not None):
            return None
        chosen = None if due is None else due["request_id"]
        values = {"got": _name(got.get("request_id")), "due": _name(chosen)}
        return Breach("MODEL-1.served", values, _served(edge, chosen))
    return next((_differs(edge, n, got.get(n), due) for n in _FIRST if got.get(n) != due[n]), None)


def _event(edge: Edge, due: dict[str, Any] | None) -> Breach | None:
    """Whether the rest of the event is the same."""
    got = edge.event
    names = EVENT_KEYS if got and due is not None else ()
    due = due or {}
    return next((_differs(edge, n, got.get(n), due) for n in names if got.get(n) != due[n]), None)


def _differs(edge: Edge, name: str, got: Any, due: dict[str, Any]) -> Breach:
    """The breach for one value of the event."""
    if name == "request_id":
        values = {"got": _name(got), "due": _name(due[name])}
        return Breach("MODEL-1.served", values, _served(edge, due[name]))
    if name == "preempted_request_id":
        return Breach("MODEL-1.victim", {"got": _name(got), "due": _name(due[name])})
    return Breach("MODEL-1.event", {"field": name, "got": got, "due": due[name]})


def _name(request_id: Any) -> str:
    return "nobody" if request_id is None else f"r{request_id}"


def _served(edge: Edge, due: Any) -> tuple[tuple[int | None, str], ...]:
    known = edge.before_by_id
    ids = [i for i in (*edge.served, due) if i in known]
    return tuple((i, "generated_len") for i in dict.fromkeys(ids))


def _after(edge: Edge, model: DecodeSchedulerSim) -> Breach | None:
    if edge.free_after != model.free_kv_blocks:
        values = {"got": edge.free_after, "due": model.free_kv_blocks}
        return Breach("MODEL-1.free", values, ((None, "free_kv_blocks"),))
    for due in model.queue:
        row = edge.after_by_id.get(due.request_id)
        for name in STORED_FIELDS:
            got = None if row is None else getattr(row, name)
            right = _of_model(due, name)
            if got != right and not (row is None and due.status == "finished"):
                told = {"request": due.request_id, "field": name, "got": got, "due": right}
                return Breach("MODEL-1.state", told, ((due.request_id, name),))
    return None


def _of_model(request: RequestState, name: str) -> Any:
    if name == "held_blocks":
        return request.required_blocks if request.admitted else 0
    return getattr(request, name)


MODEL_1 = Claim(
    "MODEL-1",
    Kind.ALWAYS,
    REFERENCE,
    Over.EDGE,
    does_as_the_model,
    "chapter, the reference solution",
    needs(Feature.LIFECYCLE, Feature.LEDGER, Feature.EVENTS, Feature.REFERENCE_ORDER),
)
