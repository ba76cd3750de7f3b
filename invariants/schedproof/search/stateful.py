"""Random search: Hypothesis leads a scheduler through rules, and every action is judged.

Rules.
1. The rules are: enqueue a valid request, enqueue a valid one that rivals a running one,
   enqueue an invalid one, step, run (several steps), and abort where there are batches. Invalid
   enqueue and step are enabled at all times, so there is always one.
2. After every action all applicable claims are judged; when the run ends it is drained,
   and the claims about whole runs are judged.
3. Requests are drawn small and around the size of the pool: that is where schedulers
   break. One in eight is larger than the pool.
4. Nothing that is drawn depends on anything but the choices of Hypothesis, so a seed
   gives the same runs again.

Only this module imports Hypothesis, and only when it is used.
"""

from __future__ import annotations

import unittest
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import hypothesis
import hypothesis.errors
from hypothesis import HealthCheck, Phase, Verbosity, event, target
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from schedproof.claims.judge import Judge
from schedproof.claims.run import StartSubject
from schedproof.search.profiles import Bounds, Profile
from schedproof.search.replay import counterexample, shortened
from schedproof.search.results import Counterexample
from schedproof.search.session import ClaimBroken, Session, Violation
from schedproof.subjects.actions import STEP, Abort, BatchEnqueue, Enqueue
from schedproof.subjects.contract import Config, Feature, Limits, SubjectError

FLAKY = (hypothesis.errors.Flaky, hypothesis.errors.FlakyFailure)
"""What Hypothesis raises when the same choices do not lead to the same end."""

Draw = Callable[[st.SearchStrategy[Any]], Any]
NOT_WHOLE = (True, 1.0, "1", None, float("nan"))
WRONG_TYPES = {
    "request_id": NOT_WHOLE,
    "prompt_len": NOT_WHOLE,
    "max_new_tokens": NOT_WHOLE,
    "required_blocks": NOT_WHOLE,
    "priority": NOT_WHOLE,
    "deadline_step": (True, 99.0, "99", float("nan")),
    "cache_hit": (1, "yes", None),
    "preemptible": (0, "no", None),
}


@st.composite
def valid_requests(draw: Draw, session: Session, bounds: Bounds, rival: bool = False) -> Enqueue:
    """A request that the chapter accepts now, with an id that was not used.

    A rival outranks one that is running and does not fit beside it, where that can be.
    """
    unused = [i for i in range(1, 2 * bounds.requests + 1) if i not in session.used_ids]
    largest = max(1, session.config.blocks)
    least_blocks, (least_priority, most_priority) = 1, bounds.priorities
    if rival:
        lowest = min(row.priority for row in session.seen.rows if row.admitted)
        least_blocks = min(session.seen.free + 1, largest)
        least_priority = min(lowest + 1, most_priority)
    too_large = draw(st.integers(0, 7)) == 7
    clock = session.seen.clock
    deadlines = st.one_of(st.none(), st.integers(clock + 1, clock + bounds.deadline_in))
    return Enqueue(
        request_id=draw(st.sampled_from(unused)),
        prompt_len=draw(st.integers(1, bounds.prompt_len)),
        max_new_tokens=draw(st.integers(1, bounds.max_new_tokens)),
        priority=draw(st.integers(least_priority, most_priority)),
        cache_hit=draw(st.booleans()),
        required_blocks=largest + 1 if too_large else draw(st.integers(least_blocks, largest)),
        deadline_step=draw(deadlines),
        preemptible=draw(st.integers(0, 3)) < 3,
    )


@st.composite
def invalid_requests(draw: Draw, session: Session, bounds: Bounds) -> Enqueue:
    """A request that must be refused now, for one reason."""
    fresh = 2 * bounds.requests + 1
    batches = session.config.limits is not None
    good = (BatchEnqueue if batches else Enqueue)(request_id=fresh, prompt_len=1)
    wrong: list[dict[str, Any]] = [
        {name: size}
        for name in ("prompt_len", "max_new_tokens", "required_blocks")
        for size in (0, -1)
    ]
    clock = session.seen.clock
    wrong += [{"deadline_step": clock}, {"deadline_step": clock - 1}]
    wrong += [{"request_id": used} for used in sorted(session.used_ids)]
    if Feature.STRICT_TYPES in session.subject.features:
        wrong += [{name: v} for name, values in WRONG_TYPES.items() for v in values]
    wrong = [change for change in wrong if set(change) <= set(good.arguments())]
    return replace(good, **draw(st.sampled_from(wrong)))


