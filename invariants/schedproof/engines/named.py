"""Which engine is meant: `nano-vllm:PACKAGE`, `transformers:POLICY`, `vllm:POLICY`, `adapter:FILE`.

Rules. What stands before the first colon names the adapter, what stands behind it is the
adapter's own: a package or its folder, a scheduling policy, or the file of an adapter that is
not ours, then with `=PACKAGE` where it is to lead another package than it says. Naming reads
nothing; loading runs the engine's code and belongs into a child process.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schedproof.engines.adapter import EngineAdapter, MissingPackage
from schedproof.subjects.load_errors import TargetError
from schedproof.subjects.loading import load_class, load_module, parse_target

OWN = "adapter"
SHIPPED = {
    "nano-vllm": "schedproof.engines.nano_vllm:NanoVllm",
    "transformers": "schedproof.engines.transformers_cb:TransformersBatching",
    "vllm": "schedproof.engines.vllm_v1:VllmV1",
}
"""The adapters that come with the package, by the name that a target begins with."""
LARGE = ("transformers", "vllm")
"""Libraries that take long to import; they are known, and may be imported outside a child."""


@dataclass(frozen=True)
class EngineTarget:
    """An engine as it was named: the adapter, what the adapter is to take, the text typed."""

    adapter: str
    what: str
    text: str


def engine_target(target: Any) -> EngineTarget | None:
    """The engine that a target names; None if it names none."""
    if not isinstance(target, str):
        return None
    kind, _, what = target.strip().partition(":")
    if kind not in (*SHIPPED, OWN):
        return None
    return EngineTarget(kind, what.strip(), target.strip())


def load_adapter(
    target: EngineTarget, before: Callable[[str], None] = lambda _part: None
) -> EngineAdapter:
    """The adapter, its engine loaded. Raises `TargetError`, or what loading the code raises."""
    before("load")
    made = _own(target) if target.adapter == OWN else _shipped(target)
    try:
        made.load()
    except MissingPackage as missing:
        values = {"package": missing.package, "how": missing.how, "adapter": target.adapter}
        raise TargetError("target.no_engine", **values) from None
    return made


def loaded_before(target: EngineTarget) -> EngineAdapter | None:
    """The adapter where a child cannot load it: large libraries take longer than a call may."""
    return load_adapter(target) if target.adapter in LARGE else None


def _shipped(target: EngineTarget) -> EngineAdapter:
    module, _, name = SHIPPED[target.adapter].partition(":")
    made: EngineAdapter = getattr(importlib.import_module(module), name)(target.what)
    return made


def _own(target: EngineTarget) -> EngineAdapter:
    what, _, package = target.what.partition("=")
    found = _class_in(what)
    if not _is_adapter(found):
        raise TargetError("target.not_an_adapter", name=found.__qualname__, path=what)
    made: EngineAdapter = found()
    if package:
        made.package = package
    return made


def _class_in(what: str) -> Any:
    """The class that is named, or the one adapter of a file."""
    where = parse_target(what)
    if where.name or where.kind != "file":
        return load_class(where).cls
    module = load_module(what)
    known = [each for each in vars(module).values() if _is_adapter(each, module.__name__)]
    if len(known) != 1:
        names = ", ".join(each.__name__ for each in known) or "–"
        raise TargetError("target.no_adapter", path=what, available=names)
    return known[0]


def _is_adapter(thing: Any, module: str | None = None) -> bool:
    if not isinstance(thing, type) or not issubclass(thing, EngineAdapter):
        return False
    return module is None or thing.__module__ == module
