"""Going back in time: `snapshot` and `restore`, and `fork` into another future."""

from __future__ import annotations

from hypothesis import given
from tests.model.conftest import BY_POLICY, QUICK, SCHEDULERS, SCRIPTS, Op, play, row

from schedmodel import DecodeSchedulerSim, Event, RequestState


@QUICK
@given(SCHEDULERS, SCRIPTS, SCRIPTS)
def test_restore_undoes_whatever_came_after_the_snapshot(
    sim: DecodeSchedulerSim, before: list[Op], after: list[Op]
) -> None:
    play(sim, before)
    then, snapshot, requests = row(sim), sim.snapshot(), list(sim.queue)
    queue, timeline = sim.queue, sim.timeline
    play(sim, after)
    sim.policy, sim.aging_interval = "aging", 9
    later, later_snapshot = row(sim), sim.snapshot()
    sim.restore(snapshot)
    assert row(sim) == then
    assert sim.queue is queue
    assert sim.timeline is timeline
    assert all(mine is theirs for mine, theirs in zip(sim.queue, requests, strict=True))
    sim.restore(later_snapshot)
    assert row(sim) == later


@QUICK
@given(SCHEDULERS, SCRIPTS, SCRIPTS)
def test_restored_and_forked_schedulers_go_on_like_the_first(
    sim: DecodeSchedulerSim, before: list[Op], after: list[Op]
) -> None:
    play(sim, before)
    snapshot, fork = sim.snapshot(), sim.fork()
    play(sim, after)
    went_to = row(sim)
    play(fork, after)
    assert row(fork) == went_to
    sim.restore(snapshot)
    play(sim, after)
    assert row(sim) == went_to


@QUICK
@given(SCHEDULERS, SCRIPTS, SCRIPTS)
def test_a_fork_and_its_origin_leave_each_other_alone(
    sim: DecodeSchedulerSim, before: list[Op], after: list[Op]
) -> None:
    play(sim, before)
    then, fork = row(sim), sim.fork()
    assert row(fork) == then
    play(fork, after)
    assert row(sim) == then
    went_to = row(fork)
    sim.policy = "deadline"
    play(sim, reversed(after))
    assert row(fork) == went_to


@BY_POLICY
def test_a_fork_keeps_policy_interval_pool_and_class(policy: str) -> None:
    class Course(DecodeSchedulerSim):
        pass

    sim = Course("fixed_priority", free_kv_blocks=5, aging_interval=3)
    sim.enqueue(1, 4, required_blocks=4)
    sim.step()
    sim.policy, sim.aging_interval = policy, 2
    fork = sim.fork()
    assert type(fork) is Course
    assert (fork.policy, fork.aging_interval) == (policy, 2)
    assert (fork.free_kv_blocks, fork.ledger.capacity) == (1, 5)
    fork.run()
    assert fork.free_kv_blocks == 5


class Lesson(DecodeSchedulerSim):
    """A subclass whose constructor takes something else, and that keeps a diary."""

    def __init__(self, title: str) -> None:
        super().__init__("aging", free_kv_blocks=2)
        self.title = title
        self.diary: list[int] = []
        self.first: RequestState | None = None

    def step(self) -> Event | None:
        event = super().step()
        if event is not None:
            self.diary.append(event["request_id"])
            self.first = self.first or self.queue[0]
        return event


def test_a_fork_of_a_subclass_keeps_what_the_subclass_added() -> None:
    sim = Lesson("aging")
    sim.enqueue(1, 4)
    sim.step()
    fork = sim.fork()
    assert isinstance(fork, Lesson)
    assert (fork.title, fork.diary) == ("aging", [1])
    assert fork.first is fork.queue[0]
    fork.run()
    assert (fork.diary, sim.diary) == ([1, 1, 1], [1])


class Tagged(RequestState):
    """A request of another make, with fields of its own."""

    __slots__ = ("tag",)


def test_a_request_of_a_subclass_is_restored_too() -> None:
    sim = DecodeSchedulerSim()
    sim.queue.append(Tagged(1, 4, 2))
    snapshot, before = sim.snapshot(), row(sim)
    sim.run()
    sim.restore(snapshot)
    assert row(sim) == before
    assert type(sim.queue[0]) is Tagged
