"""Making a trace smaller: fewer actions, then the proved shortest, then plainer values.

Rules.
1. Actions are dropped one at a time as long as the same claim breaks.
2. The requests that are left are searched exhaustively, in the smallest scope that has them
   all: what comes out is proved to be the shortest with these requests.
3. Numbers are made small and flags usual without making the trace longer.
4. A trace of a claim about whole runs is made shorter, and nothing is proved about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from schedproof.claims.against import MODEL_1
from schedproof.claims.catalogue import CLAIMS, applicable
from schedproof.claims.claim import Claim
from schedproof.claims.judge import Judge
from schedproof.search.exhaustive.same_requests import with_proved_shortest
from schedproof.search.finding_out import explained
from schedproof.search.pace import Pace
from schedproof.search.replay import counterexample, shortened
from schedproof.search.results import Counterexample, RunResult, Verdict
from schedproof.traces.children import Ready
from schedproof.traces.store import Kept
from schedproof.traces.taken import STILL, Taken, play, take_again
from schedproof.traces.trace import Trace


def reduce_trace(trace: Trace, ready: Ready) -> dict[str, Any]:
    """The run with the smaller counterexample as JSON, or what became of the trace instead."""
    taken = take_again(trace, ready.start, ready.own)
    if taken.status != STILL or taken.example is None or trace.lasso is not None:
        return {"run": None, "taken": taken.to_json()}
    claims = (*ready.own, MODEL_1) if trace.claim == MODEL_1.id else (*ready.own, *CLAIMS)
    about = [claim for claim in claims if claim.id == trace.claim]
    run = _smaller(trace, ready, about, claims, ready.channel)
    return {"run": run.to_json(), "taken": taken.to_json()}


def _smaller(
    trace: Trace, ready: Ready, about: Sequence[Claim], claims: Sequence[Claim], pace: Pace
) -> RunResult:
    start, config = ready.start, trace.config
    found = play(start, config, Judge(about), trace.parsed_actions(), [])
    assert found is not None  # it was, a moment ago
    found = shortened(start, about, found)
    proved = trace.shortest and len(found.actions) == trace.length
    example = counterexample(start, found, trace.provenance.found_by, proved)
    run = RunResult(
        policy=config.policy,
        search="random",
        verdict=Verdict.VIOLATED.value,
        identity=None,
        bounds=dict(trace.provenance.bounds),
        distinct_states=None,
        transitions=0,
        depth=example.length,
        seconds=0.0,
        counterexamples=(example,),
        fingerprint=ready.fingerprint,
    )
    judged = applicable(claims, start(config))
    if config.limits is None:  # scopes of single requests know no batches
        run = with_proved_shortest(run, start, config, judged, pace)
    told = tuple(explained(each, start, judged) for each in run.counterexamples)
    return replace(run, counterexamples=told)


@dataclass(frozen=True)
class Minimised:
    """A trace made smaller: the run that has it, where it is kept; or why there is none."""

    kept: Kept
    run: RunResult | None = None
    now: Kept | None = None
    taken: Taken | None = None

    @property
    def example(self) -> Counterexample | None:
        """The smaller counterexample."""
        return None if self.run is None else self.run.counterexamples[0]
