"""Policies against a baseline, request by request, and what may be said of it.

Rules.
1. Both policies served the same requests, so each request is its own control: what is looked
   at is the difference, policy less baseline, over the requests that both completed.
2. Requests that arrive together share their fate. So blocks of consecutive arrivals are drawn
   again, not single requests: `BLOCKS` blocks of equal numbers of requests, with a seed of
   their own. The interval holds the middle 95 % of the differences so drawn.
3. Where the interval holds zero nobody has won, whatever the means say. It tells how much
   hangs on which stretch of this trace was seen, and nothing of other traces.
4. A difference counts from a size on that somebody would notice: `LEAST_SHARE` of the
   baseline's time, `LEAST_POINTS` of all requests. Smaller ones are told and decide nothing.
5. reject: something that counts is surely worse, or more requests starve. accept: nothing is,
   and something is surely better. tune: neither, or better and worse at once without anybody
   starving. What counts: mean queue wait, mean TTFT, P99 of TTFT, attainment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schedproof.compare.metrics import Array, Measured, numpy

BLOCKS = 40
DRAWS, DRAWS_OF_MANY, MANY = 1000, 200, 50_000
LESS_IS_BETTER = {"queue_wait_mean": True, "ttft_mean": True, "ttft_p99": True, "attainment": False}
LEAST_SHARE, LEAST_POINTS = 0.02, 0.01
ACCEPT, TUNE, REJECT, BASELINE = "accept", "tune", "reject", "baseline"


@dataclass(frozen=True)
class Difference:
    """Policy less baseline: the difference seen, the interval it lies in, the least that counts."""

    metric: str
    seen: float
    low: float
    high: float
    n: int
    least: float

    @property
    def sure(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0 or self.high < 0

    @property
    def counts(self) -> bool:
        """Whether it is sure, and large enough to be noticed."""
        return self.sure and abs(self.seen) >= self.least

    @property
    def better(self) -> bool:
        return self.counts and (self.high < 0) == LESS_IS_BETTER[self.metric]

    @property
    def worse(self) -> bool:
        return self.counts and not self.better


@dataclass(frozen=True)
class Judgement:
    """One policy against the baseline."""

    policy: str
    word: str
    reasons: tuple[tuple[str, str], ...]
    """(kind, metric), kind being better, worse, starved, small, nothing or baseline."""
    differences: tuple[Difference, ...] = ()


def judge(runs: Sequence[Measured], seed: int) -> list[Judgement]:
    """Every run against the first."""
    baseline = runs[0]
    first = Judgement(baseline.policy, BASELINE, ((BASELINE, ""),))
    return [first, *(_against(baseline, run, seed) for run in runs[1:])]


def _against(baseline: Measured, run: Measured, seed: int) -> Judgement:
    differences = tuple(_differences(baseline, run, seed))
    better = [("better", d.metric) for d in differences if d.better]
    worse = [("worse", d.metric) for d in differences if d.worse]
    more_starve = run.summary["starved"] > baseline.summary["starved"]
    starved = [("starved", "")] if more_starve else []
    if starved or (worse and not better):
        word = REJECT
    elif better and not worse:
        word = ACCEPT
    else:
        word = TUNE
    none = "small" if any(d.sure for d in differences) else "nothing"
    reasons = (*starved, *worse, *better) or ((none, ""),)
    return Judgement(run.policy, word, reasons, differences)


def _differences(baseline: Measured, run: Measured, seed: int) -> list[Difference]:
    np = numpy()
    both = baseline.completed & run.completed
    places = np.flatnonzero(both)
    everybody = np.arange(both.size)
    found: list[Difference] = []
    for metric, of, name, kind in (
        ("queue_wait_mean", places, "queue_wait", "mean"),
        ("ttft_mean", places, "ttft", "mean"),
        ("ttft_p99", places, "ttft", "p99"),
        ("attainment", everybody, "met", "mean"),
    ):
        if of.size >= BLOCKS:
            pair = getattr(baseline, name)[of], getattr(run, name)[of]
            found.append(_difference(metric, pair, kind, seed))
    return found


def _difference(metric: str, pair: tuple[Array, Array], kind: str, seed: int) -> Difference:
    np = numpy()
    base, other = (values.astype(float) for values in pair)
    n = base.size
    edges = np.linspace(0, n, BLOCKS + 1).astype(int)
    draws = DRAWS if n <= MANY else DRAWS_OF_MANY
    drawn = np.random.default_rng(seed).integers(0, BLOCKS, (draws, BLOCKS))
    if kind == "mean":
        difference = other - base
        seen, usual = difference.mean(), base.mean()
        sums = np.add.reduceat(difference, edges[:-1])
        sizes = np.diff(edges)
        values = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    else:
        usual = np.percentile(base, 99)
        seen = np.percentile(other, 99) - usual
        parts = [np.split(values, edges[1:-1]) for values in (base, other)]
        values = np.array([_p99_difference(parts, blocks) for blocks in drawn])
    low, high = np.percentile(values, (2.5, 97.5))
    seen, low, high = (round(float(value), 6) for value in (seen, low, high))
    least = LEAST_POINTS if metric == "attainment" else round(LEAST_SHARE * float(usual), 6)
    return Difference(metric, seen, low, high, n, least)


def _p99_difference(parts: Sequence[Sequence[Array]], blocks: Array) -> Any:
    np = numpy()
    base, other = (np.percentile(np.concatenate([p[b] for b in blocks]), 99) for p in parts)
    return other - base
