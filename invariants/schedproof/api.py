"""`check` in Python: the same search, the same names and the same result as the command.

Rules. `check` does not raise for what is wrong with a scheduler: a broken claim, a crash or
an endless loop is a result, and the result is false. It raises `UsageError` or `TargetError`
for what is wrong with the call. Whatever the scheduler does happens in child processes.
"""

from __future__ import annotations

import re
import time as clock
import unittest
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from schedmodel import POLICIES, __version__
from schedproof.claims.catalogue import applicable
from schedproof.claims.judge import Judge
from schedproof.engines.named import LARGE, engine_target
from schedproof.planning import bounds_of, judged_claims, make_plan, named_as
from schedproof.reports.formats import FORMATS
from schedproof.reports.places import PlaceError, Wanted, write_all
from schedproof.search.engines.engine_runs import EnginePlan, judged_on_edges, run_engine
from schedproof.search.engines.engine_search import ENGINE_RUNS_EACH, Within
from schedproof.search.exhaustive.names import RANDOM
from schedproof.search.policy_runs import run_plan
from schedproof.search.profiles import PROFILES, QUICK
from schedproof.search.results import Counterexample, RunResult
from schedproof.settings import UsageError, resolve
from schedproof.subjects.contract import Config, Limits
from schedproof.subjects.load_errors import TargetError
from schedproof.subjects.sources import source_of
from schedproof.telling.document import to_document
from schedproof.telling.language import choose_language
from schedproof.telling.messages import tell
from schedproof.telling.report import Summary, render_text, tell_story
from schedproof.traces.keep import Keeping, keep


