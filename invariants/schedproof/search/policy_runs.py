"""All searches of all policies, each in a child process of its own.

Rules.
1. The user's code is loaded and called in children only. A first child looks whether the
   scheduler can be used at all, so that a broken file is told once, not once a policy.
2. Each policy gets its share of the time: all of it when all run at once, less when they must
   take turns. Those that find no processor are not kept waiting for long, but share one then:
   a policy that shows a violation soon spares the reader the others.
3. Once a policy shows a violation, the others have a moment to show theirs, and are ended then;
   who wants to know about each of them keeps going. So what is broken is told soon.
4. Whatever becomes of a child is a result. A child that could not answer gives the verdict
   error, or incomplete if the reader interrupted it. What a search found counts, even if the
   scheduler ends or hangs the child while that is being explained.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from schedproof.claims.catalogue import UnknownClaim, known_names, select
from schedproof.claims.claim import Claim
from schedproof.claims.own import OwnClaim, Words, claims_of
from schedproof.search import isolation
from schedproof.search.engines.engine_search import ENGINE_RUNS_EACH, Within, search_engine
from schedproof.search.exhaustive.batch_exhaustive import search_batches
from schedproof.search.exhaustive.batch_search import BatchSearch
from schedproof.search.exhaustive.bfs import peak_mib
from schedproof.search.exhaustive.exhaustive_search import Asked, search_exhaustively
from schedproof.search.exhaustive.liveness import search_liveness
from schedproof.search.exhaustive.names import EXHAUSTIVE, LIVENESS, RANDOM
from schedproof.search.exhaustive.paged_search import PagedSearch
from schedproof.search.exhaustive.same_requests import with_proved_shortest
from schedproof.search.finding_out import find_out
from schedproof.search.isolation import Channel, Limits, Outcome
from schedproof.search.outcomes import JsonValue
from schedproof.search.profiles import Bounds, Profile
from schedproof.search.random_search import search_randomly
from schedproof.search.results import OTHER_POLICY, RunResult, Trouble, Verdict
from schedproof.search.summing_up import trouble_of
from schedproof.subjects import contract
from schedproof.subjects.contract import Config, PolicyRefused, SubjectError
from schedproof.subjects.load_errors import SubjectLoadError, TargetError
from schedproof.subjects.loading import TODO_NUMBERS, load_module
from schedproof.subjects.sources import Loaded, Source

Tell = Callable[[dict[str, Any]], None]
ALL = "all"
SHARE_FOR_STATES = 0.8
EXPLAINING_SECONDS = 2.0
"""How long counterexamples may be explained after a search that used up its time."""
OTHERS_SECONDS = 0.5
"""How long policies may go on after one of them has shown a violation."""
AT_ONCE, SOON_SECONDS = 4, 1.0
"""How many policies run at once after that time, however few processors there are."""
IN_RANDOM_RUNS = contract.Limits(block_size=2, max_num_seqs=2, max_num_batched_tokens=4)
"""How a scheduler of batches is set up there: a pool of three blocks meets each of these limits."""


@dataclass(frozen=True)
class Plan:
    """What to check and how far. `seconds` is for everything together.

    `searches` names the kinds of search; `asked` is for exhaustive ones, `bounds`, `profile`
    and `seed` are for random ones. `claims_from` is a file with claims of the user's, which only
    a child may load; `claim_names` then says which of all claims are meant (`claims` is empty).
    `explaining` asks for what is behind each counterexample, too.
    """

    source: Source
    policies: tuple[str, ...]
    claims: tuple[Claim, ...]
    searches: tuple[str, ...]
    asked: Asked
    bounds: Bounds
    profile: Profile
    seed: int
    seconds: float = 30.0
    memory_mib: int = 1024
    action_seconds: float = 4.0
    aging_interval: int = 2
    claims_from: str | None = None
    claim_names: tuple[str, ...] = ()
    explaining: bool = False

    def config(self, search: str, policy: str) -> Config:
        """The set-up of one policy's scheduler."""
        if search == RANDOM:
            limits = IN_RANDOM_RUNS if self.source.batches else None
            return Config(policy, self.bounds.blocks, self.aging_interval, limits)
        scope = self.asked.scope
        return Config(policy, scope.blocks, scope.aging_interval, scope.limits)

    @property
    def to_the_end(self) -> bool:
        """Whether every policy is searched, whatever the others show."""
        return self.asked.keep_going or self.asked.all_shortest or LIVENESS in self.searches

    def jobs(self) -> list[tuple[str, str]]:
        """One (search, policy) for each child."""
        return [(search, policy) for search in self.searches for policy in self.policies]


