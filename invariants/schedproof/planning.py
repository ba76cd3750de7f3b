"""From options to a plan: what is to be searched, how, and within what bounds.

Rules. Options come resolved, from whatever place they were said in. What does not go together
is a `UsageError` that names the option; a target that names nothing is a `TargetError`.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from schedmodel import POLICIES
from schedmodel.batch import BATCH_POLICIES
from schedproof.claims.against import MODEL_1
from schedproof.claims.catalogue import UnknownClaim, known_names, select
from schedproof.claims.claim import Claim, Kind
from schedproof.search.engines.box import BLOCKS_MAX, REQUESTS_MAX
from schedproof.search.exhaustive.exhaustive_search import Asked
from schedproof.search.exhaustive.names import BOTH, EXHAUSTIVE, LIVENESS, RANDOM
from schedproof.search.exhaustive.scopes import (
    DEFAULT_BATCH_SCOPE,
    DEFAULT_OPEN_SCOPE,
    DEFAULT_PAGED_SCOPE,
    DEFAULT_SCOPE,
    Scope,
    ScopeError,
    load_scope,
)
from schedproof.search.policy_runs import Plan
from schedproof.search.profiles import PROFILES, QUICK, Bounds
from schedproof.settings import UsageError, unknown
from schedproof.subjects.sources import OURS, Source, name_of
from schedproof.traces.keep import Named
from schedproof.zoo.all_faults import BY_NAME
from schedproof.zoo.loading import UnknownFault, source_named


def make_plan(asked: dict[str, Any]) -> Plan:
    """The plan that resolved options ask for."""
    profile = PROFILES[asked["profile"] or QUICK]
    seed = asked["seed"]
    if seed is None:
        seed = profile.seed if profile.seed is not None else secrets.randbelow(10**6)
    source = source_asked(asked)
    if source.batches:
        _insist_on_what_batches_have(asked)
    return Plan(
        source=source,
        policies=_policies(asked, source),
        claims=() if asked["claims_from"] else tuple(_judged_by(asked)),
        searches=_searches(asked),
        asked=Asked(
            scope=_scope(asked, source),
            identity=asked["identity"],
            reduce=frozenset(asked["reduce"]),
            all_shortest=asked["all_shortest"],
            keep_going=asked["keep_going"],
        ),
        bounds=bounds_of(asked, source.paged),
        profile=profile,
        seed=seed,
        seconds=asked["time"],
        memory_mib=asked["memory"],
        claims_from=asked["claims_from"],
        claim_names=asked["claims"],
        explaining=True,
    )


def _judged_by(asked: dict[str, Any]) -> list[Claim]:
    """The claims that are asked for; against the model that one alone, unless some are named."""
    claims = judged_claims(asked["claims"])
    if asked["against"] is None:
        return claims
    if not asked["claims"]:
        claims = [claim for claim in claims if claim.kind is Kind.SOMETIMES]
    return [MODEL_1, *claims]


def _policies(asked: dict[str, Any], source: Source) -> tuple[str, ...]:
    """The policies to check; of those that a scheduler of batches does not know, none."""
    policies: tuple[str, ...] = asked["policy"]
    return BATCH_POLICIES if source.batches and policies == tuple(POLICIES) else policies


def _insist_on_what_batches_have(asked: dict[str, Any]) -> None:
    """Raise `UsageError` for options that say nothing of a scheduler of batches."""
    wrong = [name for name in ("identity", "reduce", "liveness") if asked[name]]
    if wrong:
        raise UsageError("usage.not_for_batches", option=f"--{wrong[0]}")


def source_asked(asked: dict[str, Any]) -> Source:
    """The scheduler that is asked for. Raises `UsageError` and `TargetError`."""
    try:
        return source_named(asked["target"], asked["factory"], asked["cell"])
    except UnknownFault as error:
        raise unknown("target", error.name, tuple(BY_NAME)) from None


def named_as(asked: dict[str, Any]) -> Named:
    """How the scheduler was named, for a trace: as text, whatever was handed in."""
    target, factory = asked["target"], asked["factory"]
    return Named(
        target if isinstance(target, str) else OURS if target is None else name_of(target),
        factory if factory is None or isinstance(factory, str) else name_of(factory),
        asked["cell"],
        asked["claims_from"],
    )


def _searches(asked: dict[str, Any]) -> tuple[str, ...]:
    """The kinds of search that the options ask for, or imply."""
    if asked["liveness"]:
        return (LIVENESS,)
    of_random = asked["seed"] is not None or asked["profile"] is not None
    search = asked["search"] or (BOTH if of_random else EXHAUSTIVE)
    if search == RANDOM:
        for name in ("scope", "identity", "reduce", "all_shortest", "keep_going"):
            if asked[name]:
                option = f"--{name.replace('_', '-')}"
                raise UsageError("usage.needs_exhaustive", option=option)
    return (EXHAUSTIVE, RANDOM) if search == BOTH else (search,)


def _scope(asked: dict[str, Any], source: Source) -> Scope:
    usual = DEFAULT_OPEN_SCOPE if asked["liveness"] else DEFAULT_SCOPE
    if source.batches:
        usual = DEFAULT_PAGED_SCOPE if source.paged else DEFAULT_BATCH_SCOPE
    try:
        scope = load_scope(asked["scope"] or source.scope or usual)
    except ScopeError as error:
        raise UsageError(error.message_id, **error.values) from None
    if (scope.limits is not None) is not source.batches:
        kind = "usage.scope_of_one_at_a_time" if source.batches else "usage.scope_of_batches"
        raise UsageError(kind, scope=scope.name)
    if bool(scope.in_flight) is not source.paged:
        kind = "usage.scope_without_prompts" if source.paged else "usage.scope_of_prompts"
        raise UsageError(kind, scope=scope.name)
    if scope.active and not asked["liveness"]:
        raise UsageError("usage.scope_is_open", scope=scope.name)
    if asked["liveness"] and not scope.active:
        raise UsageError("usage.scope_is_closed", scope=scope.name)
    return scope.resized(asked["requests"], asked["blocks"])


def bounds_of(asked: dict[str, Any], paged: bool = False) -> Bounds:
    """The bounds of random runs: those that were asked for, or their own."""
    usual: dict[str, Any] = {"requests": REQUESTS_MAX, "blocks": BLOCKS_MAX} if paged else {}
    said = {name: asked[name] for name in ("requests", "blocks") if asked[name] is not None}
    return Bounds(**(usual | said))


def judged_claims(names: Sequence[str]) -> list[Claim]:
    """The claims of these names; all that most searches can judge where none is given."""
    try:
        return select(names)
    except UnknownClaim as error:
        raise unknown("claims", error.name, known_names()) from None
