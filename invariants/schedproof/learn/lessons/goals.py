"""Situations that a run may be asked to come to, each a question about what happened.

Rules. A goal answers with "" when the run comes to it, and otherwise with the end of the text
that says what is missing. Only what was seen of the requests counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schedproof.learn.lessons.recorder import Moment
from schedproof.subjects.observation import Row

STARVED_STEPS = 20


def survives(moments: Sequence[Moment]) -> str:
    """A request is preempted after its first token, and finishes all the same."""
    return _preempted_and_finished(moments)


def prefills_again(moments: Sequence[Moment]) -> str:
    """The same for requests that lose what was computed: their prefill is repeated."""
    return _preempted_and_finished(moments)


def _preempted_and_finished(moments: Sequence[Moment]) -> str:
    preempted = {
        row.request_id: row.generated_len
        for moment in moments
        for row, after in _pairs(moment)
        if after.preemptions > row.preemptions
    }
    if not preempted:
        return "nobody"
    late = {request for request, generated in preempted.items() if generated}
    if not late:
        return "too_early"
    finished = {row.request_id for row in moments[-1].after.rows if row.finished}
    return "" if late & finished else "unfinished"


def more_blocks(moments: Sequence[Moment]) -> str:
    """Two could give way and have the same priority; the one with the greater id does."""
    told = "nobody"
    for moment in moments:
        victims = [row for row, after in _pairs(moment) if after.preemptions > row.preemptions]
        if not victims:
            continue
        (victim,) = victims
        others = [other for other in _could_give_way(moment, victim) if other is not victim]
        if any(other.request_id < victim.request_id for other in others):
            return ""
        told = "alone" if not others else "smaller_id"
    return told


def _could_give_way(moment: Moment, victim: Row) -> list[Row]:
    """Those of the victim's priority who hold blocks enough and may be preempted."""
    (served,) = (row for row in moment.before.rows if row.request_id == moment.served[0])
    missing = served.required_blocks - moment.before.free
    return [
        row
        for row in moment.before.rows
        if row.admitted and row.preemptible and row.held_blocks >= missing
        if row.priority == victim.priority
    ]


def starves(moments: Sequence[Moment]) -> str:
    """Of never more than two unfinished requests, one waits for many steps in a row."""
    if any(sum(not row.finished for row in moment.after.rows) > 2 for moment in moments):
        return "crowd"
    waited: dict[int, int] = {}
    for moment in moments:
        for row in moment.before.rows:
            served = row.request_id in moment.served
            waited[row.request_id] = 0 if served else waited.get(row.request_id, 0)
            if moment.served and not served and not row.finished:
                waited[row.request_id] += 1
                if waited[row.request_id] >= STARVED_STEPS:
                    return ""
    return "served"


def _pairs(moment: Moment) -> list[tuple[Row, Row]]:
    """Each request before and after an action."""
    after = {row.request_id: row for row in moment.after.rows}
    return [(row, after[row.request_id]) for row in moment.before.rows if row.request_id in after]


GOALS: dict[str, Callable[[Sequence[Moment]], str]] = {
    goal.__name__: goal for goal in (survives, prefills_again, more_blocks, starves)
}
