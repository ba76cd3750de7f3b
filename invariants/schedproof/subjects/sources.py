"""Where a scheduler comes from: ours, a class at hand, a target, or a factory.

Rules. A source is a name and a way to load it. Loading runs the user's code, so it happens
in the child process; naming does not. A factory is called with policy, blocks and
aging_interval by name and returns a scheduler.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedmodel import DecodeSchedulerSim
from schedmodel.batch import BatchScheduler
from schedproof.subjects.batch import BatchSubject, from_batch_class
from schedproof.subjects.chapter import ChapterSubject, MakeScheduler, from_class
from schedproof.subjects.contract import Config
from schedproof.subjects.fingerprint import fingerprint_of, fingerprint_of_ours
from schedproof.subjects.load_errors import TargetError
from schedproof.subjects.loading import Note, load_callable, load_class, open_todos, parse_target

BUILT_IN = "schedmodel:DecodeSchedulerSim"
OURS = "model"
"""What the built-in model is called where somebody has to name it."""
OUR_BATCHES = "model:batch"
"""What the built-in scheduler of batches is called."""


@dataclass(frozen=True)
class Loaded:
    """A scheduler ready to be made. `todos` are the exercise's methods still open in it.

    `strict_types` tells that wrong types must be refused: only our own model promises that.
    `fingerprint` stands for the source, None where that cannot be found; `subject` is the kind of
    subject that it is judged as.
    """

    make: MakeScheduler
    strict_types: bool = False
    todos: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    fingerprint: str | None = None
    subject: Callable[..., Any] = ChapterSubject


Before = Callable[[str], None]


@dataclass(frozen=True)
class Source:
    """A scheduler's name, and how to load it; `load` is told what runs next.

    `batches` tells that it schedules batches and is no scheduler of the chapter's shape, `paged`
    that it is led as an engine is, with the prompts themselves and with steps in flight. `scope`
    is the one in which it is searched where none is asked for, "" for the usual one.
    """

    name: str
    load: Callable[[Before], Loaded]
    batches: bool = False
    paged: bool = False
    scope: str = ""


def source_of(
    target: str | type[Any] | None = None,
    factory: str | Callable[..., Any] | None = None,
    cell: int | None = None,
) -> Source:
    """The source that a target (text, class, None or "model" for ours) or a factory names.

    Raises `TargetError` for a text that can name nothing.
    """
    if factory is not None:
        return _of_factory(factory, cell)
    if cell is not None and (target in (None, OURS, OUR_BATCHES) or isinstance(target, type)):
        where = target.__qualname__ if isinstance(target, type) else BUILT_IN
        raise TargetError("target.cell_without_notebook", where=where, cell=str(cell))
    if target == OUR_BATCHES:
        return Source(OUR_BATCHES, lambda _before: loaded_batches(BatchScheduler), batches=True)
    if target is None or target == OURS:
        return Source(BUILT_IN, lambda _before: _loaded(DecodeSchedulerSim, ()))
    if isinstance(target, type):
        return Source(target.__qualname__, lambda _before: _loaded(target, ()))
    return _of_target(target, cell)


def loaded_batches(scheduler_class: type[Any], fingerprint: str | None = None) -> Loaded:
    """A scheduler of batches, ready to be made."""
    make = from_batch_class(scheduler_class)
    return Loaded(make, strict_types=True, fingerprint=fingerprint, subject=BatchSubject)


def _of_target(text: str, cell: int | None) -> Source:
    target = parse_target(text)

    def load(before: Before) -> Loaded:
        found = load_class(target, cell, before=before)
        return _loaded(found.cls, found.notes)

    return Source(text, load)


def _of_factory(factory: str | Callable[..., Any], cell: int | None) -> Source:
    if callable(factory):
        return Source(
            getattr(factory, "__qualname__", repr(factory)),
            lambda _before: Loaded(_called(factory), fingerprint=fingerprint_of(factory)),
        )
    target = parse_target(factory)

    def load(before: Before) -> Loaded:
        found = load_callable(target, cell, before=before)
        fingerprint = fingerprint_of(found.function)
        return Loaded(_called(found.function), notes=found.notes, fingerprint=fingerprint)

    return Source(factory, load)


def _loaded(cls: type[Any], notes: tuple[Note, ...]) -> Loaded:
    ours = issubclass(cls, DecodeSchedulerSim)
    fingerprint = fingerprint_of_ours() if cls is DecodeSchedulerSim else fingerprint_of(cls)
    return Loaded(from_class(cls), ours, tuple(open_todos(cls)), notes, fingerprint)


def _called(factory: Callable[..., Any]) -> MakeScheduler:
    def make(config: Config) -> Any:
        return factory(
            policy=config.policy, blocks=config.blocks, aging_interval=config.aging_interval
        )

    return make


def name_of(thing: Any) -> str:
    """A class or function as a target that can be typed, as far as it has one."""
    module, name = str(thing.__module__), str(thing.__qualname__)
    file = getattr(sys.modules.get(module), "__file__", None)
    if module != "__main__" or not isinstance(file, str) or not Path(file).is_file():
        return f"{module}:{name}"
    return f"{Path(os.path.relpath(file)).as_posix()}:{name}"
