"""A fault as a scheduler that can be searched: `fault:NAME` wherever a target is named.

Rules. The text that runs is the text that is exported. It is compiled under a name of its
own, and its lines can be looked up, so that whoever asks where something happened is shown
the line.
"""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

from schedmodel.paged import PagedScheduler
from schedproof.engines.named import engine_target
from schedproof.engines.paged_source import OUR_PAGED, paged_source
from schedproof.engines.source import engine_source
from schedproof.subjects.chapter import from_class
from schedproof.subjects.fingerprint import fingerprint_of_text
from schedproof.subjects.sources import Loaded, Source, loaded_batches, source_of
from schedproof.zoo.all_faults import BY_NAME
from schedproof.zoo.faults import BATCH, OF_PAGED, PAGED, RENAMED, Fault, apply, exported

PREFIX = "fault:"


def source_of_fault(fault: Fault) -> Source:
    """The fault's scheduler by name, and how to load it."""
    if fault.level == BATCH:
        text = apply(fault)
        mark = fingerprint_of_text(text.encode("utf-8"))
        name = PREFIX + fault.name
        return Source(
            name,
            lambda _before: loaded_batches(_compiled(fault, text, "BatchScheduler"), mark),
            batches=True,
        )
    if fault.level in OF_PAGED:
        text = apply(fault)
        mark = fingerprint_of_text(text.encode("utf-8"))
        name = PREFIX + fault.name
        return paged_source(name, lambda: _paged_class(fault, text), mark, fault.scope)
    fingerprint = fingerprint_of_text(exported(fault).encode("utf-8"))
    return Source(
        PREFIX + fault.name,
        lambda _before: Loaded(from_class(load_class(fault)), fingerprint=fingerprint),
    )


class UnknownFault(LookupError):
    """A target that names a fault which is not in the zoo; `name` is what was given."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def source_named(
    target: str | type[Any] | None = None,
    factory: str | Callable[..., Any] | None = None,
    cell: int | None = None,
) -> Source:
    """The source of any target, faults and engines included.

    Raises `UnknownFault` and `TargetError`.
    """
    if isinstance(target, str) and target.startswith(PREFIX) and factory is None and cell is None:
        name = target[len(PREFIX) :]
        if name.lower() not in BY_NAME:
            raise UnknownFault(name)
        return source_of_fault(BY_NAME[name.lower()])
    if target == OUR_PAGED and factory is None and cell is None:
        return paged_source()
    engine = engine_target(target) if factory is None and cell is None else None
    return engine_source(engine) if engine is not None else source_of(target, factory, cell)


def load_class(fault: Fault) -> type[Any]:
    """The class of a scheduler of the chapter's shape, made anew."""
    return _compiled(fault, exported(fault), RENAMED["PlainScheduler"])


def _paged_class(fault: Fault, text: str) -> type[Any]:
    """The paged scheduler with the fault in it, or in the pool that it makes."""
    if fault.level == PAGED:
        return _compiled(fault, text, "PagedScheduler")
    pool = _compiled(fault, text, "CachingPool")
    place = pool.__module__
    made = type("PagedScheduler", (PagedScheduler,), {"make_pool": pool, "__module__": place})
    setattr(sys.modules[place], made.__name__, made)  # so that it can be frozen
    return made


def _compiled(fault: Fault, text: str, name: str) -> type[Any]:
    file = f"<{PREFIX}{fault.name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = types.ModuleType("fault_" + fault.name.replace("-", "_"))
    module.__file__ = file
    sys.modules[module.__name__] = module  # a dataclass looks its module up by name
    exec(compile(text, file, "exec"), module.__dict__)
    found: type[Any] = getattr(module, name)
    return found