def run_plan(plan: Plan, tell: Tell) -> list[RunResult]:
    """All results of a plan. Raises `TargetError` when the target names nothing."""
    limits = limits_of(plan)
    looked = isolation.run_isolated(lambda channel: _look(plan, channel), limits)
    notes, failed, words = _first_look(plan, looked)
    if failed is not None:
        return [failed]
    jobs = plan.jobs()
    workers = min(os.cpu_count() or 1, len(jobs))
    crowd = isolation.Crowd(max(workers, AT_ONCE), SOON_SECONDS)
    share = plan.seconds / math.ceil(len(jobs) / crowd.workers)
    outcomes = isolation.run_parallel(
        [job_of(plan, search, policy) for search, policy in jobs],
        replace(limits, seconds=share),
        workers,
        lambda _index, data: tell(data),
        None if plan.to_the_end else isolation.Enough(_shows_a_violation, OTHERS_SECONDS),
        crowd,
    )
    results = [result_of(plan, *job, o) for job, o in zip(jobs, outcomes, strict=True)]
    results = [replace(result, own_claims=words) for result in results]
    return [replace(results[0], notes=(*notes, *results[0].notes)), *results[1:]]


# -- in the child ----------------------------------------------------------


def _look(plan: Plan, channel: Channel) -> JsonValue:
    """Load the scheduler and make it once; what is wrong with it, if anything."""
    try:
        own = _own_claims(plan, channel)
        _with_own_claims(plan, own)
        loaded = _load(plan, channel)
    except TargetError as error:
        return {"target": error.to_json()}
    except SubjectLoadError as error:
        place = error.place.to_json() if error.place else None
        trouble = Trouble("load", error.message_id, dict(error.fields), place)
        return {"trouble": asdict(trouble), "notes": [n.to_json() for n in error.notes]}
    notes = [note.to_json() for note in loaded.notes]
    missing = open_todos_of(loaded) or _cannot_be_made(plan, loaded, channel)
    words = {one.claim.id: dict(one.words) for one in own}
    return {
        "trouble": None if missing is None else asdict(missing),
        "notes": notes,
        "own_claims": words,
    }


def _own_claims(plan: Plan, channel: Channel) -> list[OwnClaim]:
    """The user's claims. Raises what loading a file raises, and where there are none in it."""
    if plan.claims_from is None:
        return []
    channel.begin("load")
    module = load_module(plan.claims_from, before=channel.begin)
    own = claims_of(vars(module))
    if not own:
        raise TargetError("target.no_claims", path=plan.claims_from)
    return own


def _with_own_claims(plan: Plan, own: list[OwnClaim]) -> Plan:
    """The plan with the claims that were named, the user's among them."""
    if plan.claims_from is None:
        return plan
    extra = [one.claim for one in own]
    try:
        return replace(plan, claims=tuple(select(plan.claim_names, extra)))
    except UnknownClaim as error:
        known = ", ".join(known_names(extra))
        raise TargetError("target.no_claim", name=error.name, available=known) from None


def _load(plan: Plan, channel: Channel) -> Loaded:
    channel.begin("load")
    return plan.source.load(channel.begin)


def open_todos_of(loaded: Loaded) -> Trouble | None:
    """That parts of the scheduler are still to be written; None if they are not."""
    if not loaded.todos:
        return None
    still_open = [f"TODO {TODO_NUMBERS[name]} ({name})" for name in loaded.todos]
    filled = [f"TODO {n} ({name})" for name, n in TODO_NUMBERS.items() if name not in loaded.todos]
    values = {"open": ", ".join(still_open), "filled": ", ".join(filled)}
    told = "error.open_todos" if filled else "error.open_todos.all"
    return Trouble("open_todo", told, values)


