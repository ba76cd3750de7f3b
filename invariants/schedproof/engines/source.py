"""An engine as a source, like every scheduler that is named: for taking its traces again.

Rules.
1. An engine has one policy, and is led as our paged scheduler is: with steps in flight where the
   adapter keeps decision and result apart, and with a limit for single calls.
2. Its fingerprint stands for the text of the whole package that the adapter names, file by file;
   where none is named, or it is one of the large libraries, there is no fingerprint.
3. Large libraries take longer to import than a call may, so they are imported where the source is
   named, and not in the child that loads it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from schedproof.engines.adapter import EngineAdapter, MissingPackage
from schedproof.engines.finding import folder_of
from schedproof.engines.guard import Guard
from schedproof.engines.named import EngineTarget, load_adapter, loaded_before
from schedproof.engines.pipelined import PipelinedSubject
from schedproof.engines.subject import EngineSubject, Rows
from schedproof.subjects.chapter import CallCounter
from schedproof.subjects.contract import Config, PolicyRefused
from schedproof.subjects.fingerprint import fingerprint_of_files
from schedproof.subjects.sources import Loaded, Source


def engine_source(target: EngineTarget) -> Source:
    """The engine as a source. Raises `TargetError` where a large library is not there."""
    at_hand = loaded_before(target)

    def load(before: Callable[[str], None]) -> Loaded:
        adapter = at_hand or load_adapter(target, before)
        subject = partial(_subject, rows={}, guard=Guard())
        return Loaded(lambda _config: adapter, fingerprint=mark_of(adapter), subject=subject)

    return Source(target.text, load, batches=True, paged=True)


def start_engine(
    adapter: EngineAdapter, config: Config, calls: CallCounter | None, rows: Rows, guard: Guard
) -> EngineSubject:
    """The kind of subject that an engine is."""
    kind = PipelinedSubject if adapter.steps_in_flight > 1 else EngineSubject
    return kind(adapter, config, calls, rows, guard)


def _subject(
    make: Callable[[Config], EngineAdapter],
    config: Config,
    _strict_types: bool = False,
    calls: CallCounter | None = None,
    *,
    rows: Rows,
    guard: Guard,
) -> EngineSubject:
    """One start of the engine; another policy than its own is refused."""
    adapter = make(config)
    if config.policy != adapter.policy:
        raise PolicyRefused(config.policy, f"this engine is {adapter.policy}")
    return start_engine(adapter, config, calls, rows, guard)


def mark_of(adapter: EngineAdapter) -> str | None:
    """What stands for the engine's source; None where that is not known."""
    if not adapter.package:
        return None
    try:
        files = sorted(Path(folder_of(adapter.package)).rglob("*.py"))
    except MissingPackage:
        return None
    return fingerprint_of_files(files)
