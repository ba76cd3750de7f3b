"""Claims about decode schedulers, and the searches that break them.

import schedproof
schedproof.check()                       # the built-in model
schedproof.check(MyScheduler)            # a class of yours
schedproof.learn.check(MyScheduler)      # the exercise of the course, TODO by TODO
MyTest = schedproof.test_case(MyScheduler, policy="aging")   # for your test file
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedmodel import __version__
    from schedproof.api import CheckResult, check, test_case
    from schedproof.claims.own import broken, claim
    from schedproof.telling.language import set_language

__all__ = [
    "CheckResult",
    "__version__",
    "broken",
    "check",
    "claim",
    "set_language",
    "test_case",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: starting must be quick."""
    if name == "__version__":
        import schedmodel

        return schedmodel.__version__
    if name in ("CheckResult", "check", "test_case"):
        from schedproof import api

        return getattr(api, name)
    if name in ("broken", "claim"):
        from schedproof.claims import own

        return getattr(own, name)
    if name == "learn":
        import importlib

        return importlib.import_module("schedproof.learn")
    if name == "set_language":
        from schedproof.telling.language import set_language

        return set_language
    raise AttributeError(f"module 'schedproof' has no attribute {name!r}")