def _cannot_be_made(plan: Plan, loaded: Loaded, channel: Channel) -> Trouble | None:
    for policy in plan.policies:
        try:
            _start(loaded, channel, plan.config(plan.searches[0], policy))
        except PolicyRefused:
            continue
        except SubjectError as error:
            return trouble_of(error)
    return None


def _start(loaded: Loaded, channel: Channel, config: Config) -> Any:
    return loaded.subject(loaded.make, config, loaded.strict_types, channel)


def starter(loaded: Loaded, channel: Channel) -> Callable[[Config], Any]:
    """Makes subjects; those of one configuration share their table of rows."""
    first: dict[Config, Any] = {}

    def start(config: Config) -> Any:
        known = first.get(config)
        if known is not None:
            return known.fresh()
        return first.setdefault(config, _start(loaded, channel, config))

    return start


def job_of(plan: Plan, search: str, policy: str) -> Callable[[Channel], JsonValue]:
    """One search of one policy, to be run in a child; `result_of` reads what became of it."""

    def job(channel: Channel) -> JsonValue:
        judged = _with_own_claims(plan, _own_claims(plan, channel))
        loaded = _load(plan, channel)
        channel.begin(policy)
        start = starter(loaded, channel)
        config = plan.config(search, policy)
        result = _searched(judged, search, config, start, channel)
        result = replace(result, fingerprint=loaded.fingerprint)
        if plan.explaining and result.counterexamples:
            channel.known(result.to_json())
            result = find_out(result, start, judged.claims, explaining_until(channel))
        return result.to_json()

    return job


def explaining_until(channel: Channel) -> float:
    """When finding out has to end: with the job, or soon after a search that took all its time."""
    return max(channel.deadline, time.monotonic() + EXPLAINING_SECONDS)


def _searched(
    plan: Plan,
    search: str,
    config: Config,
    start: Callable[[Config], Any],
    channel: Channel,
) -> RunResult:
    if search == RANDOM and plan.source.paged:
        return search_engine(start(config).adapter, plan.claims, _within(plan), channel)
    if search == RANDOM:
        found = search_randomly(
            start, config, plan.claims, plan.bounds, plan.profile, plan.seed, channel
        )
        if plan.source.batches:
            return found
        return with_proved_shortest(found, start, config, plan.claims, channel)
    # The rest is for what the scheduler does; its limit is watched from outside.
    memory = peak_mib() + plan.memory_mib * SHARE_FOR_STATES
    if search == LIVENESS:
        scope = plan.asked.scope
        return search_liveness(start, config, scope, channel, plan.claims, memory)
    asked = replace(plan.asked, memory_mib=memory)
    if plan.source.batches:
        kind = PagedSearch if plan.source.paged else BatchSearch
        return search_batches(start, config, plan.claims, asked, channel, kind)
    return search_exhaustively(start, config, plan.claims, asked, channel)


def _within(plan: Plan) -> Within:
    runs = plan.profile.examples * ENGINE_RUNS_EACH
    return Within(runs, plan.seed, requests=plan.bounds.requests, blocks=plan.bounds.blocks)


# -- in the parent ---------------------------------------------------------


def _first_look(
    plan: Plan, outcome: Outcome
) -> tuple[list[tuple[str, dict[str, Any]]], RunResult | None, dict[str, Words]]:
    """Notes for the reader, the failed result if nothing can be judged, and own claims' words."""
    notes: list[tuple[str, dict[str, Any]]] = _notes_on(outcome)
    policy = plan.policies[0] if len(plan.policies) == 1 else ALL
    if not isinstance(outcome, isolation.Finished):
        return notes, result_of(plan, plan.searches[0], policy, outcome), {}
    found: Any = outcome.value
    if "target" in found:
        raise TargetError.from_json(found["target"])
    notes = [*notes, *((note["message_id"], note["fields"]) for note in found["notes"])]
    if found["trouble"] is None:
        return notes, None, found["own_claims"]
    blank = _blank(plan, plan.searches[0], policy)
    return notes, replace(blank, trouble=_trouble(found["trouble"]), notes=tuple(notes)), {}


