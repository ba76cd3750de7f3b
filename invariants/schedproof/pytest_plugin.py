"""The plugin for pytest: check a scheduler by a marker or a fixture, and be told the story.

Rules.
1. pytest imports this module in every run on a computer where schedproof is installed. It
   imports nothing but pytest: the rest is loaded when a test asks for a check, or when an
   option of ours is given. The help of the options is in English, like that of pytest.
2. A failure is the story, without a traceback of ours. The summary at the end names the
   tests and the commands that take their traces again; pytest's line about a failed test
   is the title of its story, also on a build server, where pytest would repeat it whole.
3. Results travel with pytest's own reports, so that it makes no difference whether tests run
   in this process or in the workers of pytest-xdist. Reports are written once, at the end,
   by the process that was started.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from schedproof.api import CheckResult

    Check = Callable[..., CheckResult]

MARKER = "schedproof"
_DONE = pytest.StashKey[list[dict[str, Any]]]()
_HELP = {
    "profile": "how hard to search where a test does not say it: quick, ci or deep",
    "report": "write all checks of this run to a file: html, json, junit, md, itf or sarif, "
    "in the usual place or in PATH; may be repeated",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("schedproof", "checks of decode schedulers")
    group.addoption("--schedproof-profile", metavar="PROFILE", help=_HELP["profile"])
    group.addoption(
        "--schedproof-report",
        metavar="FORMAT[=PATH]",
        action="append",
        default=[],
        help=_HELP["report"],
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARKER}(target, **options): check a scheduler before the test itself runs; options are "
        "those of schedproof.check. Without a target: options for the fixture schedproof_check.",
    )
    profile, reports = _option(config, "profile"), _option(config, "report")
    if profile or reports:
        from schedproof import checked_tests

        checked_tests.look_at_options(profile, reports)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Gatherer(config), "schedproof-gatherer")


def _option(config: pytest.Config, name: str) -> Any:
    return config.getoption(f"schedproof_{name}")


@pytest.fixture
def schedproof_check(request: pytest.FixtureRequest) -> Check:
    """A function like `schedproof.check` that fails the test with the story."""

    def check(target: Any = None, **options: Any) -> CheckResult:
        __tracebackhide__ = True
        return _check(request.node, target, options)

    return check


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    marker = next((m for m in item.iter_markers(MARKER) if m.args), None)
    if marker is not None:
        for target in marker.args:
            _check(item, target, {})


def _check(item: pytest.Item, target: Any, options: dict[str, Any]) -> CheckResult:
    """Check with the options of the markers, those of the call before them."""
    __tracebackhide__ = True
    from schedproof import checked_tests

    # What is found is kept, so that the summary can name commands that take it again.
    marked: dict[str, Any] = {"profile": _option(item.config, "profile"), "no_save": False}
    for marker in reversed([*item.iter_markers(MARKER)]):
        marked.update(marker.kwargs)
    done = item.stash.setdefault(_DONE, [])
    return checked_tests.check(target, {**marked, **options}, done.append)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, None]:
    outcome = yield
    done = item.stash.get(_DONE, None)
    if done:
        report = outcome.get_result()
        # A text, because reports on their way from a worker hold plain values only.
        report.schedproof = json.dumps(done)
        done.clear()
        if call.excinfo is not None and _is_a_story(call.excinfo.value):
            crash = report.longrepr.reprcrash
            crash.message = crash.message.partition("\n")[0]


def _is_a_story(error: BaseException) -> bool:
    return isinstance(error, pytest.fail.Exception) and not error.pytrace


class _Gatherer:
    """Collects what was checked, wherever it ran; writes reports and the end of the summary."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._done: dict[str, list[dict[str, Any]]] = {}
        self._written: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        done = getattr(report, "schedproof", None)
        if done is not None:
            self._done.setdefault(report.nodeid, []).extend(json.loads(done))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        reports = _option(self._config, "report")
        if reports and self._done:
            from schedproof import checked_tests

            self._written = checked_tests.write_reports(reports, self._done)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._done:
            return
        from schedproof import checked_tests

        lines = checked_tests.summary(self._done, self._written)
        if lines:
            terminalreporter.section("schedproof")
            for line in lines:
                terminalreporter.write_line(line)
