"""A kept trace that was taken again, as a result that every format of reports can tell.

Rule. What the trace says of the search that found it, its kind and its bounds, is told; what
only that search knew, its counts and its claims, is not made up.
"""

from __future__ import annotations

from dataclasses import replace

from schedproof.search.results import RunResult, Verdict
from schedproof.telling.report import Summary
from schedproof.traces.replay import Replayed


def retold(each: Replayed, seconds: float) -> Summary | None:
    """The result of a trace that is broken or failed again; None where nothing is wrong."""
    trace, taken = each.trace, each.taken
    run = RunResult.blank(trace.config.policy, trace.provenance.found_by, trace.provenance.bounds)
    if taken.example is not None:
        example = replace(taken.example, kept_as=each.name)
        run = replace(run, verdict=Verdict.VIOLATED.value, counterexamples=(example,))
    elif taken.trouble is not None:
        run = replace(run, trouble=replace(taken.trouble, kept_as=each.name))
    else:
        return None
    return Summary(trace.factory or trace.subject, (run,), seconds)