def _trouble(record: dict[str, Any]) -> Trouble:
    actions = tuple(record["actions"])
    return replace(Trouble(**record), actions=actions)  # JSON has no tuples


def _notes_on(outcome: Outcome) -> list[tuple[str, dict[str, Any]]]:
    notes: list[tuple[str, dict[str, Any]]] = []
    if outcome.output.lines:
        first = outcome.output.first[0] if outcome.output.first else ""
        notes.append(("note.printed", {"lines": outcome.output.lines, "first": first}))
    if not outcome.isolated:
        notes.append(("note.not_isolated", {}))
    return notes


def _shows_a_violation(outcome: Outcome) -> bool:
    value: Any = outcome.value if isinstance(outcome, isolation.Finished) else None
    return value is not None and value["verdict"] == Verdict.VIOLATED.value


def _blank(plan: Plan, search: str, policy: str) -> RunResult:
    if search != RANDOM:
        return RunResult.blank(policy, EXHAUSTIVE, plan.asked.scope.to_bounds())
    bounds = {**asdict(plan.bounds), "aging_interval": plan.aging_interval}
    return replace(RunResult.blank(policy, RANDOM, bounds), seed=plan.seed)


def result_of(plan: Plan, search: str, policy: str, outcome: Outcome) -> RunResult:
    """What became of one policy's child."""
    notes = tuple(_notes_on(outcome))
    value: Any = _returned(outcome)
    if value is not None:
        result = RunResult.from_json(value)
        interrupted = result.interrupted or isinstance(outcome, isolation.Interrupted)
        return replace(result, interrupted=interrupted, notes=(*result.notes, *notes))
    blank = replace(_blank(plan, search, policy), seconds=outcome.seconds, notes=notes)
    if isinstance(outcome, isolation.Ended):
        return replace(blank, verdict=Verdict.INCOMPLETE.value, stopped_by=OTHER_POLICY)
    if isinstance(outcome, isolation.Interrupted):
        verdict = Verdict.INCOMPLETE.value
        return replace(blank, verdict=verdict, interrupted=True, stopped_by="interrupt")
    return replace(blank, trouble=trouble_with_child(limits_of(plan), outcome))


def _returned(outcome: Outcome) -> JsonValue:
    """What the job returned, or what it knew before it went on to explain it."""
    if isinstance(outcome, isolation.Finished):
        return outcome.value
    if isinstance(outcome, isolation.Interrupted) and outcome.returned:
        return outcome.partial
    return outcome.known


def limits_of(plan: Plan) -> Limits:
    """The limits that a plan sets to each of its children."""
    return Limits(plan.seconds, plan.memory_mib, plan.action_seconds)


def trouble_with_child(limits: Limits, outcome: Outcome) -> Trouble:
    """Why a child that did not finish its job did not."""
    place = getattr(outcome, "where", None)
    where = place.to_json() if place else None
    if isinstance(outcome, isolation.Hung):
        return Trouble("hung", "error.hung", {"seconds": limits.action_seconds}, where)
    if isinstance(outcome, isolation.OutOfMemory):
        return Trouble("memory", "error.out_of_memory", {"mib": limits.memory_mib}, where)
    if isinstance(outcome, isolation.Exited):
        return Trouble("exited", "error.exited_process", {"code": str(outcome.code)}, where)
    if isinstance(outcome, isolation.Died):
        return Trouble("exited", "error.died", {"signal": outcome.signal}, where)
    text = outcome.text if isinstance(outcome, isolation.Crashed) else repr(outcome)
    kind = "error.raised_base" if where else "error.crashed"
    if where:  # the place is told by itself; of the traceback the last line says what it was
        text = text.strip().splitlines()[-1]
    return Trouble("raised" if where else "internal", kind, {"text": text}, where)
