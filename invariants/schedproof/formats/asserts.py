"""What must hold at the breaking action, as plain asserts on the user's own objects.

Rules.
1. What is asserted follows from the kind of breach and its numbers: the guilty fields, what
   they were before, what the claim fixes them to. It is what the story says, and no more.
2. Requests are the variables `r1`, `r2`, …, fetched before the breaking action; `event` is
   what that step returned, `scheduler` the scheduler. Only the chapter's names are used.
3. A breach that cannot be seen in one run (a relation between two) has no entry in the
   table: such a claim cannot be written without our library.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schedproof.formats.regression import NotExportable, written
from schedproof.search.results import Counterexample, Moment
from schedproof.subjects.observation import STORED_FIELDS

HELD = "sum(r.required_blocks for r in scheduler.queue if r.admitted)"


@dataclass(frozen=True)
class Check:
    """Lines around the breaking action; `refused` where that must raise `ValueError`."""

    after: tuple[str, ...]
    before: tuple[str, ...] = ()
    refused: bool = False


def check_of(found: Counterexample) -> Check:
    """What must hold. Raises `NotExportable` for claims that need our library."""
    make = _CHECKS.get(found.text)
    made = None if make is None else make(found)
    if made is None:
        raise NotExportable("export.not_standalone", {"claim": found.claim})
    return made if isinstance(made, Check) else Check(tuple(made))


def variable(request_id: Any) -> str:
    """The name of a request's variable."""
    return "r" + re.sub(r"\W", "_", str(request_id).replace("-", "minus_"))


def _old(found: Counterexample, request_id: Any) -> dict[str, Any]:
    moment: Moment | None = found.before
    return {} if moment is None else moment.requests.get(str(request_id), {})


def _field(request_id: Any, name: str) -> str:
    request = variable(request_id)
    if name == "held_blocks":
        return f"({request}.required_blocks if {request}.admitted else 0)"
    return f"{request}.{name}"


def _same(request_id: Any, name: str, value: Any) -> str:
    sign = "is" if value is None or isinstance(value, bool) else "=="
    return f"assert {_field(request_id, name)} {sign} {written(value)}"


def _kept(found: Counterexample) -> list[str] | None:
    """The guilty fields are as they were before the action."""
    lines: list[str] = []
    for request_id, name in found.guilty:
        old = _old(found, request_id)
        if name not in old or not _is_plain(name, old[name]):
            return None
        lines.append(_same(request_id, name, old[name]))
    return lines


def _is_plain(name: str, value: Any) -> bool:
    """Whether the value is surely what the attribute holds; texts of extras may be a repr."""
    return name in STORED_FIELDS or value is None or isinstance(value, (bool, int))


def _sum(found: Counterexample) -> list[str]:
    return [f"held = {HELD}", f"assert scheduler.free_kv_blocks + held == {found.blocks}"]


def _within(found: Counterexample) -> list[str]:
    return [f"assert 0 <= scheduler.free_kv_blocks <= {found.blocks}"]


def _holds_while_running(found: Counterexample) -> list[str]:
    request = variable(found.values["request"])
    return [f'assert {request}.admitted == ({request}.status == "running")']


def _granted(found: Counterexample) -> list[str]:
    return [_same(found.values["request"], "required_blocks", found.values["granted"])]


def _newcomer(found: Counterexample) -> list[str]:
    request = found.values["request"]
    fetched = f"{variable(request)} = request(scheduler, {written(request)})"
    return [fetched, _same(request, "status", "waiting"), _same(request, "phase", "prefill")]


def _not_moved(found: Counterexample) -> list[str]:
    request, old = found.values["request"], _old(found, found.values["request"])
    return [_same(request, name, old[name]) for name in ("status", "phase", "held_blocks")]


