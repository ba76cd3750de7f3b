"""What a test that `schedproof export --pytest` wrote imports: two actions and two assertions.

Rules.
1. The actions are taken on a new scheduler in the process of the test, so that a debugger
   can stop in it. Only the claim that is named is judged.
2. A failure is told as the story of the violation; a scheduler that fails as a program is
   told with its place and, behind it, with its own traceback.
3. A path is looked for in the current folder, then beside the test and in the folders above
   it, so that it does not matter where the tests are started.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from schedproof.api import _source
from schedproof.claims.catalogue import BY_ID, applicable
from schedproof.claims.judge import Judge
from schedproof.search.replay import attempt, counterexample
from schedproof.search.summing_up import trouble_of
from schedproof.settings import unknown
from schedproof.subjects.actions import STEP, Action, Enqueue, Step
from schedproof.subjects.chapter import ChapterSubject
from schedproof.subjects.contract import Config, SubjectError
from schedproof.telling.language import choose_language
from schedproof.telling.messages import tell
from schedproof.telling.report import tell_story
from schedproof.telling.trouble import trouble_lines

__all__ = ["assert_holds", "assert_runs", "enqueue", "step"]

Start = Callable[[Config], ChapterSubject]


def enqueue(request_id: Any, prompt_len: Any = 1, **arguments: Any) -> Enqueue:
    """The action that submits a request; arguments and defaults are those of the chapter."""
    return Enqueue(request_id, prompt_len, **arguments)


def step() -> Step:
    """The action that lets the scheduler take one step."""
    return STEP


def assert_holds(
    claim: str,
    target: str | type[Any] | None = None,
    *,
    actions: Sequence[Action],
    policy: str = "fixed_priority",
    blocks: int = 3,
    aging_interval: int = 2,
    factory: str | Callable[..., Any] | None = None,
    cell: int | None = None,
) -> None:
    """Fail with the story if these actions break the claim.

    `target`, `factory` and `cell` name the scheduler as in `schedproof.check`; `claim` is the
    id of a claim. Raises `AssertionError`, or what `schedproof.check` raises for wrong names.
    """
    __tracebackhide__ = True
    if claim not in BY_ID:
        raise unknown("claim", claim, tuple(BY_ID))
    lang = choose_language(None)
    start = _starter(target, factory, cell, _caller())
    config = Config(policy, blocks, aging_interval)
    failure: tuple[str, BaseException | None] | None = None
    try:
        judge = Judge(applicable([BY_ID[claim]], start(config)))
        violation = attempt(start, config, judge, actions)
    except SubjectError as error:
        failure = (_trouble(error, actions, policy, lang), error.cause)
    else:
        if not judge.claims:
            failure = (tell(lang)("testing.not_applicable", claim=claim), None)
        elif violation is not None:
            failure = (tell_story(counterexample(start, violation, found_by="test"), lang), None)
    if failure is not None:
        raise AssertionError(failure[0]) from failure[1]


def assert_runs(
    target: str | type[Any] | None = None,
    *,
    actions: Sequence[Action],
    policy: str = "fixed_priority",
    blocks: int = 3,
    aging_interval: int = 2,
    factory: str | Callable[..., Any] | None = None,
    cell: int | None = None,
) -> None:
    """Fail if the scheduler raises or answers nonsense on these actions."""
    __tracebackhide__ = True
    start = _starter(target, factory, cell, _caller())
    failure: tuple[str, BaseException | None] | None = None
    try:
        subject = start(Config(policy, blocks, aging_interval))
        for action in actions:
            subject.do(action)
            subject.observe()
    except SubjectError as error:
        failure = (_trouble(error, actions, policy, choose_language(None)), error.cause)
    if failure is not None:
        raise AssertionError(failure[0]) from failure[1]


def _trouble(error: SubjectError, actions: Sequence[Action], policy: str, lang: str) -> str:
    lines = trouble_lines(tell(lang), policy, trouble_of(error, actions))
    return "\n".join(line.text for line in lines)


def _caller() -> Path | None:
    """The file of whoever called a function of this module."""
    for level in inspect.stack(context=0)[1:]:
        if level.filename != __file__:
            return Path(level.filename)
    return None


def _starter(
    target: str | type[Any] | None,
    factory: str | Callable[..., Any] | None,
    cell: int | None,
    near: Path | None,
) -> Start:
    asked = {"target": _found(target, near), "factory": _found(factory, near), "cell": cell}
    loaded = _source(asked).load(lambda _part: None)

    def start(config: Config) -> ChapterSubject:
        return ChapterSubject(loaded.make, config, loaded.strict_types)

    return start


def _found(named: Any, near: Path | None) -> Any:
    """The target, its path made whole where it lies near the test and not in this folder."""
    if not isinstance(named, str) or near is None:
        return named
    head, colon, name = named.rpartition(":")
    file = Path(head or name)
    if file.suffix == "" or file.is_absolute() or file.is_file():
        return named
    for folder in near.absolute().parents:
        if (folder / file).is_file():
            return f"{folder / file}{colon}{name}" if head else str(folder / file)
    return named
