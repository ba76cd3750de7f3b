"""A comparison as CSV, a line for each request and policy; and where its files may go.

Rules. Places are looked at before anything runs, so that nobody waits for a result that cannot
be kept. The trace itself is never written over, and neither is one file by the other.
"""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

from schedproof.compare.comparing import Comparison
from schedproof.compare.record import FINISHED, NO_BLOCKS, NO_TOKENS, WAITING
from schedproof.compare.workload import NO_DEADLINE
from schedproof.settings import UsageError

OUTCOMES = {
    FINISHED: "completed",
    WAITING: "unfinished",
    NO_BLOCKS: "rejected_blocks",
    NO_TOKENS: "rejected_token_budget",
}
HEADING = (
    "policy request_id arrived_at num_prefill_tokens num_decode_tokens cache_hit blocks "
    "synthetic_priority synthetic_deadline outcome queue_wait preempted_wait ttft tpot e2e "
    "longest_wait preemptions slo_met starved deadline_missed"
).split()


def to_csv(found: Comparison) -> str:
    """All requests under all policies; times in seconds, nothing where there is no value."""
    workload, trace = found.workload, found.workload.trace
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    write(HEADING)
    for run in found.runs:
        for place in range(run.record.arrived):
            deadline = workload.deadlines[place]
            times = (run.queue_wait, run.preempted_wait, run.ttft, run.tpot, run.e2e)
            write(
                [
                    run.policy,
                    place,
                    _number(workload.arrivals[place]),
                    trace.prompts[place],
                    trace.outputs[place],
                    trace.hits[place],
                    workload.blocks(place),
                    workload.priorities[place],
                    "" if deadline == NO_DEADLINE else _number(deadline),
                    OUTCOMES[run.record.ends[place]],
                    *(_number(values[place]) for values in (*times, run.longest_wait)),
                    run.record.preemptions[place],
                    int(run.met[place]),
                    int(run.starved[place]),
                    int(run.deadline_missed[place]),
                ]
            )
    return text.getvalue()


def look_at_places(trace: str, *places: str | None) -> None:
    """Raise `UsageError` if one of these files could not be written as far as can be seen now."""
    taken: list[Path] = []
    for place in places:
        if place is None:
            continue
        if place == "-":
            raise UsageError("usage.no_standard_output")
        path = Path(place).expanduser()
        real = path.resolve()
        if real == Path(trace).resolve():
            raise UsageError("usage.compare_over_trace", path=place)
        if real in taken:
            raise UsageError("usage.compare_twice", path=place)
        taken.append(real)
        if path.is_dir():
            raise UsageError("usage.compare_folder", path=place)
        folder = next(each for each in real.parents if each.exists())
        if not folder.is_dir():
            raise UsageError("usage.report_no_folder", path=str(folder))
        if not os.access(folder, os.W_OK):
            raise UsageError("usage.compare_locked", path=place, folder=str(folder))


def _number(value: Any) -> str:
    return "" if value != value else f"{float(value):.6f}".rstrip("0").rstrip(".")