def _not_so(found: Counterexample) -> list[str] | None:
    """The request is not in the state that it must not be in."""
    request = found.values["request"]
    new = {} if found.after is None else found.after.requests.get(str(request), {})
    if "status" not in new or "phase" not in new:
        return None
    name = variable(request)
    states = f'("{new["status"]}", "{new["phase"]}", {new["held_blocks"] > 0})'
    return [f"assert ({name}.status, {name}.phase, {name}.admitted) != {states}"]


def _status(status: str, same: bool = True) -> Callable[[Counterexample], list[str]]:
    def lines(found: Counterexample) -> list[str]:
        sign = "==" if same else "!="
        return [f'assert {variable(found.values["request"])}.status {sign} "{status}"']

    return lines


def _times_in_queue(times: int) -> Callable[[Counterexample], list[str]]:
    def lines(found: Counterexample) -> list[str]:
        ids = "[r.request_id for r in scheduler.queue]"
        return [f"assert {ids}.count({written(found.values['request'])}) == {times}"]

    return lines


def _not_fewer(found: Counterexample) -> list[str]:
    values = found.values
    return [f"assert {variable(values['request'])}.generated_len >= {values['before']}"]


def _phase(found: Counterexample) -> list[str]:
    return [_same(found.values["request"], "phase", found.values["phase_before"])]


def _counted_once(found: Counterexample) -> list[str]:
    request = found.values["request"]
    return [_same(request, "preemptions", _old(found, request)["preemptions"] + 1)]


def _one_unit(found: Counterexample) -> list[str]:
    request = found.values["request"]
    old = _old(found, request)
    tokens = old["generated_len"] + (0 if old["phase"] == "prefill" else 1)
    return [_same(request, "phase", "decode"), _same(request, "generated_len", tokens)]


def _goes_on(found: Counterexample) -> list[str]:
    request = found.values["request"]
    expected = found.values["expected"]
    return [_same(request, "phase", "decode"), _same(request, "generated_len", expected)]


def _not_again(found: Counterexample) -> list[str]:
    request = found.values["request"]
    return [_same(request, "preemptions", _old(found, request)["preemptions"])]


def _victim(found: Counterexample) -> Any:
    """Who must not have been preempted: the victim, or the second of several."""
    return found.values.get("victim", found.guilty[0][0])


def _not_reported(found: Counterexample) -> list[str]:
    victim = written(_victim(found))
    return [f'assert event is None or event["preempted_request_id"] != {victim}']


def _not_preempted(found: Counterexample) -> list[str]:
    name = variable(_victim(found))
    return [f'assert {name}.admitted or {name}.status == "finished"']


def _somebody_served(_found: Counterexample) -> list[str]:
    return ["assert event is not None"]


def _challenger_served(found: Counterexample) -> list[str]:
    request = found.values["challenger"]
    old, name = _old(found, request), variable(request)
    state = f'("{old["phase"]}", {old["generated_len"]})'
    return [
        f"assert ({name}.phase, {name}.generated_len) != {state}",
        f'assert {name}.admitted or {name}.status == "finished"',
    ]


def _right_one(found: Counterexample) -> list[str]:
    right = str(found.values["right"])
    if right == "nobody":
        return ["assert event is None"]
    return ["assert event is not None", f'assert event["request_id"] == {right.removeprefix("r")}']


def _waited(found: Counterexample) -> list[str]:
    return [_same(found.values["request"], "wait_steps", found.values["expected"])]


def _clock(found: Counterexample) -> list[str]:
    clock = 0 if found.before is None else found.before.clock
    return [f"assert scheduler.clock == {clock + found.values['expected']}"]


def _logged(found: Counterexample) -> Check:
    if found.actions[-1]["op"] != "step":
        return Check(
            ("assert scheduler.timeline == earlier",), ("earlier = [*scheduler.timeline]",)
        )
    lines = ("assert scheduler.timeline == earlier + ([] if event is None else [event])",)
    return Check(lines, ("earlier = [*scheduler.timeline]",))


