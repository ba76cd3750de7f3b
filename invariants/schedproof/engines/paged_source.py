"""Our paged scheduler as a source, like every scheduler that is named: `model:paged`.

Rules. It is made for each policy, as the other schedulers of ours are, and judged as an engine is:
a policy that it does not have is refused by its constructor, and is a matter of scope.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedmodel.paged import PagedScheduler
from schedproof.engines.adapter import EngineAdapter
from schedproof.engines.paged_model import PagedModel
from schedproof.engines.pipelined import PipelinedSubject
from schedproof.subjects.contract import Config, PolicyRefused
from schedproof.subjects.sources import Loaded, Source

OUR_PAGED = "model:paged"


def paged_source(
    name: str = OUR_PAGED,
    scheduler: Callable[[], type[Any]] = lambda: PagedScheduler,
    fingerprint: str | None = None,
    scope: str = "",
) -> Source:
    """A paged scheduler by name; `scheduler` finds its class, `scope` is where it is searched."""

    def load(_before: Callable[[str], None]) -> Loaded:
        found = scheduler()

        def make(config: Config) -> EngineAdapter:
            return PagedModel(config.policy, found)

        return Loaded(make, fingerprint=fingerprint, subject=_subject)

    return Source(name, load, batches=True, paged=True, scope=scope)


def _subject(make: Any, config: Config, _strict_types: bool = False, calls: Any = None) -> Any:
    try:
        return PipelinedSubject(make(config), config, calls)
    except ValueError as error:
        raise PolicyRefused(config.policy, str(error)) from error
