"""Pages of counterexamples that the tests of stories use, and a reader of HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import pytest
from tests.telling.conftest import FOUND, clean_run, trouble_run

from schedproof.page.document import page
from schedproof.search.results import RunResult
from schedproof.telling.report import Summary

__all__ = ["clean_run", "trouble_run"]

_VOID = {"meta", "link", "input", "br", "col"}


@dataclass
class Reader(HTMLParser):
    """What stands in a page: texts, tags, ids, and whether every element is closed."""

    source: str
    texts: list[str] = field(default_factory=list[str])
    tags: list[tuple[str, dict[str, str | None]]] = field(
        default_factory=list[tuple[str, dict[str, "str | None"]]]
    )

    def __post_init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All text that a person reads, with single spaces."""
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of that kind."""
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def data(self) -> Any:
        """What the script reads."""
        found = re.search(r'type="application/json" id="data">(.*?)</script>', self.source, re.S)
        assert found is not None
        return json.loads(found[1])


Read = Callable[..., Reader]


@pytest.fixture(scope="session")
def found() -> Callable[[str], RunResult]:
    """The run that found the counterexample of this name."""
    known: dict[str, RunResult] = {}

    def get(name: str) -> RunResult:
        if name not in known:
            known[name] = FOUND[name]()
        return known[name]

    return get


@pytest.fixture(scope="session")
def read() -> Read:
    """The page of these runs, read."""

    def make(*runs: RunResult, subject: str = "mine.py:Mine", lang: str = "en") -> Reader:
        return Reader(page(Summary(subject, runs, 1.5), lang))

    return make