@st.composite
def batch_requests(draw: Draw, session: Session, bounds: Bounds, rival: bool = False) -> Enqueue:
    """The same for a scheduler of batches: small, and around what the pool holds.

    A rival outranks somebody who runs, where that can be.
    """
    unused = [i for i in range(1, 2 * bounds.requests + 1) if i not in session.used_ids]
    limits = session.config.limits or Limits()
    room = max(2, session.config.blocks * limits.block_size)
    least, most = bounds.priorities
    if rival:
        least = min(most, 1 + min(row.priority for row in session.seen.rows if row.admitted))
    prompt_len = draw(st.integers(1, max(1, room // 3)))
    too_large = draw(st.integers(0, 7)) == 7
    longest = room if too_large else max(1, room - prompt_len)
    return BatchEnqueue(
        request_id=draw(st.sampled_from(unused)),
        prompt_len=prompt_len,
        max_new_tokens=draw(st.integers(min(3, longest), longest)),
        priority=draw(st.integers(least, most)),
    )


class OutOfMemory(BaseException):
    """Ends everything; the first argument is the `SubjectError` that says where."""


class SchedulerMachine(RuleBasedStateMachine):
    """The rules; `make_machine` binds them to a scheduler, a configuration and a judge."""

    start: StartSubject
    config: Config
    judge: Judge
    bounds: Bounds
    before_action: Callable[[Session], None]
    ended: Callable[[Session], None]
    broken: Callable[[Violation], None]

    def __init__(self) -> None:
        super().__init__()
        self.session = Session(type(self).start, self.config, self.judge)

    def _do(self, action: Any) -> None:
        type(self).before_action(self.session)
        with self._telling():
            self.session.do(action)

    @contextmanager
    def _telling(self) -> Generator[None, None, None]:
        """Show a violation to whoever wants it, before Hypothesis begins to shrink it."""
        try:
            yield
        except ClaimBroken as error:
            type(self).broken(error.violation)
            raise
        except SubjectError as error:
            if error.kind == "memory":  # the next try might fit: nothing to shrink
                raise OutOfMemory(error) from error
            raise

    def _has_room(self) -> bool:
        return len(self.session.used_ids) < self.bounds.requests

    def _a_request(self, rival: bool = False) -> st.SearchStrategy[Enqueue]:
        drawn = valid_requests if self.config.limits is None else batch_requests
        return drawn(self.session, self.bounds, rival=rival)

    def _is_serving(self) -> bool:
        return any(row.admitted for row in self.session.seen.rows)

    @rule(data=st.data())
    @precondition(_has_room)
    def enqueue(self, data: Any) -> None:
        self._do(data.draw(self._a_request()))

    @rule(data=st.data())
    @precondition(lambda self: self._has_room() and self._is_serving())
    def enqueue_rival(self, data: Any) -> None:
        self._do(data.draw(self._a_request(rival=True)))

    @rule(data=st.data())
    def enqueue_invalid(self, data: Any) -> None:
        self._do(data.draw(invalid_requests(self.session, self.bounds)))

    @rule()
    def step(self) -> None:
        self._do(STEP)

    @rule(steps=st.integers(2, 5))
    def run(self, steps: int) -> None:
        for _ in range(steps):
            self._do(STEP)

    def teardown(self) -> None:
        session = self.session
        type(self).ended(session)
        for name in self.judge.names(session.exercised):
            if name.startswith("REACH-"):
                event(name)
        depth = max((row.preemptions for row in session.seen.rows), default=0)
        target(float(depth), label="preemptions of one request")
        if not session.over:
            with self._telling():
                session.drain()
                session.judge_run()


class BatchMachine(SchedulerMachine):
    """The same for schedulers of batches, which abort.

    It is a machine of its own: a rule that is never enabled takes draws from all the others.
    """

    @rule(data=st.data())
    @precondition(lambda self: bool(self.session.used_ids))
    def abort(self, data: Any) -> None:
        self._do(Abort(data.draw(st.sampled_from(sorted(self.session.used_ids)))))


def _nothing(*_: Any) -> None:
    """What a machine does besides, when nobody asked for more."""


def make_machine(
    start: StartSubject,
    config: Config,
    judge: Judge,
    bounds: Bounds,
    before_action: Callable[[Session], None] = _nothing,
    ended: Callable[[Session], None] = _nothing,
    broken: Callable[[Violation], None] = _nothing,
) -> type[SchedulerMachine]:
    """A Hypothesis state machine for one scheduler under one configuration.

    `before_action` is called with the session before each action, `ended` after each run,
    `broken` with each violation, those found while shrinking too.
    """
    bound = {
        "start": staticmethod(start),
        "config": config,
        "judge": judge,
        "bounds": bounds,
        "before_action": staticmethod(before_action),
        "ended": staticmethod(ended),
        "broken": staticmethod(broken),
    }
    machine = BatchMachine if config.limits else SchedulerMachine
    made: Any = type(SchedulerMachine.__name__, (machine,), bound)
    return cast("type[SchedulerMachine]", made)


def settings_of(profile: Profile, shrink: bool = True) -> hypothesis.settings:
    """Hypothesis settings of a profile: no database, no deadline, one bug at a time."""
    phases = [Phase.generate, Phase.target] + ([Phase.shrink] if shrink else [])
    return hypothesis.settings(
        max_examples=profile.examples,
        stateful_step_count=profile.actions,
        phases=phases,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=cast(list[HealthCheck], list(HealthCheck)),
        verbosity=Verbosity.quiet,
    )


def run_machine(machine: type[SchedulerMachine], profile: Profile, seed: int) -> None:
    """Run a machine to the end of its profile; raises what the machine raised, shrunk."""
    seeded = hypothesis.seed(seed)(machine)
    run: Callable[..., None] = run_state_machine_as_test  # typed in some releases only
    run(seeded, settings=settings_of(profile))


def test_case(
    machine: type[SchedulerMachine],
    profile: Profile,
    name: str,
    story: Callable[[Counterexample], str],
) -> type[unittest.TestCase]:
    """The machine as a `unittest.TestCase`; a broken claim fails it with the story told."""

    class Case(unittest.TestCase):
        def test_no_claim_is_broken(self) -> None:
            try:
                run_machine(machine, profile, profile.seed or 0)
            except ClaimBroken as broken:
                small = shortened(machine.start, machine.judge.claims, broken.violation)
                found = counterexample(machine.start, small, found_by="random")
                self.fail(story(found))

    Case.__name__ = Case.__qualname__ = name
    return Case
