"""One comparison from the trace to the judgements, as one value and as a JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from schedmodel import __version__
from schedproof.compare.loader import Trace
from schedproof.compare.metrics import Measured, measure, numpy
from schedproof.compare.simulate import Progress, policies_of, simulate
from schedproof.compare.verdicts import BASELINE, BLOCKS, Judgement, judge
from schedproof.compare.workload import Setup, Workload, make_workload
from schedproof.settings import UsageError, unknown

SCHEMA = "schedproof/compare/1"
MOST_STEPS = 10**15
"""Of so many steps each can still be told from the next by its time."""


@dataclass(frozen=True)
class Comparison:
    """All policies on the same arrivals; the first one is what the others are held against."""

    workload: Workload
    until: float | None
    runs: tuple[Measured, ...]
    judgements: tuple[Judgement, ...]


def compare(
    trace: Trace,
    setup: Setup,
    policies: Sequence[str],
    progress: Progress,
    until: float | None = None,
) -> Comparison:
    """Run every policy on the trace. Raises `UsageError` where a policy is not to be had."""
    numpy()  # who has none is told before anything runs
    allowed = policies_of(setup.batch)
    for policy in policies:
        if policy not in allowed and policy in policies_of(1):
            raise UsageError(
                "usage.compare_single", policy=policy, batch=setup.batch, allowed=allowed
            )
        if policy not in allowed:
            raise unknown("--policy", policy, allowed)
    workload = make_workload(trace, setup)
    if workload.arrivals[-1] / setup.step > MOST_STEPS:
        told = {"span": f"{workload.arrivals[-1]:.3g} s", "step": f"{setup.step:.3g} s"}
        raise UsageError("usage.trace_too_long", path=trace.path, **told)
    runs = tuple(measure(workload, simulate(workload, p, progress, until)) for p in policies)
    return Comparison(workload, until, runs, tuple(judge(runs, setup.seed)))


def to_document(found: Comparison) -> dict[str, Any]:
    """The comparison as JSON has it; all times in seconds."""
    workload, trace = found.workload, found.workload.trace
    return {
        "schema": SCHEMA,
        "version": __version__,
        "trace": {
            "path": trace.path,
            "sha256": trace.sha256,
            "format": trace.format.name,
            "rows_read": trace.rows_read,
            "rows_kept": len(trace),
            "rows_dropped": dict(sorted(trace.dropped.items())),
            "was_sorted": trace.was_sorted,
            "span": round(trace.arrivals[-1], 6),
        },
        "setup": {**asdict(workload.setup), "engine": engine(workload.setup), "until": found.until},
        "real": ["arrivals", "prompt_tokens", "output_tokens"],
        "derived": derived(workload),
        "assumed": ["step", "blocks", "block_size", "slo_ttft", "slo_tpot", "time_factor"],
        "synthetic": {
            "fields": ["priority", "deadline"],
            "seed": workload.setup.seed,
            "sha256": workload.synthetic_sha256(),
        },
        "bootstrap": {"blocks": BLOCKS, "interval": 0.95, "baseline": found.runs[0].policy},
        "policies": [
            {"policy": run.policy, **run.summary, "judgement": _judged(judgement)}
            for run, judgement in zip(found.runs, found.judgements, strict=True)
        ],
    }


def derived(workload: Workload) -> list[str]:
    """What follows from the hashes of the trace, where it has some and they are used."""
    if not workload.trace.has_hashes:
        return []
    return ["cache_hit"] if workload.setup.batch == 1 else ["shared_prefixes"]


def engine(setup: Setup) -> str:
    """Which of our schedulers ran."""
    return "single_step" if setup.batch == 1 else "batched"


def _judged(judgement: Judgement) -> dict[str, Any]:
    return {
        "word": judgement.word,
        "reasons": [
            {"kind": kind, "metric": metric or None}
            for kind, metric in judgement.reasons
            if kind != BASELINE
        ],
        "differences": [{**asdict(d), "sure": d.sure} for d in judgement.differences],
    }
