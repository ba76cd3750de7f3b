"""Relations: other actions, or another set-up, under which the choices must be the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from schedmodel.policy import KNOWN_POLICIES
from schedproof.claims.claim import GENERAL, REFERENCE, Claim, Kind, Over, needs
from schedproof.claims.edge import Breach, Judged
from schedproof.claims.run import Run, choice_of, map_enqueues
from schedproof.subjects.actions import STEP, Action, Enqueue
from schedproof.subjects.contract import Feature, Subject
from schedproof.subjects.observation import EVENT_KEYS, Answer

Report = Callable[[Answer], Any]


def _compare(run: Run, answers: Sequence[Answer], report: Report, text: str) -> Judged:
    """True if the two runs report the same, else where they part, told by `text`."""
    pairs = zip(run.base, answers, strict=True)
    for number, (base, other) in enumerate(pairs, start=1):
        if report(base) != report(other):
            values = {"step": number, "base": _told(base), "other": _told(other)}
            return Breach(text, values, ((None, "timeline"),))
    return True


def _told(answer: Answer) -> str:
    choice = choice_of(answer)
    if choice is None:
        return "–"
    victim = "" if choice.preempted is None else f" ← r{choice.preempted}"
    return f"r{choice.request_id} {choice.action}{victim}"


def _all_same(answers: Iterator[Judged]) -> Judged:
    """The first breach, or True if there was anything to compare."""
    judged: Judged = None
    for answer in answers:
        if isinstance(answer, Breach):
            return answer
        judged = True
    return judged


def _something_happened(run: Run) -> bool:
    return any(answer.event is not None for answer in run.base)


def same_actions_same_timeline(run: Run) -> Judged:
    if not run.answers:
        return None
    subject = run.start(run.config)
    again = tuple(subject.do(action) for action in run.actions)
    for number, (first, second) in enumerate(zip(run.answers, again, strict=True), start=1):
        if _without_words(first) != _without_words(second):
            values = {"action": number, "base": _told(first), "other": _told(second)}
            return Breach("REPLAY-1", values, ((None, "timeline"),))
    return True


def _without_words(answer: Answer) -> Answer:
    """An answer without the text of a refusal, which may well name an address in memory."""
    return answer._replace(refusal=None)


def enqueues_commute(run: Run) -> Judged:
    swapped: list[Action] = []
    changed = False
    for is_enqueue, group in groupby(run.accepted, key=lambda a: isinstance(a, Enqueue)):
        block = list(group)
        changed = changed or (is_enqueue and len(block) > 1)
        swapped += reversed(block) if is_enqueue else block
    if not changed or not _something_happened(run):
        return None
    return _compare(run, run.steps_of(swapped), lambda a: a.event, "ORDER-2.swap")


_MISSED = EVENT_KEYS.index("deadline_missed")


def _without_deadline(answer: Answer) -> Any:
    event = answer.event
    return None if event is None else event[:_MISSED] + event[_MISSED + 1 :]


def urgency_only_where_it_counts(run: Run) -> Judged:
    if not _something_happened(run):
        return None
    return _all_same(_urgency_variants(run))


def _urgency_variants(run: Run) -> Iterator[Judged]:
    policy = run.config.policy
    timed = any(isinstance(a, Enqueue) and a.deadline_step is not None for a in run.accepted)
    if policy != "deadline" and timed:
        free = map_enqueues(run.accepted, lambda a: {"deadline_step": None})
        yield _compare(run, run.steps_of(free), _without_deadline, "ORDER-3.deadlines")
    if not run.config.rules().ages:
        answers = run.steps_of(run.accepted, disturb=_add_waits)
        yield _compare(run, answers, choice_of, "ORDER-3.waits")


def _add_waits(subject: Subject) -> None:
    """Unequal waits, large enough to lift anybody over anybody if they counted."""
    for place, row in enumerate(subject.observe().rows):
        if not row.finished:
            subject.add_wait(row.request_id, (13 + 7 * place) * subject.config.aging_interval)


def scale_does_not_matter(run: Run) -> Judged:
    return _all_same(_scale_variants(run)) if _something_happened(run) else None


def _scale_variants(run: Run) -> Iterator[Judged]:
    raised = map_enqueues(run.accepted, lambda a: {"priority": a.priority + 7})
    yield _compare(run, run.steps_of(raised), choice_of, "ORDER-4.priorities")
    larger = map_enqueues(run.accepted, lambda a: {"required_blocks": a.required_blocks * 3})
    config = replace(run.config, blocks=run.config.blocks * 3)
    yield _compare(run, run.steps_of(larger, config), choice_of, "ORDER-4.blocks")


def names_and_dates_do_not_matter(run: Run) -> Judged:
    return _all_same(_name_variants(run)) if _something_happened(run) else None


def _name_variants(run: Run) -> Iterator[Judged]:
    renamed = map_enqueues(run.accepted, lambda a: {"request_id": 3 * a.request_id + 5})
    back = {3 * a.request_id + 5: a.request_id for a in run.accepted if isinstance(a, Enqueue)}
    answers = tuple(_rename(answer, back) for answer in run.steps_of(renamed))
    yield _compare(run, answers, choice_of, "ORDER-5.ids")
    if run.config.blocks > 0:
        yield _compare(run, _started_later(run), choice_of, "ORDER-5.later")


def _rename(answer: Answer, back: dict[int, int]) -> Answer:
    if answer.event is None:
        return answer
    ids = (EVENT_KEYS.index("request_id"), EVENT_KEYS.index("preempted_request_id"))
    event = tuple(back.get(v, v) if i in ids else v for i, v in enumerate(answer.event))
    return answer._replace(event=event)


def _started_later(run: Run) -> tuple[Answer, ...]:
    """The same run two steps later: a small request comes and goes before it."""
    used = [a.request_id for a in run.accepted if isinstance(a, Enqueue)]
    first = Enqueue(min(used, default=0) - 1, prompt_len=1, max_new_tokens=1)
    shift = map_enqueues(
        run.accepted,
        lambda a: {} if a.deadline_step is None else {"deadline_step": a.deadline_step + 2},
    )
    return run.steps_of([first, STEP, STEP, *shift])[2:]


_NEEDS = needs(Feature.EVENTS, Feature.REFERENCE_ORDER)
_KEYED = frozenset(KNOWN_POLICIES) - {"fcfs"}

CLAIMS = (
    Claim(
        "REPLAY-1",
        Kind.RELATION,
        GENERAL,
        Over.RUN,
        same_actions_same_timeline,
        "chapter, step 3: a repeatable rule",
        needs(Feature.EVENTS),
    ),
    Claim(
        "ORDER-2",
        Kind.RELATION,
        REFERENCE,
        Over.RUN,
        enqueues_commute,
        "chapter, step 3: the key ends in the id",
        _NEEDS,
        _KEYED,
    ),
    Claim(
        "ORDER-3",
        Kind.RELATION,
        REFERENCE,
        Over.RUN,
        urgency_only_where_it_counts,
        "chapter, step 3 and TODO 2",
        _NEEDS | {Feature.WAITS},
    ),
    Claim(
        "ORDER-4",
        Kind.RELATION,
        REFERENCE,
        Over.RUN,
        scale_does_not_matter,
        "chapter, step 3: only comparisons decide",
        _NEEDS,
    ),
    Claim(
        "ORDER-5",
        Kind.RELATION,
        REFERENCE,
        Over.RUN,
        names_and_dates_do_not_matter,
        "chapter, step 3: only comparisons decide",
        _NEEDS,
    ),
)
