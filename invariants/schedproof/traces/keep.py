"""Keeping the counterexamples of a check: each becomes a trace in the folder `.schedproof`.

Rules.
1. What is violated is kept, and what a scheduler raised or hung at after some actions.
2. A folder that cannot be written to is no failure of the check: the reason is handed back,
   and the results say that nothing was kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from schedproof.search.results import Counterexample, RunResult
from schedproof.subjects.contract import Config
from schedproof.traces.store import Kept, Store
from schedproof.traces.trace import Trace


@dataclass(frozen=True)
class Named:
    """How a scheduler was named: the target, and what was named beside it."""

    target: str
    factory: str | None = None
    cell: int | None = None
    claims_from: str | None = None


@dataclass(frozen=True)
class Keeping:
    """What became of it: the runs with the ids in them, the files, and why not, if not."""

    runs: tuple[RunResult, ...]
    paths: tuple[Path, ...] = ()
    trouble: str = ""


def keep(
    runs: Sequence[RunResult], named: Named, tool_version: str, store: Store | None = None
) -> Keeping:
    """Keep what these runs found."""
    keeper = _Keeper(named, tool_version, store or Store())
    try:
        kept = tuple(keeper.kept(run) for run in runs)
    except OSError as error:
        reason = f"{keeper.store.folder}: {error.strerror or error}"
        return Keeping(tuple(runs), trouble=reason)
    return Keeping(kept, tuple(keeper.paths))


class _Keeper:
    """Writes traces one after the other, and remembers where they are."""

    def __init__(self, named: Named, tool_version: str, store: Store) -> None:
        self._named, self._version, self.store = named, tool_version, store
        self.paths: dict[Path, None] = {}

    def kept(self, run: RunResult) -> RunResult:
        """The run with its traces kept."""
        trouble, config = run.trouble, _config(run)
        if trouble is not None and trouble.actions and config is not None:
            told = (trouble, config, self._named.target, self._version)
            kept = self._save(Trace.of_trouble(*told, run=run), run)
            run = replace(run, trouble=replace(trouble, kept_as=kept.name))
        found = tuple(self._of(example, run) for example in run.counterexamples)
        return replace(run, counterexamples=found)

    def _of(self, example: Counterexample, run: RunResult) -> Counterexample:
        trace = Trace.of(example, self._named.target, self._version, run=run)
        evidence = example.evidence
        if evidence is not None and evidence.worse is not None:
            longer = replace(trace, actions=evidence.worse.actions, also_broken=(), shortest=False)
            worse = replace(evidence.worse, kept_as=self._save(longer, run).name)
            example = replace(example, evidence=replace(evidence, worse=worse))
        return replace(example, kept_as=self._save(trace, run).name)

    def _save(self, trace: Trace, run: RunResult) -> Kept:
        named = self._named
        own = named.claims_from if trace.claim in run.own_claims else None
        trace = replace(trace, factory=named.factory, cell=named.cell, claims_from=own)
        kept = self.store.save(replace(trace, fingerprint=run.fingerprint))
        self.paths[kept.path] = None
        return kept


def _config(run: RunResult) -> Config | None:
    """The configuration of a run, from its bounds."""
    bounds = run.bounds
    if "blocks" not in bounds or "aging_interval" not in bounds:
        return None
    return Config(run.policy, bounds["blocks"], bounds["aging_interval"])