def _event(found: Counterexample) -> list[str] | None:
    field, real = found.values.get("field"), found.values["real"]
    if not isinstance(field, str) or not (real is None or isinstance(real, (bool, int, str))):
        return None
    sign = "is" if real is None or isinstance(real, bool) else "=="
    return ["assert event is not None", f'assert event["{field}"] {sign} {written(real)}']


def _miss(found: Counterexample) -> list[str]:
    real = written(found.values["real"])
    return ["assert event is not None", f'assert event["deadline_missed"] is {real}']


def _refused(found: Counterexample) -> Check:
    return Check((), refused=True)


def _refused_and_nothing_changed(found: Counterexample) -> Check | None:
    """The call is refused as before, and what it changed is as it was."""
    requests = [pair for pair in found.guilty if pair[0] is not None]
    lines: list[str] = []
    for request_id, name in requests:
        old = _old(found, request_id)
        if not old:
            lines += [
                f"assert {written(request_id)} not in [r.request_id for r in scheduler.queue]"
            ]
        elif name in old and _is_plain(name, old[name]):
            lines.append(_same(request_id, name, old[name]))
        else:
            return None
    if found.before is not None:
        lines.append(f"assert scheduler.free_kv_blocks == {found.before.free}")
        lines.append(f"assert scheduler.clock == {found.before.clock}")
    lines.append("assert scheduler.timeline == earlier")
    return Check(tuple(dict.fromkeys(lines)), ("earlier = [*scheduler.timeline]",), refused=True)


def _accepted(_found: Counterexample) -> Check:
    return Check(())


def _finished(found: Counterexample) -> list[str]:
    name = variable(found.values["request"])
    return [f"assert {name}.generated_len >= {name}.max_new_tokens"]


_CHECKS: dict[str, Callable[[Counterexample], Check | list[str] | None]] = {
    "LEDGER-1": _sum,
    "LEDGER-2": _within,
    "LEDGER-3.holds_nothing": _holds_while_running,
    "LEDGER-3.still_holds": _holds_while_running,
    "LEDGER-3.other_number": _granted,
    "LIFE-1.newcomer": _newcomer,
    "LIFE-1.no_step": _not_moved,
    "LIFE-1.no_edge": _not_so,
    "LIFE-2": _kept,
    "LIFE-3.too_early": _status("finished", same=False),
    "LIFE-3.not_finished": _status("finished"),
    "LIFE-4.lost": _times_in_queue(1),
    "LIFE-4.invented": _times_in_queue(0),
    "LIFE-4.twice": _times_in_queue(1),
    "LIFE-4.no_state": _not_so,
    "PROGRESS-1.tokens": _not_fewer,
    "PROGRESS-1.phase": _phase,
    "PROGRESS-2": _kept,
    "PROGRESS-2.count": _counted_once,
    "PROGRESS-3.not_chosen": _kept,
    "PROGRESS-3.not_one_unit": _one_unit,
    "PROGRESS-4": _goes_on,
    "PREEMPT-1": _not_again,
    "VICTIM-1.challenger": _not_reported,
    "VICTIM-1.not_running": _not_reported,
    "VICTIM-2": _not_preempted,
    "VICTIM-3": _not_preempted,
    "VICTIM-4": _not_preempted,
    "VICTIM-5.nobody": _somebody_served,
    "VICTIM-5.challenger": _challenger_served,
    "VICTIM-6": _not_preempted,
    "VICTIM-6.many": _not_preempted,
    "ORDER-1": _right_one,
    "WORK-1": _somebody_served,
    "STALL-1": _somebody_served,
    "WAIT-1": _waited,
    "CLOCK-1": _clock,
    "EVENT-1.log": _logged,
    "EVENT-1": _event,
    "EVENT-2": _miss,
    "INPUT-1": _refused_and_nothing_changed,
    "INPUT-2.duplicate": _refused,
    "INPUT-2.accepted": _refused,
    "INPUT-2.valid_refused": _accepted,
    "LIVE-1": _finished,
}
