"""The metrics, each with one definition; times in seconds.

For one request: a arrival, s begin of its first service, t_1 to t_n the times at which its
tokens are there, f = t_1, c = t_n.

    queue wait       s - a, first service only
    preempted wait   time between losing and regaining service, after s
    TTFT             f - a, the wait included
    TPOT             (c - f) / (n - 1) for n >= 2, one value for each request
    E2E              c - a
    ITL              every gap between two tokens, of all requests together

A request meets its limits if TTFT and TPOT, 0 for n = 1, are each at most the limit.
Attainment divides by all requests that arrived: rejected and unfinished ones are misses.
Goodput divides by the duration, from the first arrival to the end of the run. Starved is who
waited longer than W at a stretch, or was never served; who was rejected is counted apart.

Percentiles are numpy's, linear between ranks, over the completed requests. They are always
told with their N. What is not finished has no latency, and is never averaged in as 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schedproof.compare.record import FINISHED, NEVER, NO_BLOCKS, NO_TOKENS, WAITING, Record
from schedproof.compare.workload import NO_DEADLINE, Workload
from schedproof.settings import UsageError

PERCENTILES = (50, 95, 99)
OF_REQUESTS = ("queue_wait", "ttft", "tpot", "e2e")
Array = Any
"""A numpy array; numpy is only there with the extra `compare`."""


def numpy() -> Any:
    """numpy, or what to do to have it."""
    try:
        import numpy as np
    except ImportError:
        raise UsageError("usage.needs_numpy") from None
    return np


@dataclass(frozen=True)
class Measured:
    """One policy's run in numbers: an array with a value for each request, NaN where none is."""

    policy: str
    record: Record
    queue_wait: Array
    preempted_wait: Array
    ttft: Array
    tpot: Array
    e2e: Array
    longest_wait: Array
    met: Array
    starved: Array
    completed: Array
    deadline_missed: Array
    summary: Mapping[str, Any]


def measure(workload: Workload, record: Record) -> Measured:
    """All metrics of one run."""
    np, setup, count = numpy(), workload.setup, record.arrived
    step = setup.step
    arrival = np.array(workload.arrivals[:count])
    ends = np.frombuffer(bytes(record.ends[:count]), dtype=np.uint8)
    completed = ends == FINISHED
    rejected = (ends == NO_BLOCKS) | (ends == NO_TOKENS)
    first, token, last = (
        np.where(np.array(times[:count]) == NEVER, np.nan, np.array(times[:count]) * step)
        for times in (record.first_service, record.first_token, record.last_token)
    )
    n = np.array(workload.trace.outputs[:count])
    ttft = token - arrival
    last = np.where(completed, last, np.nan)
    tpot = np.where(n >= 2, (last - token) / np.maximum(n - 1, 1), np.nan)
    e2e = last - arrival
    longest = _longest_waits(record, arrival, first, step, rejected)
    met = completed & (ttft <= setup.slo_ttft) & ~(tpot > setup.slo_tpot)
    never = (ends == WAITING) & np.isnan(first)
    starved = ((longest > setup.starved_after) | never) & ~rejected
    deadlines = np.array(workload.deadlines[:count])
    missed = (deadlines != NO_DEADLINE) & ~(last <= deadlines)
    arrays: dict[str, Any] = {
        "queue_wait": first - arrival,
        "preempted_wait": np.array(record.preempted_steps[:count]) * step,
        "ttft": ttft,
        "tpot": tpot,
        "e2e": e2e,
        "longest_wait": longest,
        "met": met,
        "starved": starved,
        "completed": completed,
        "deadline_missed": missed,
    }
    summary = _summary(workload, record, arrays, ends)
    return Measured(record.policy, record, **arrays, summary=summary)


def _longest_waits(record: Record, arrival: Array, first: Array, step: float, out: Array) -> Array:
    """The longest stretch without blocks, up to the end of the run for who still waits."""
    np = numpy()
    end = record.end_step * step
    before = np.where(np.isnan(first), np.maximum(end - arrival, 0), first - arrival)
    lost = np.array(record.lost[: record.arrived])
    after = np.where(lost == NEVER, 0, end - lost * step)
    between = np.array(record.longest_gap[: record.arrived]) * step
    return np.where(out, np.nan, np.maximum.reduce([before, between, after]))


def _summary(
    workload: Workload, record: Record, arrays: Mapping[str, Array], ends: Array
) -> dict[str, Any]:
    np, setup = numpy(), workload.setup
    completed = arrays["completed"]
    duration = record.end_step * setup.step
    met, arrived = int(arrays["met"].sum()), record.arrived
    waits = arrays["longest_wait"]
    return {
        "arrived": arrived,
        "completed": int(completed.sum()),
        "rejected": {
            "blocks": int((ends == NO_BLOCKS).sum()),
            "token_budget": int((ends == NO_TOKENS).sum()),
        },
        "unfinished": int((ends == WAITING).sum()),
        "starved": int(arrays["starved"].sum()),
        "longest_wait": _rounded(np.nanmax(waits)) if (~np.isnan(waits)).any() else None,
        "preemptions": int(np.array(record.preemptions).sum()),
        "preempted_wait_mean": _rounded(arrays["preempted_wait"].mean()) if arrived else None,
        "deadlines": int((np.array(workload.deadlines[:arrived]) != NO_DEADLINE).sum()),
        "deadlines_missed": int(arrays["deadline_missed"].sum()),
        "slo_attainment": _rounded(met / arrived) if arrived else None,
        "goodput": _rounded(met / duration) if duration else None,
        "duration": _rounded(duration),
        "steps": record.steps,
        "found_tokens": record.found_tokens,
        **{name: spread(arrays[name][completed]) for name in OF_REQUESTS},
        "itl": gaps_spread(record.gaps, setup.step),
    }


def spread(values: Array) -> dict[str, Any]:
    """N, mean and percentiles of what is a number; None for all of an empty one."""
    np = numpy()
    values = values[~np.isnan(values)]
    n = int(values.size)
    names = [f"p{p}" for p in PERCENTILES]
    if not n:
        return {"n": 0, "mean": None, **dict.fromkeys(names)}
    found = np.percentile(values, PERCENTILES, method="linear")
    return {
        "n": n,
        "mean": _rounded(values.mean()),
        **dict(zip(names, map(_rounded, found), strict=True)),
    }


def gaps_spread(gaps: Mapping[int, int], step: float) -> dict[str, Any]:
    """The same of gaps in steps that were counted by length."""
    n = sum(gaps.values())
    names = [f"p{p}" for p in PERCENTILES]
    if not n:
        return {"n": 0, "mean": None, **dict.fromkeys(names)}
    mean = sum(gap * count for gap, count in gaps.items()) / n * step
    return {
        "n": n,
        "mean": _rounded(mean),
        **{f"p{p}": _rounded(counted_percentile(gaps, p) * step) for p in PERCENTILES},
    }


def counted_percentile(counts: Mapping[int, int], percent: float) -> float:
    """Linear interpolation at rank (N - 1) * percent / 100 over values that were counted."""
    rank = (sum(counts.values()) - 1) * percent / 100
    low, seen, below = int(rank), 0, None
    for value in sorted(counts):
        seen += counts[value]
        if below is None and seen > low:
            below = value
        if below is not None and (seen > low + 1 or rank == low):
            return below + (value - below) * (rank - low)
    assert below is not None
    return below


def _rounded(value: Any) -> float:
    """To a microsecond: digits beyond it are those of binary fractions."""
    return round(float(value), 6)
