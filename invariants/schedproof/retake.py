"""What can be done with a kept trace: replay it, explain it, make it smaller, compare with it.

Rules. Traces are named by their id, the beginning of it, or a path; nothing named means the
one that was kept last. What is wrong with a name or a file is a `UsageError` or a
`TargetError`. All of a scheduler's code runs in child processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from schedmodel import __version__
from schedproof.search.results import RunResult, Trouble
from schedproof.settings import UsageError, unknown
from schedproof.subjects.contract import Config
from schedproof.subjects.observation import EVENT_KEYS
from schedproof.subjects.sources import Source
from schedproof.telling.partings import Pair
from schedproof.traces.children import Ready, Task, do, do_all, source_of_trace
from schedproof.traces.differ import parting, record
from schedproof.traces.reduce import Minimised, reduce_trace
from schedproof.traces.replay import Replayed
from schedproof.traces.replay import replay as replay_kept
from schedproof.traces.store import Kept, Store
from schedproof.traces.taken import Taken
from schedproof.traces.trace import Trace, TraceError
from schedproof.traces.why import Decision, Explained, explain_task
from schedproof.zoo.all_faults import BY_NAME
from schedproof.zoo.loading import UnknownFault, source_named


def find(name: str | None = None) -> Kept:
    """The trace of that name; the one that was kept last where none is given."""
    try:
        store = Store()
        return store.newest() if name is None else store.find(name)
    except TraceError as error:
        raise usage_of(error) from None


def find_all() -> list[Kept]:
    """All kept traces, by name."""
    try:
        return Store().all()
    except TraceError as error:
        raise usage_of(error) from None


def usage_of(error: TraceError) -> UsageError:
    """The same mistake as one of usage."""
    return UsageError(error.message_id, **error.values)


def replay(kept: Sequence[Kept], on: str | None = None) -> list[Replayed]:
    """Take traces again, each on its own scheduler, or all on another."""
    return replay_kept(kept, on)


def explain(kept: Kept, on: str | None = None) -> Explained:
    """Why each step of a trace served whom it served."""
    trace = kept.trace

    def work(ready: Ready) -> dict[str, Any]:
        return explain_task(ready.start, trace.config, trace.parsed_actions())

    answer = do(Task(_source(kept, on), work))
    if answer.trouble is not None:
        return Explained(kept, (), answer.trouble)
    found = tuple(map(Decision.from_json, answer.value["decisions"]))
    if trace.lasso is not None:  # its loop once: the other rounds are the same
        end = trace.lasso["stem"] + trace.lasso["loop"]
        found = tuple(each for each in found if each.action <= end)
    ended = answer.value["trouble"]
    return Explained(kept, found, None if ended is None else _trouble(ended))


def _trouble(record: dict[str, Any]) -> Trouble:
    return replace(Trouble(**record), actions=tuple(record["actions"]))


def _source(kept: Kept, on: str | None) -> Source:
    try:
        if on is not None:
            return source_named(on)
        return source_of_trace(kept.trace, kept.path.parent)
    except UnknownFault as error:
        raise unknown("target", error.name, tuple(BY_NAME)) from None


def minimise(kept: Kept) -> Minimised:
    """Make a trace smaller, and keep what comes out where it is another one."""
    trace = kept.trace

    def work(ready: Ready) -> dict[str, Any]:
        return reduce_trace(trace, ready)

    answer = do(Task(_source(kept, None), work, trace.claims_from))
    if answer.trouble is not None:
        return Minimised(kept, taken=Taken("error", trouble=answer.trouble))
    if answer.value["run"] is None:
        return Minimised(kept, taken=Taken.from_json(answer.value["taken"]))
    run = RunResult.from_json(answer.value["run"])
    smaller = _trace_of(run, trace)
    if smaller.digest == trace.digest:
        return Minimised(kept, run, kept)
    try:
        now = Store(kept.path.parent).save(smaller)
    except OSError as error:
        raise UsageError("usage.cannot_write", error=str(error)) from None
    example = replace(run.counterexamples[0], kept_as=now.name)
    return Minimised(kept, replace(run, counterexamples=(example,)), now)


def _trace_of(run: RunResult, trace: Trace) -> Trace:
    made = Trace.of(run.counterexamples[0], trace.subject, __version__, run=run)
    provenance = replace(made.provenance, seed=trace.provenance.seed)
    return replace(
        made,
        provenance=provenance,
        fingerprint=run.fingerprint,
        factory=trace.factory,
        cell=trace.cell,
        claims_from=trace.claims_from,
    )


def model_like(kept: Kept) -> str:
    """The built-in scheduler of the kind of a trace's own."""
    if any("token_ids" in action.get("args", {}) for action in kept.trace.actions):
        return "model:paged"
    return "model" if kept.trace.config.limits is None else "model:batch"


def differ(one: str | None, other: str, kept: Kept) -> Pair:
    """Two targets on the actions of a trace; None is the trace's own. Raises `DiffTrouble`."""
    trace = kept.trace
    actions, config = trace.parsed_actions(), trace.config

    def work(ready: Ready) -> dict[str, Any]:
        return record(ready.start, config, actions)

    answers = do_all([Task(_source(kept, name), work) for name in (one, other)])
    names = (one or trace.factory or trace.subject, other)
    for name, answer in zip(names, answers, strict=True):
        if answer.trouble is not None:
            raise DiffTrouble(name, config, answer.trouble)
    records = (answers[0].value, answers[1].value)
    where = parting(*records, EVENT_KEYS)
    return Pair(names, records, config, trace.actions, where, kept.name)


class DiffTrouble(Exception):
    """One of two schedulers could not be used at all."""

    def __init__(self, name: str, config: Config, trouble: Trouble) -> None:
        super().__init__(name)
        self.name, self.config, self.trouble = name, config, trouble
