"""The paged scheduler of a comparison does what the plain one does, only faster."""

from __future__ import annotations

from array import array
from random import Random
from typing import Any

import pytest
from tests.compare.conftest import made_up, workload_of

from schedmodel.paged import PagedScheduler
from schedproof.compare import simulate as module
from schedproof.compare.formats import FORMATS
from schedproof.compare.loader import Trace, load
from schedproof.compare.paging import FreeList, Naming
from schedproof.compare.record import Record
from schedproof.compare.simulate import simulate
from schedproof.compare.workload import Setup, Workload, make_workload

PART = FORMATS["bailian"].block_tokens
KEPT = (
    "first_service first_token last_token lost preempted_steps longest_gap preemptions tokens ends "
    "gaps arrived steps end_step found_tokens"
).split()


def hashed(random: Random, count: int) -> Trace:
    """Requests of which many begin as earlier ones do, by the hashes of their parts."""
    trace = made_up(
        [(n / 50, 1 + random.randrange(90), 1 + random.randrange(20)) for n in range(count)]
    )
    trace.format = FORMATS["bailian"]
    fresh = iter(range(1, 10**6))
    for prompt in trace.prompts:
        parts = -(-prompt // PART)
        earlier = random.choice(trace.hashes)[:parts] if trace.hashes else array("q")
        shared = earlier[: random.randint(0, len(earlier))]
        trace.hashes.append(
            array("q", [*shared, *(next(fresh) for _ in range(parts - len(shared)))])
        )
    return trace


def run(workload: Workload, policy: str) -> dict[str, Any]:
    record: Record = simulate(workload, policy, lambda _data: None)
    return {name: getattr(record, name) for name in KEPT}


@pytest.mark.parametrize("policy", ["fcfs", "fixed_priority"])
@pytest.mark.parametrize("seed", range(4))
def test_both_pools_lead_to_the_same_run(
    seed: int, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    setup = Setup(
        blocks=random.choice((14, 20, 60)),
        block_size=random.choice((8, 12, 16)),
        batch=random.choice((2, 5)),
        token_budget=random.choice((24, 64)),
        step=0.01,
        seed=seed,
    )
    workload = make_workload(hashed(random, 40), setup)
    fast = run(workload, policy)
    monkeypatch.setattr(module, "SimulatedPagedScheduler", PagedScheduler)
    assert fast == run(workload, policy)
    assert fast["found_tokens"] > 0


def test_prompts_that_begin_alike_share_what_is_known() -> None:
    trace = made_up([(0.0, 64, 1), (1.0, 64, 1), (2.0, 64, 1)])
    trace.format = FORMATS["bailian"]
    trace.hashes = [array("q", row) for row in ([1, 2, 3, 4], [1, 2, 5, 6], [7, 2, 3, 4])]
    setup = Setup(blocks=32, block_size=16, batch=4, step=0.01)
    assert run(make_workload(trace, setup), "fcfs")["found_tokens"] == 2 * 16


def test_without_hashes_nobody_shares_anything() -> None:
    workload = workload_of([(0.0, 64, 1), (1.0, 64, 1)], Setup(blocks=32, batch=4, step=0.01))
    assert run(workload, "fcfs")["found_tokens"] == 0


def test_hashes_are_kept_where_they_are_asked_for() -> None:
    path = "tests/data/traces/mooncake_fast25_conversation_rows_00001_00150.jsonl"
    assert load(path, rows=5).hashes == []
    trace = load(path, rows=5, hashes=True)
    assert [len(row) for row in trace.hashes] == [-(-p // 512) for p in trace.prompts]
    assert {row[0] for row in trace.hashes} == {trace.hashes[0][0]}  # they all begin alike


def test_only_the_last_token_of_a_block_is_told_apart() -> None:
    naming = Naming(workload_of([(0.0, 40, 9), (0.0, 40, 9)], Setup(block_size=16, batch=2)))
    first, second = naming.prompt(0), naming.prompt(1)
    assert [place for place, token in enumerate(first) if token] == [15, 31]
    assert {first[15], first[31]}.isdisjoint(second)
    assert (naming.token(0, 46), naming.token(0, 48)) == (0, 0)
    assert naming.token(0, 47) not in (0, naming.token(1, 47))


def test_the_block_that_is_free_for_longest_goes_first() -> None:
    free = FreeList(3)
    free.remove(0)
    assert (free.pop(0), [*free], len(free)) == (1, [2], 1)
    free.append(0)
    assert (free.pop(0), free.pop(0), len(free)) == (2, 0, 0)
