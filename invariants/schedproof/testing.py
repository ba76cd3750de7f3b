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

from schedmodel import __version__
from schedproof.claims.catalogue import BY_ID, applicable
from schedproof.claims.claim import Claim
from schedproof.claims.judge import Judge
from schedproof.claims.own import claims_of
from schedproof.planning import source_asked
from schedproof.search.replay import attempt, counterexample
from schedproof.search.results import Verdict
from schedproof.search.summing_up import trouble_of
from schedproof.settings import unknown
from schedproof.subjects.actions import STEP, Abort, Action, Deliver, Step, from_json, to_json
from schedproof.subjects.contract import Config, Limits, Subject, SubjectError
from schedproof.subjects.loading import load_module
from schedproof.telling.language import choose_language
from schedproof.telling.messages import tell
from schedproof.telling.report import tell_story
from schedproof.telling.trouble import trouble_lines
from schedproof.traces.taken import take_again
from schedproof.traces.trace import Provenance, Trace

__all__ = ["abort", "assert_holds", "assert_runs", "deliver", "enqueue", "step"]

Start = Callable[[Config], Subject]
Failure = tuple[str, BaseException | None]
"""What is told, and the exception behind it."""


def enqueue(request_id: Any, prompt_len: Any = 1, **arguments: Any) -> Action:
    """The action that submits a request; arguments and defaults are those of the chapter.

    For an engine the prompt's `token_ids` stand in place of its length.
    """
    length = {} if "token_ids" in arguments else {"prompt_len": prompt_len}
    return from_json({"op": "enqueue", "args": {"request_id": request_id, **length, **arguments}})


def step() -> Step:
    """The action that lets the scheduler take one step."""
    return STEP


def abort(request_id: int) -> Action:
    """The action that withdraws a request."""
    return Abort(request_id)


def deliver(index: int = 0) -> Action:
    """The action that hands the results of a batch in flight back."""
    return Deliver(index)


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
    claims_from: str | None = None,
    lasso: dict[str, int] | None = None,
    limits: dict[str, int] | None = None,
) -> None:
    """Fail with the story if these actions break the claim.

    `target`, `factory`, `cell` and `claims_from` are those of `schedproof.check`; `claim` is the
    id of a claim. `lasso` says of an endless wait which `request` waits, and that a loop of
    `loop` actions follows on the first `stem` ones; `limits` are those of a scheduler of
    batches. Raises `AssertionError`, or what `schedproof.check` raises for wrong names.
    """
    __tracebackhide__ = True
    near = _caller()
    wanted = _claim(claim, _found(claims_from, near))
    start = _starter(target, factory, cell, near)
    config = _config(policy, blocks, aging_interval, limits)
    lang = choose_language(None)
    failure: Failure | None = None
    try:
        if lasso is None:
            failure = _judged(wanted, start, config, actions, lang)
        else:
            failure = _repeated(wanted, start, config, actions, lasso, lang)
    except SubjectError as error:
        failure = (_trouble(error, actions, policy, lang), error.cause)
    if failure is not None:
        raise AssertionError(failure[0]) from failure[1]


def _claim(name: str, claims_from: str | None) -> Claim:
    """The claim of that id, ours or one of a file."""
    own = claims_of(vars(load_module(claims_from))) if claims_from is not None else []
    known = {**BY_ID, **{one.claim.id: one.claim for one in own}}
    if name not in known:
        raise unknown("claim", name, tuple(known))
    return known[name]


def _judged(
    claim: Claim, start: Start, config: Config, actions: Sequence[Action], lang: str
) -> Failure | None:
    judge = Judge(applicable([claim], start(config)))
    if not judge.claims:
        return tell(lang)("testing.not_applicable", claim=claim.id), None
    violation = attempt(start, config, judge, actions)
    if violation is None:
        return None
    return tell_story(counterexample(start, violation, found_by="test"), lang), None


def _repeated(
    claim: Claim,
    start: Start,
    config: Config,
    actions: Sequence[Action],
    lasso: dict[str, int],
    lang: str,
) -> Failure | None:
    """A loop is taken as often as the actions have it; somebody may be left out in all rounds."""
    records = tuple(map(to_json, actions))
    trace = Trace(
        *("test", None, config, records, Verdict.VIOLATED.value, claim.id, (), False),
        Provenance(__version__, "test"),
        lasso=lasso,
    )
    taken = take_again(trace, start, (claim,))
    if taken.example is not None:
        return tell_story(taken.example, lang), None
    return (tell(lang)(taken.reason, **taken.values), None) if taken.reason else None


def assert_runs(
    target: str | type[Any] | None = None,
    *,
    actions: Sequence[Action],
    policy: str = "fixed_priority",
    blocks: int = 3,
    aging_interval: int = 2,
    factory: str | Callable[..., Any] | None = None,
    cell: int | None = None,
    limits: dict[str, int] | None = None,
) -> None:
    """Fail if the scheduler raises or answers nonsense on these actions."""
    __tracebackhide__ = True
    start = _starter(target, factory, cell, _caller())
    failure: Failure | None = None
    try:
        subject = start(_config(policy, blocks, aging_interval, limits))
        for action in actions:
            subject.do(action)
            subject.observe()
    except SubjectError as error:
        failure = (_trouble(error, actions, policy, choose_language(None)), error.cause)
    if failure is not None:
        raise AssertionError(failure[0]) from failure[1]


def _config(policy: str, blocks: int, aging_interval: int, limits: dict[str, int] | None) -> Config:
    return Config(policy, blocks, aging_interval, None if limits is None else Limits(**limits))


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
    loaded = source_asked(asked).load(lambda _part: None)

    def start(config: Config) -> Any:
        return loaded.subject(loaded.make, config, loaded.strict_types)

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