class CheckResult:
    """What a check came to. False in a condition unless nothing is wrong.

    `verdict` is the worst over `runs` (a lower_snake_case text), `exit_code` what the command
    would end with, `counterexamples` the violations, `first` the first of them or None. `str`
    tells all of it; `explain(lang)` in the other language. `reports` are the files that the
    option `report` asked for, `kept` those of the traces that were kept; `not_kept` says why
    not, where they could not be.
    """

    def __init__(self, summary: Summary, lang: str) -> None:
        self.summary = summary
        self.lang = lang
        self.reports: tuple[Path, ...] = ()
        self.kept: tuple[Path, ...] = ()
        self.not_kept = ""

    @property
    def runs(self) -> tuple[RunResult, ...]:
        """One result for each policy."""
        return self.summary.runs

    @property
    def verdict(self) -> str:
        """The overall verdict."""
        return self.summary.verdict.value

    @property
    def exit_code(self) -> int:
        """0 when nothing is wrong; see the table of exit codes in the documentation."""
        return self.summary.exit_code

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong and something was really judged."""
        return self.exit_code == 0

    @property
    def counterexamples(self) -> tuple[Counterexample, ...]:
        """All violations that are told."""
        return tuple(found for run in self.runs for found in run.counterexamples)

    @property
    def first(self) -> Counterexample | None:
        """The first violation, if there is one."""
        return next(iter(self.counterexamples), None)

    def to_json(self) -> dict[str, Any]:
        """The document of `schedproof check --json`."""
        return to_document(self.summary, __version__)

    def explain(self, lang: str | None = None) -> str:
        """All of it as text, in the given language."""
        return render_text(self.summary, choose_language(lang) if lang else self.lang)

    def to_html(self, path: str | Path, lang: str | None = None) -> Path:
        """Write all of it as one page that opens in a browser, offline; the path."""
        language = choose_language(lang) if lang else self.lang
        report = Wanted(FORMATS["html"], Path(path).expanduser())
        return write_reports((report,), self.summary, language)[0]

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.explain()

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """What a notebook shows: the same as text, as Markdown, and as a card without scripts."""
        from schedproof.notebook.card import mime_bundle

        return mime_bundle(self.summary, self.lang)


def write_reports(reports: Sequence[Wanted], summary: Summary, language: str) -> tuple[Path, ...]:
    """Write reports; where they are. Raises `UsageError` where one cannot be written."""
    try:
        return write_all(reports, summary, language)
    except PlaceError as error:
        raise UsageError(error.message_id, **error.values) from None


Progress = Callable[[dict[str, Any]], None]


def _ignore(_progress: dict[str, Any]) -> None:
    """Stands for a listener that was not given."""


def check(
    target: str | type[Any] | None = None,
    *,
    policy: str | Sequence[str] | None = None,
    search: str | None = None,
    scope: str | None = None,
    blocks: int | None = None,
    requests: int | None = None,
    identity: str | None = None,
    reduce: str | Sequence[str] | None = None,
    all_shortest: bool | None = None,
    keep_going: bool | None = None,
    liveness: bool | None = None,
    seed: int | None = None,
    time: str | float | None = None,
    memory: int | None = None,
    claims: str | Sequence[str] | None = None,
    claims_from: str | None = None,
    against: str | None = None,
    profile: str | None = None,
    lang: str | None = None,
    factory: str | Callable[..., Any] | None = None,
    cell: int | None = None,
    report: str | Sequence[str] | None = None,
    no_save: bool = True,
    progress: Progress = _ignore,
) -> CheckResult:
    """Search for violations in a scheduler; the built-in model when no target is given.

    `target` is a class, or a text as on the command line ("file.py:Class", "fault:NAME").
    `policy` is one name, several, or "all". `search` is "exhaustive" (the default), "random",
    or "both" (the default where a `seed` or `profile` is given). `scope` names a scope or its
    JSON file; `blocks` (the pool's size in KV blocks) and `requests` (the most in one run)
    override it.
    `identity` ("full" or "peer") and `reduce` say which states count as the same.
    `all_shortest` finds every shortest violation, `keep_going` one for each claim. `liveness`
    looks for endless waits instead. `time` is the limit for everything, as "30s" or in seconds;
    `memory` in MiB above what is in use; `claims` are ids or families, and
    `claims_from` a file with claims of your own; `against` "model" judges whether the scheduler
    does what the built-in model does; `factory` is a function
    (policy, blocks, aging_interval) -> scheduler; `report` names formats of files to write
    ("html", or "html=PATH" for another place). With `no_save` False what is found is kept in the
    folder `.schedproof`, as the command does. Options that are None come from the
    environment, `[tool.schedproof]`, or the defaults. Raises `UsageError` and `TargetError`.
    """
    said = {name: value for name, value in locals().items() if name != "progress"}
    asked = resolve(said)
    result = _judged(asked, choose_language(lang, asked["lang"]), progress)
    result.reports = write_reports(asked["report"], result.summary, result.lang)
    return result


def _judged(asked: dict[str, Any], language: str, progress: Progress) -> CheckResult:
    """What the searches come to, kept as traces if that is wanted."""
    started = clock.monotonic()
    runs: tuple[RunResult, ...]
    try:
        engine = engine_plan(asked)
        if engine is not None:
            name, runs = engine.target.text, (run_engine(engine, progress),)
        else:
            plan = make_plan(asked)
            name, runs = plan.source.name, tuple(run_plan(plan, progress))
    except TargetError as error:
        error.args = (tell(language)(error.message_id, **error.fields),)  # what `str` says
        raise
    keeping = Keeping(runs) if asked["no_save"] else keep(runs, named_as(asked), __version__)
    summary = Summary(name, keeping.runs, clock.monotonic() - started)
    result = CheckResult(summary, language)
    result.kept, result.not_kept = keeping.paths, keeping.trouble
    return result


NOT_FOR_ENGINES = "factory cell scope identity reduce all_shortest liveness claims_from".split()


def engine_plan(asked: dict[str, Any]) -> EnginePlan | None:
    """The plan where the target names an engine; None where it does not."""
    target = engine_target(asked["target"])
    if target is None:
        return None
    wrong = [name for name in NOT_FOR_ENGINES if asked[name]]
    wrong += ["search"] if asked["search"] not in (None, RANDOM) else []
    wrong += ["policy"] if asked["policy"] != tuple(POLICIES) else []
    if wrong:
        raise UsageError("usage.not_for_engines", option=f"--{wrong[0].replace('_', '-')}")
    profile = PROFILES[asked["profile"] or QUICK]
    sizes = {name: asked[name] for name in ("requests", "blocks") if asked[name]}
    seed = asked["seed"] if asked["seed"] is not None else profile.seed or 0
    runs = profile.examples * (LARGE_RUNS_EACH if target.adapter in LARGE else ENGINE_RUNS_EACH)
    return EnginePlan(
        target,
        judged_on_edges(judged_claims(asked["claims"])),
        Within(runs, seed, keep_going=asked["keep_going"], **sizes),
        asked["time"],
        asked["memory"],
    )


LARGE_RUNS_EACH = 5
"""As `ENGINE_RUNS_EACH`, for large libraries."""


def test_case(
    target: str | type[Any] | None = None,
    *,
    policy: str = "fixed_priority",
    blocks: int = 3,
    requests: int = 6,
    aging_interval: int = 2,
    claims: str | Sequence[str] = (),
    profile: str = "ci",
    factory: str | Callable[..., Any] | None = None,
    name: str | None = None,
) -> type[unittest.TestCase]:
    """A test case for your own test file: the Hypothesis machine over your scheduler.

    Assign the result to a name that your test runner collects. `target` is a class, or a
    text as for `check` (the built-in model when None); `factory` builds a scheduler from
    (policy, blocks, aging_interval) instead. `profile` is quick, ci (the default: the same runs
    every time) or deep. A broken claim fails the test with the story of the violation. The
    scheduler runs in the process of the test. Raises `UsageError` for wrong options and
    `PolicyRefused` when the scheduler does not have the policy.
    """
    from schedproof.search import stateful

    said = {"policy": policy, "blocks": blocks, "requests": requests, "profile": profile}
    asked = resolve({**said, "claims": claims or None})
    source = source_of(target, factory)
    loaded = source.load(lambda _part: None)
    if len(asked["policy"]) != 1:
        raise UsageError("usage.one_policy", option="policy", value=policy)
    limits = Limits() if source.batches else None
    config = Config(asked["policy"][0], asked["blocks"], aging_interval, limits)

    def start(config: Config) -> Any:
        return loaded.subject(loaded.make, config, loaded.strict_types)

    judge = Judge(applicable(judged_claims(asked["claims"]), start(config)))
    bounds = bounds_of(asked)
    machine = stateful.make_machine(start, config, judge, bounds)
    title = name or f"{_short(source.name)}_{policy}"
    return stateful.test_case(machine, PROFILES[asked["profile"]], title, _story)


test_case.__test__ = False  # type: ignore[attr-defined]  # pytest: this is no test itself


def _short(name: str) -> str:
    """A class name for a test case: what stands last in the name of what it tests."""
    parts = re.findall(r"\w+", name.removesuffix(".py").removesuffix(".ipynb"))
    return str(parts[-1]) if parts else "Scheduler"


def _story(found: Counterexample) -> str:
    return tell_story(found, choose_language(None))
