"""The identities of the metrics, on real arrivals and on runs that can be worked out by hand."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from tests.compare.conftest import azure, measured, workload_of

from schedmodel import KNOWN_POLICIES
from schedproof.compare import verdicts
from schedproof.compare.metrics import counted_percentile
from schedproof.compare.record import SLICES, Curve
from schedproof.compare.simulate import policies_of
from schedproof.compare.workload import Setup

ENGINES = [(1, policy) for policy in KNOWN_POLICIES] + [(8, policy) for policy in policies_of(8)]
TIGHT = Setup(step=0.001, blocks=200, starved_after=5.0, token_budget=4096)


@pytest.mark.parametrize(("batch", "policy"), ENGINES)
@pytest.mark.parametrize("until", [None, 20.0])
def test_the_identities_hold(batch: int, policy: str, until: float | None) -> None:
    setup = replace(TIGHT, batch=batch, blocks=50)
    workload = azure(30, setup)
    run = measured(workload, policy, until)
    s, done = run.summary, run.completed
    arrived = run.record.arrived
    n = np.array(workload.trace.outputs[:arrived])
    several = done & (n >= 2)
    assert s["arrived"] == s["completed"] + sum(s["rejected"].values()) + s["unfinished"] == arrived
    if until is None:
        assert (s["unfinished"], arrived) == (0, 30)
        assert s["rejected"]["blocks"] > 0
    else:
        assert list(workload.arrivals[:arrived]) == [a for a in workload.arrivals if a <= until]
    assert np.allclose(run.e2e[several], (run.ttft + run.tpot * (n - 1))[several])
    assert np.allclose(run.e2e[done & (n == 1)], run.ttft[done & (n == 1)])
    first = np.array(run.record.first_service[:arrived]) * setup.step
    token = np.array(run.record.first_token[:arrived]) * setup.step
    assert np.allclose(run.ttft[done], run.queue_wait[done] + (token - first)[done])
    assert np.all(run.queue_wait[done] >= 0)
    assert np.all(token[done] > first[done])
    assert np.all(run.ttft[done] <= run.e2e[done] + 1e-9)
    assert 0 <= s["slo_attainment"] <= done.sum() / arrived
    assert s["itl"]["n"] == sum(run.record.gaps.values())
    if until is None:
        assert s["itl"]["n"] == (n - 1)[done].sum()
        assert np.array(run.record.tokens[:arrived])[done].sum() == n[done].sum()
        total = np.nansum(run.tpot[several] * (n - 1)[several])
        assert s["itl"]["mean"] * s["itl"]["n"] == pytest.approx(total, rel=1e-3)


def test_rejected_requests_are_in_no_percentile_and_count_as_misses() -> None:
    workload = workload_of([(0.0, 16, 16), (0.0, 1600, 1)], Setup(blocks=10, step=0.01))
    run = measured(workload, "fcfs")
    assert run.summary["rejected"] == {"blocks": 1, "token_budget": 0}
    assert run.summary["ttft"]["n"] == 1
    assert run.summary["slo_attainment"] == 0.5
    assert run.summary["starved"] == 0


def test_a_run_by_hand() -> None:
    setup = Setup(blocks=2, step=1.0, slo_ttft=3, slo_tpot=1)
    run = measured(workload_of([(0.0, 10, 3), (0.5, 10, 1)], setup), "fcfs")
    # r0: prefill in step 0, tokens at 2, 3, 4. r1 is there from step 1, served from step 4 on.
    assert list(run.ttft) == [2.0, 5.5]
    assert list(run.queue_wait) == [0.0, 3.5]
    assert run.tpot[0] == 1.0
    assert np.isnan(run.tpot[1])
    assert list(run.met) == [True, False]
    assert run.summary["itl"] == {"n": 2, "mean": 1.0, "p50": 1.0, "p95": 1.0, "p99": 1.0}
    assert run.summary["duration"] == 6
    assert run.summary["goodput"] == pytest.approx(1 / 6, abs=1e-6)


def test_idle_time_is_passed_and_counts() -> None:
    run = measured(workload_of([(0.0, 1, 1), (100.0, 1, 1)], Setup(step=0.5)), "aging")
    assert run.record.steps == 4
    assert run.summary["duration"] == 101
    assert list(run.queue_wait) == [0, 0]


def test_who_waits_at_the_end_is_unfinished_and_starves() -> None:
    setup = Setup(blocks=2, step=1.0, starved_after=4.0)
    run = measured(workload_of([(0.0, 10, 20), (0.0, 10, 1)], setup), "fcfs", until=10)
    assert run.summary["unfinished"] == 2
    assert list(run.starved) == [False, True]
    assert run.longest_wait[1] == 10


def test_counted_percentiles_are_numpys() -> None:
    draw = random.Random(7)
    for size in (1, 2, 3, 50, 999):
        values = [draw.randint(1, 9) for _ in range(size)]
        counts = {value: values.count(value) for value in set(values)}
        for percent in (0, 50, 95, 99, 100):
            assert counted_percentile(counts, percent) == pytest.approx(
                np.percentile(values, percent, method="linear")
            )


def test_a_curve_keeps_the_most_of_each_slice() -> None:
    curve = Curve()
    for step in range(5000):
        curve.add(step, step % 1000)
    assert len(curve.most) <= SLICES
    assert max(curve.most) == 999


def test_a_curve_stays_at_its_last_value_while_nothing_happens() -> None:
    curve = Curve()
    for step, value in ((0, 7), (1, 9), (2, 0), (40, 3)):
        curve.add(step, value)
    assert curve.most == [7, 9, 9, *[0] * 37, 3]


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    first, again, other = (azure(30, Setup(seed=s, batch=b)) for s, b in ((1, 1), (1, 8), (2, 1)))
    assert first.synthetic_sha256() == again.synthetic_sha256() != other.synthetic_sha256()


def test_a_policy_has_not_won_against_itself() -> None:
    runs = [measured(azure(60, TIGHT), "fcfs") for _ in range(2)]
    judgement = verdicts.judge(runs, seed=0)[1]
    assert (judgement.word, judgement.reasons) == ("tune", (("nothing", ""),))
    assert all((d.seen, d.low, d.high, d.sure) == (0, 0, 0, False) for d in judgement.differences)


def test_an_interval_that_holds_zero_names_no_winner() -> None:
    unsure = verdicts.Difference("ttft_mean", -5.0, -11.0, 1.0, 100, 0.5)
    assert not unsure.better
    assert not unsure.worse
    assert verdicts.Difference("ttft_mean", -5.0, -11.0, -1.0, 100, 0.5).better
    assert verdicts.Difference("attainment", -0.5, -0.6, -0.4, 100, 0.01).worse


def test_a_difference_that_nobody_would_notice_decides_nothing() -> None:
    small = verdicts.Difference("ttft_mean", -0.4, -0.5, -0.3, 100, 0.5)
    assert small.sure
    assert not small.better
    assert not small.worse
    assert verdicts.Difference("ttft_mean", -0.5, -0.6, -0.4, 100, 0.5).better


def test_what_is_sure_and_small_is_said_to_be_so() -> None:
    run = measured(azure(60, TIGHT), "fcfs")
    slower = replace(run, ttft=run.ttft * 1.005)
    judgement = verdicts.judge([run, slower], seed=0)[1]
    assert (judgement.word, judgement.reasons) == ("tune", (("small", ""),))
    least = 0.02 * run.ttft[run.completed].mean()
    assert judgement.differences[1].least == pytest.approx(least, abs=1e-5)
    assert judgement.differences[1].sure


def test_a_clear_difference_is_found_with_its_size() -> None:
    runs = [measured(azure(60, replace(TIGHT, step=s)), "fcfs") for s in (0.001, 0.002)]
    judgement = verdicts.judge(runs, seed=0)[1]
    assert judgement.word == "reject"
    seen = {d.metric: d for d in judgement.differences}["ttft_mean"]
    assert seen.low <= seen.seen <= seen.high
    both = runs[0].completed & runs[1].completed
    assert seen.seen == pytest.approx((runs[1].ttft - runs[0].ttft)[both].mean(), abs=1e-5)
