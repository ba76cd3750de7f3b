"""An exhaustive search of one policy, from a scope to a result.

Rules.
1. The quick way (in place) is tried first. A scheduler that is not flat is searched by copies.
   One that hides state from either is searched again by replay: one that cannot be copied, one
   whose sampled states are not reached again by their paths, or one whose violation does not
   repeat on a new scheduler. Attributes that differ each time the same is done are left out.
2. A violation is replayed on a new scheduler before it is told, and its length is the least
   there is under the key that was searched.
3. Claims about whole runs are judged on runs that are drained from the deepest states and
   from others all over the space: a sample, so of them no more is said than that no
   violation was found. That everything drains is shown on every edge, because each step
   lowers the work that is left.
4. A complete search under the full key `holds within bounds`; so does one under the peer
   key of the built-in model. Everything else is at most `no violation (reduced)`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from schedmodel.scheduler import DecodeSchedulerSim
from schedproof.claims.catalogue import applicable
from schedproof.claims.claim import Claim, Kind, Over
from schedproof.claims.edge import make_edge
from schedproof.claims.judge import Judge
from schedproof.claims.run import StartSubject
from schedproof.search.exhaustive import gate
from schedproof.search.exhaustive.bfs import Hit, Options, Outcome, Search, Watch
from schedproof.search.exhaustive.by_copy import ByCopy
from schedproof.search.exhaustive.identity import reduced_key
from schedproof.search.exhaustive.in_place import InPlace
from schedproof.search.exhaustive.names import ARRIVALS, EXHAUSTIVE, FULL, PEER
from schedproof.search.exhaustive.scopes import Scope
from schedproof.search.exhaustive.space import (
    ByReplay,
    HiddenState,
    NotFlat,
    Space,
    State,
    VolatileState,
    differences,
    flat_state,
)
from schedproof.search.pace import Pace
from schedproof.search.replay import attempt, counterexample, insist_on_repeating, not_deterministic
from schedproof.search.results import ClaimVerdict, Counterexample, Notes, RunResult, Verdict
from schedproof.search.session import Violation
from schedproof.search.summing_up import claim_results, not_vacuous, refused, trouble_of
from schedproof.subjects.actions import Action, Enqueue
from schedproof.subjects.chapter import ChapterSubject
from schedproof.subjects.contract import (
    Config,
    Feature,
    PolicyRefused,
    SubjectError,
    expected_refusal,
)
from schedproof.subjects.places import StopSubject

StartChapter = Callable[[Config], ChapterSubject]
HIDES = (NotFlat, TypeError, AttributeError, ValueError)
"""Something is hidden, or it is missing or of a kind that only observing can tell of."""
INPUTS = ("INPUT-1", "INPUT-2")
SpaceKind = type[InPlace] | type[ByCopy] | type[ByReplay]
QUICK: tuple[SpaceKind, ...] = (InPlace, ByCopy)
"""The ways to go back to a state that may miss something, quickest first."""


@dataclass(frozen=True)
class Asked:
    """What is searched and how. `identity` None takes the best that is exact.

    `reduce` names reductions; `memory_mib` is what the process may use at its peak.
    """

    scope: Scope
    identity: str | None = None
    reduce: frozenset[str] = frozenset[str]()
    all_shortest: bool = False
    keep_going: bool = False
    memory_mib: float | None = None


@dataclass
class Found:
    """What a search under one key came to, with the violations already replayed."""

    outcome: Outcome
    judge: Judge
    violations: list[Violation]
    restore: str


def search_exhaustively(
    start: StartChapter, config: Config, claims: Sequence[Claim], asked: Asked, pace: Pace
) -> RunResult:
    """Search one policy in one scope until nothing is left or something ends it."""
    began = time.monotonic()
    blank = RunResult.blank(config.policy, EXHAUSTIVE, asked.scope.to_bounds(), asked.identity)
    try:
        subject = start(config)
    except PolicyRefused as error:
        return refused(blank, error)
    except (SubjectError, StopSubject) as error:
        return replace(blank, trouble=trouble_of(error))
    search = _Searcher(start, subject, config, applicable(claims, subject), asked, pace)
    blank = replace(blank, identity=search.identity)
    try:
        result, found = search.result(blank)
    except (SubjectError, StopSubject) as error:
        seconds = time.monotonic() - began
        return replace(blank, trouble=trouble_of(error, search.taken), seconds=seconds)
    result = not_vacuous(result, found.judge, found.outcome.steps_served)
    result = replace(result, seconds=time.monotonic() - began)
    weaker = _weaker(search.claims, found.outcome)
    return replace(result, claims=claim_results(claims, found.judge, result, weaker))


def _weaker(claims: Sequence[Claim], outcome: Outcome) -> dict[str, ClaimVerdict]:
    """Claims of which a complete search shows less than of the others."""
    weaker = {c.id: ClaimVerdict.NO_VIOLATION_FOUND for c in claims if c.over is Over.RUN}
    if not outcome.undrained:
        weaker.pop("LIVE-1", None)
    if not outcome.probed_all:
        weaker |= dict.fromkeys(INPUTS, ClaimVerdict.NO_VIOLATION_REDUCED)
    return weaker


class _Searcher:
    """One search with all its second tries."""

    def __init__(
        self,
        start: StartChapter,
        subject: ChapterSubject,
        config: Config,
        claims: list[Claim],
        asked: Asked,
        pace: Pace,
    ) -> None:
        self._start, self._subject, self._config = start, subject, config
        self.claims, self._asked, self._pace = claims, asked, pace
        self._ours = type(subject.scheduler) is DecodeSchedulerSim
        self._by_id = (asked.identity or (PEER if self._ours else FULL)) == PEER
        self._by_id = self._by_id and not subject.by_arrival
        self._reduce = asked.reduce
        self._search: Search | None = None
        self._hidden = False
        self._inputs = sum(claim.id in INPUTS for claim in claims)
        self._options = Options(
            probing=self._inputs > 0,
            all_shortest=asked.all_shortest,
            keep_going=asked.keep_going,
            memory_mib=asked.memory_mib,
        )

    @property
    def identity(self) -> str:
        """The key under which states are told apart, by name."""
        base = PEER if self._by_id else FULL
        return "-".join([base, *sorted(self._reduce)])

    @property
    def taken(self) -> Sequence[Action]:
        """The actions up to where the scheduler failed."""
        return () if self._search is None else self._search.taken

    # -- one key after the other ---------------------------------------------

    def result(self, blank: RunResult) -> tuple[RunResult, Found]:
        """The result of the whole search. Raises what the scheduler fails with."""
        notes: Notes = ()
        if self._reduce:
            names = ", ".join(sorted(self._reduce))
            smaller = gate.smaller(self._asked.scope)
            passed = self._passes_gate(smaller)
            slots = {"reduction": names, "slots": len(smaller.slots)}
            if passed or not self._is_stopped():
                notes = (("note.gate_passed" if passed else "note.gate_failed", slots),)
            self._reduce = self._reduce if passed else frozenset[str]()
        found = self._explore()
        if found.violations and self._reduce:
            found = self._exactly(found)
        return self._told(replace(blank, identity=self.identity, notes=notes), found), found

    def _exactly(self, found: Found) -> Found:
        """The shortest under the full key, no longer than what the reduced one found.

        Where that search is stopped, or the claim is about whole runs, the found one stands.
        """
        reduced, self._reduce = self._reduce, frozenset[str]()
        longest = max(len(violation.actions) for violation in found.violations)
        exact = self._explore(longest)
        if exact.violations:
            return exact
        self._reduce = reduced
        return found

    def _passes_gate(self, scope: Scope) -> bool:
        for kind in QUICK:
            with contextlib.suppress(*HIDES):
                return gate.passes(self._reduce, scope, partial(self._gate_search, kind))
        return gate.passes(self._reduce, scope, partial(self._gate_search, ByReplay))

    def _gate_search(
        self, kind: SpaceKind, scope: Scope, watch: Watch | None, in_id_order: bool
    ) -> Search:
        options = Options(keep_going=True, probing=False, in_id_order=in_id_order)
        space: Space = kind(self._subject, self._by_id)
        judge = Judge(self.claims)
        self._search = search = Search(
            space, scope, self._config, judge, self._pace, options, watch=watch
        )
        return search

    def _is_stopped(self) -> bool:
        return self._pace.interrupted or time.monotonic() > self._pace.deadline

    def _explore(self, max_depth: int | None = None) -> Found:
        kinds = list(QUICK)
        while kinds and not self._hidden:
            try:
                return self._explore_in(kinds.pop(0), max_depth)
            except VolatileState as error:
                self._subject.leave_out(error.names)
                kinds = [ByCopy]  # in place all would have to be seen
            except HIDES as error:
                self._hidden = isinstance(error, HiddenState)
            except SubjectError as error:
                if error.kind != "raised":  # what it raised must come again on a new scheduler
                    raise
        return self._explore_in(ByReplay, max_depth)

    def _explore_in(self, kind: SpaceKind, max_depth: int | None) -> Found:
        space: Space = kind(self._subject, self._by_id)
        judge = Judge(self.claims)
        self._search = search = Search(
            space,
            self._asked.scope,
            self._config,
            judge,
            self._pace,
            replace(self._options, in_id_order=ARRIVALS in self._reduce, max_depth=max_depth),
            reduced_key(self._asked.scope, self._reduce),
            self._spot_check if kind in QUICK else None,
            confirm=self._confirm if self._inputs == 1 else None,
        )
        outcome = search.run()
        violations = [self._replayed(judge, hit, kind in QUICK) for hit in outcome.hits]
        if outcome.complete and not violations:
            violations = self._of_whole_runs(judge, outcome)
        return Found(outcome, judge, violations, space.restore)

    def _spot_check(self, state: State, path: tuple[Action, ...]) -> None:
        """Reach a state once more, from the start and on a new scheduler."""
        again = self._taken_again(path)
        if again == state:
            return
        volatile = differences(again, self._taken_again(path))
        if volatile is None or differences(again, state) is None:
            raise HiddenState
        raise VolatileState(volatile)

    def _taken_again(self, path: tuple[Action, ...]) -> State:
        subject = self._subject.fresh()
        subject.observe()
        for action in path:
            subject.do(action)
            subject.observe()
        return flat_state(subject.observe(), self._by_id)

    def _confirm(self, actions: tuple[Action, ...]) -> bool:
        return bool(
            replay_last_edge(self._start, self._config, Judge(self.claims), Hit(actions, ()))
        )

    # -- violations ----------------------------------------------------------

    def _replayed(self, judge: Judge, hit: Hit, quick: bool) -> Violation:
        """The violation on a new scheduler. `NotFlat` or a `SubjectError` if it does not come."""
        violation = replay_last_edge(self._start, self._config, judge, hit)
        if violation is None:
            if quick:
                raise HiddenState
            raise not_deterministic(len(hit.actions), hit.actions)
        insist_on_repeating(self._start, violation)
        return violation

    def _of_whole_runs(self, judge: Judge, outcome: Outcome) -> list[Violation]:
        """Violations of claims about whole runs, on drained runs from sampled states."""
        about_runs = [claim for claim in self.claims if claim.over is Over.RUN]
        if not about_runs:
            return []
        if not outcome.undrained:
            judge.count("LIVE-1", outcome.steps_served)
        for path in (*outcome.undrained, *outcome.sampled):
            if self._is_stopped():
                break
            run_judge = Judge(self.claims)
            violation = attempt(self._start, self._config, run_judge, path)
            for claim in about_runs:
                judge.count(claim.id, run_judge.exercised()[claim.id])
            if violation is not None:
                return [violation]
        return []

    # -- telling ---------------------------------------------------------------

    def _told(self, blank: RunResult, found: Found) -> RunResult:
        outcome = found.outcome
        result = replace(
            blank,
            distinct_states=outcome.distinct_states,
            transitions=outcome.transitions,
            depth=outcome.depth,
            restore=found.restore,
            verdict=self._verdict(found),
        )
        if found.violations:
            return replace(
                result,
                counterexamples=tuple(self._counterexample(v, outcome) for v in found.violations),
                notes=(*result.notes, *self._certificate(found)),
            )
        stopped = None if outcome.complete else outcome.stopped_by
        return replace(
            result,
            stopped_by=stopped,
            interrupted=stopped == "interrupt",
            notes=(*result.notes, *self._unseen()),
        )

    def _unseen(self) -> Notes:
        """What of the scheduler's state was not seen."""
        hidden: Notes = (("note.hidden_state_found", {}),) if self._hidden else ()
        names = ", ".join(sorted(self._subject.left_out))
        return (*hidden, ("note.left_out", {"names": names})) if names else hidden

    def _counterexample(self, violation: Violation, outcome: Outcome) -> Counterexample:
        exact = violation.edge is not None and not self._reduce
        shortest = exact and (outcome.probed_all or violation.claim.id not in INPUTS)
        return counterexample(self._start, violation, "exhaustive", shortest)

    def _certificate(self, found: Found) -> Notes:
        """That nothing shorter breaks anything, and how many states say so."""
        if found.violations[0].edge is None or self._reduce:
            return ()
        length = len(found.violations[0].actions) - 1
        states = found.outcome.certified_states
        return (("note.certificate", {"actions": length, "states": states}),)

    def _verdict(self, found: Found) -> str:
        if found.violations:
            return Verdict.VIOLATED.value
        if not found.outcome.complete:
            return Verdict.INCOMPLETE.value
        if all(claim.over is Over.RUN for claim in self.claims if claim.kind is not Kind.SOMETIMES):
            return Verdict.NO_VIOLATION_FOUND.value  # they are judged on a sample
        exact = (self._ours or not self._by_id) and not self._unseen()
        if self._reduce or not exact:
            return Verdict.NO_VIOLATION_REDUCED.value
        return Verdict.HOLDS_WITHIN_BOUNDS.value


def replay_last_edge(
    start: StartSubject, config: Config, judge: Judge, hit: Hit
) -> Violation | None:
    """What the last action of a hit breaks, judged on a new scheduler; None if nothing."""
    subject = start(config)
    seen = subject.observe()
    used: set[int] = set()
    for action in hit.actions[:-1]:
        answer = subject.do(action)
        if isinstance(action, Enqueue) and answer.accepted:
            used.add(action.request_id)
        seen = subject.observe()
    last = hit.actions[-1]
    must_refuse = None
    if isinstance(last, Enqueue):
        strict = Feature.STRICT_TYPES in subject.features
        must_refuse = expected_refusal(last, used, seen.clock, strict)
    answer = subject.do(last)
    edge = make_edge(seen, last, answer, subject.observe(), config.rules(), must_refuse)
    broken = judge.ask(edge).broken
    told = [pair for pair in broken if hit.broken and pair[0].id == hit.broken[0]] or broken
    if not told:
        return None
    claim, breach = told[0]
    also = tuple(other.id for other, _ in broken if other is not claim)
    return Violation(claim, breach, also, config, hit.actions, edge)
