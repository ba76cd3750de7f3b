"""The search for endless waits: one policy, one scope with endless arrivals, one result.

Rules.
1. The graph of `endless` is explored with all claims about edges judged on the way, and then
   searched for lassos (`starvation`). A lasso counts after its rehearsal on a new scheduler.
2. Waits are explored up to a cap that lies above what the priorities of the menu can outweigh.
   Where a request reaches it and no lasso is confirmed, the cap is doubled and all begins anew.
   That nobody starves, and the worst wait, is said only if no request reached the cap.
3. The key leaves the past out, so a clean verdict is `no violation (reduced)`.
4. Schedulers that cannot be entered in place, or that remember more of the past than their
   unfinished requests show, cannot be explored: the verdict is `incomplete` and a note says so.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from schedproof.claims.catalogue import BY_ID, applicable
from schedproof.claims.claim import Claim, Over
from schedproof.claims.edge import Breach
from schedproof.claims.judge import Judge
from schedproof.search.exhaustive.bfs import STEP_CODE, Hit
from schedproof.search.exhaustive.endless import Explorer, Graph
from schedproof.search.exhaustive.exhaustive_search import StartChapter, replay_last_edge
from schedproof.search.exhaustive.names import EXHAUSTIVE
from schedproof.search.exhaustive.scopes import Scope
from schedproof.search.exhaustive.space import NotFlat
from schedproof.search.exhaustive.starvation import Marked, Wait, Walk, rehearse
from schedproof.search.pace import Pace
from schedproof.search.replay import counterexample, insist_on_repeating
from schedproof.search.results import Notes, RunResult, Verdict
from schedproof.search.session import Violation
from schedproof.search.summing_up import claim_results, not_vacuous, refused, trouble_of
from schedproof.subjects.actions import Action, to_json
from schedproof.subjects.chapter import ChapterSubject
from schedproof.subjects.contract import Config, PolicyRefused, SubjectError
from schedproof.subjects.places import StopSubject

ENDLESS = "endless"
LIVE_2 = BY_ID["LIVE-2"]
CAP_LEAST, CAP_MOST = 8, 1024


def search_liveness(
    start: StartChapter,
    config: Config,
    scope: Scope,
    pace: Pace,
    claims: Sequence[Claim],
    memory_mib: float | None = None,
) -> RunResult:
    """Search one policy in one open scope until nothing is left or something ends it.

    LIVE-2 is judged whether or not it is among `claims`; of the others those about edges are.
    """
    began = time.monotonic()
    blank = RunResult.blank(config.policy, EXHAUSTIVE, scope.to_bounds(), ENDLESS)
    try:
        subject = start(config)
    except PolicyRefused as error:
        return refused(blank, error)
    except (SubjectError, StopSubject) as error:
        return replace(blank, trouble=trouble_of(error))
    search = _Searcher(start, subject, scope, claims, pace, memory_mib)
    try:
        result = search.result(blank)
    except (NotFlat, TypeError):
        notes = (("note.hidden_state", {"policy": config.policy}),)
        result = replace(search.counted(blank), verdict=Verdict.INCOMPLETE.value, notes=notes)
    except (SubjectError, StopSubject) as error:
        result = replace(search.counted(blank), trouble=trouble_of(error, search.taken))
    return replace(result, seconds=time.monotonic() - began)


def least_cap(scope: Scope) -> int:
    """A wait that outweighs any difference in priority on the menu, and somewhat more."""
    priorities = [kind.priority for kind in scope.kinds]
    span = max(priorities) - min(priorities)
    latest = max((kind.deadline_in or 0 for kind in scope.kinds), default=0)
    return max(CAP_LEAST, scope.aging_interval * (span + 2), 2 * latest)


@dataclass
class _Searcher:
    """One search, with as many caps as it takes."""

    start: StartChapter
    subject: ChapterSubject
    scope: Scope
    claims: Sequence[Claim]
    pace: Pace
    memory_mib: float | None

    def __post_init__(self) -> None:
        judged = applicable(self.claims, self.subject)
        self._edges = [c for c in judged if c.over not in (Over.RUN, Over.ROUNDS)]
        self._explorer: Explorer | None = None
        self._about = [*self._edges, LIVE_2]
        self._judge = Judge(self._about)

    @property
    def taken(self) -> tuple[Action, ...]:
        """The actions up to where the scheduler failed."""
        return () if self._explorer is None else self._explorer.taken

    def result(self, blank: RunResult) -> RunResult:
        """The result of the whole search. Raises what the scheduler fails with."""
        cap = least_cap(self.scope)
        while True:
            graph = self._explore(cap)
            found = self._found(self.counted(blank), graph, cap)
            if found is not None:
                return self._with_claims(found)
            cap *= 2

    def _explore(self, cap: int) -> Graph:
        self._judge = Judge(self._about)
        self._explorer = Explorer(
            self.subject, self.scope, self._judge, self.pace, cap, self.memory_mib
        )
        return self._explorer.run()

    def counted(self, blank: RunResult) -> RunResult:
        """The result with the counts of what was explored."""
        if self._explorer is None:
            return blank
        graph = self._explorer.graph
        return replace(
            blank,
            distinct_states=len(graph.states),
            transitions=graph.transitions,
            depth=graph.depths[-1] if graph.depths else 0,
            restore="in_place",
        )

    def _found(self, counted: RunResult, graph: Graph, cap: int) -> RunResult | None:
        """What a graph shows; None if it must be explored further up."""
        if graph.broken is not None:
            return self._violated(counted, self._edge_violation(*graph.broken))
        if graph.stopped_by is not None:
            return _stopped(counted, graph.stopped_by)
        marked = Marked(graph, self.scope)
        self._judge.count("LIVE-2", marked.count)
        violation = self._lasso(marked, graph, cap)
        if violation is not None:
            return self._violated(counted, violation)
        if not graph.capped:
            return replace(
                counted,
                verdict=Verdict.NO_VIOLATION_REDUCED.value,
                notes=self._worst(marked.worst_wait()),
            )
        if cap < CAP_MOST:
            return None
        notes = (("note.at_cap", {"policy": counted.policy, "cap": cap}),)
        return replace(_stopped(counted, "cap"), notes=notes)

    def _violated(self, counted: RunResult, violation: Violation) -> RunResult:
        example = counterexample(self.start, violation, "exhaustive")
        return replace(counted, verdict=Verdict.VIOLATED.value, counterexamples=(example,))

    def _edge_violation(self, actions: tuple[Action, ...], ids: tuple[str, ...]) -> Violation:
        hit = Hit(actions, ids)
        judge = Judge(self._edges)
        violation = replay_last_edge(self.start, self.subject.config, judge, hit)
        if violation is None:
            raise NotFlat
        insist_on_repeating(self.start, violation)
        return violation

    def _lasso(self, marked: Marked, graph: Graph, cap: int) -> Violation | None:
        """The first lasso that its rehearsal confirms."""
        assert self._explorer is not None
        looking = self._explorer.looking
        until = 3 * cap if graph.capped else 0
        for lasso in marked.lassos(looking):
            rehearsed = rehearse(self.subject.fresh(), self.scope, lasso, looking, until)
            if rehearsed is None:
                continue
            seen, actions = rehearsed
            breach = LIVE_2.predicate(seen)
            if isinstance(breach, Breach):
                violation = Violation(LIVE_2, breach, (), self.subject.config, tuple(actions))
                once = violation.actions[: seen.stem + seen.loop]
                insist_on_repeating(self.start, replace(violation, actions=once))
                return violation
        if not graph.capped and marked.has_cycles:
            raise NotFlat  # nothing was cut, and yet the loop does not come again
        return None

    def _worst(self, wait: Wait | None) -> Notes:
        """The worst wait with its way, taken once more on a new scheduler."""
        if wait is None:
            return ()
        walk = Walk(self.subject.fresh(), self.scope)
        walk.take(wait.codes[: wait.stem])
        request = walk.unfinished()[wait.marked].request_id
        walk.take(wait.codes[wait.stem :])
        if walk.waits[request] != wait.steps:
            raise NotFlat
        values = {
            "policy": self.subject.config.policy,
            "steps": wait.steps,
            "kind": walk.kinds[request],
            "request": request,
            "way": self._way(wait.codes),
            "actions": [to_json(action) for action in walk.actions],
        }
        return (("note.worst_wait", values),)

    def _way(self, codes: Sequence[int]) -> str:
        """A way in short: `+name` arrives, and each dot is a step."""
        names = ["", *(kind.name for kind in self.scope.kinds)]
        parts: list[str] = []
        for is_step, group in groupby(codes, key=lambda code: code == STEP_CODE):
            some = list(group)
            parts += ["." * len(some)] if is_step else [f"+{names[code]}" for code in some]
        return " ".join(parts)

    def _with_claims(self, result: RunResult) -> RunResult:
        assert self._explorer is not None
        graph, claims = self._explorer.graph, self._edges
        result = not_vacuous(result, self._judge, graph.steps_served)
        return replace(result, claims=claim_results([*claims, LIVE_2], self._judge, result))


def _stopped(counted: RunResult, by: str) -> RunResult:
    interrupted = by == "interrupt"
    verdict = Verdict.INCOMPLETE.value
    return replace(counted, verdict=verdict, stopped_by=by, interrupted=interrupted)
