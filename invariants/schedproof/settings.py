"""What a check is asked to do: options, where they come from, and what they may be.

Rules.
1. An option is taken from where it is said first: the call or command line, then the
   environment (SCHEDPROOF_ and its name), then `[tool.schedproof]` in pyproject.toml, then
   the default.
2. A wrong value is a `UsageError` that names what was got, what is allowed and where it
   stood; nothing is guessed. So is a name in the configuration file that is no option.
3. One table, `OPTIONS`, defines the names, the parsers and the defaults; the command line,
   the configuration file and the Python call all read it.
"""

from __future__ import annotations

import difflib
import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from schedmodel.policy import KNOWN_POLICIES, POLICIES
from schedproof.claims.against import MODEL
from schedproof.reports.formats import FORMATS
from schedproof.reports.places import PlaceError, Wanted, look_at, wanted
from schedproof.search.exhaustive.names import IDENTITIES, REDUCTIONS, SEARCHES
from schedproof.search.profiles import PROFILES
from schedproof.telling.language import (
    LANGUAGES,
    UnknownLanguage,
    choose_language,
    known_language,
)
from schedproof.telling.messages import join, tell

ENVIRONMENT = "SCHEDPROOF_"


class UsageError(Exception):
    """Something was asked for that does not exist; told by a message of the catalogue.

    `allowed` is a sequence of names. As a text the mistake is told in English.
    """

    def __init__(self, message_id: str, **values: Any) -> None:
        super().__init__(message_id, values)
        self.message_id, self.values = message_id, values

    def told(self, lang: str) -> str:
        """The mistake and what to do, in one language."""
        say = tell(lang)
        values = dict(self.values)
        if "allowed" in values:
            values["allowed"] = join(say, "names", list(values["allowed"]))
        return say(self.message_id, **values)

    def __str__(self) -> str:
        return self.told(LANGUAGES[0])


@dataclass(frozen=True)
class Option:
    """One option: how its text or value is understood, and what it is when nobody says."""

    parse: Callable[[str, Any], Any]
    default: Any


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The known name nearest to `name`, or an empty text."""
    by_small_letters = {text.lower(): text for text in known}
    near = difflib.get_close_matches(name.lower(), by_small_letters, n=1)
    return by_small_letters[near[0]] if near else ""


NAMED_MAX = 22
"""More allowed values than these are not all named in an error: all families of claims are."""


def unknown(name: str, value: Any, known: Sequence[str]) -> UsageError:
    """`value` is not among the known values of the option `name`."""
    meant = did_you_mean(str(value), known)
    text = "usage.unknown_did_you_mean" if meant else "usage.unknown"
    allowed = tuple(known)
    if len(allowed) > NAMED_MAX:
        allowed = (*allowed[:NAMED_MAX], f"… ({len(allowed)})")
    return UsageError(text, option=name, value=str(value), allowed=allowed, suggestion=meant)


def _whole(at_least: int, at_most: int | None = None) -> Callable[[str, Any], int]:
    def parse(name: str, value: Any) -> int:
        text = str(value).strip()
        number = int(text) if re.fullmatch(r"-?\d{1,18}", text) else None
        if isinstance(value, (bool, float)) or number is None or number < at_least:
            raise UsageError("usage.whole_number", option=name, value=str(value), at_least=at_least)
        if at_most is not None and number > at_most:
            bounds = {"at_least": at_least, "at_most": at_most}
            raise UsageError("usage.whole_number_between", option=name, value=str(value), **bounds)
        return number

    return parse


def _one_of(known: Sequence[str]) -> Callable[[str, Any], str]:
    def parse(name: str, value: Any) -> str:
        if value not in known:
            raise unknown(name, value, known)
        return str(value)

    return parse


def _names(name: str, value: Any) -> tuple[str, ...]:
    """Names from a text with commas, or from a list of such texts."""
    texts = [value] if isinstance(value, str) else cast("Sequence[object]", value)
    if not isinstance(texts, (list, tuple)) or not all(isinstance(t, str) for t in texts):
        raise UsageError("usage.names", option=name, value=str(value))
    names = [part.strip() for text in texts for part in str(text).split(",")]
    return tuple(dict.fromkeys(part for part in names if part))


def _policies(name: str, value: Any) -> tuple[str, ...]:
    names = _names(name, value)
    known = (*KNOWN_POLICIES, "all")
    for policy in names:
        if policy not in known:
            raise unknown(name, policy, known)
    return tuple(POLICIES) if not names or "all" in names else names


_SECONDS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}


def _duration(name: str, value: Any) -> float:
    """Seconds from `30`, `30s`, `500ms`, `2m` or `1h`; must be more than nothing."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", str(value).strip().lower())
    unit = match.group(2) if match else None
    if match is None or unit not in _SECONDS or isinstance(value, bool):
        raise UsageError("usage.duration", option=name, value=str(value))
    seconds = float(match.group(1)) * _SECONDS[unit]
    if not 0 < seconds < 10**7:
        raise UsageError("usage.duration", option=name, value=str(value))
    return seconds


def _flag(name: str, value: Any) -> bool:
    known = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
    if str(value).strip().lower() not in known:
        raise UsageError("usage.flag", option=name, value=str(value))
    return known[str(value).strip().lower()]


def _some_of(known: Sequence[str]) -> Callable[[str, Any], tuple[str, ...]]:
    def parse(name: str, value: Any) -> tuple[str, ...]:
        names = _names(name, value)
        for one in names:
            if one not in known:
                raise unknown(name, one, known)
        return names

    return parse


def _reports(name: str, value: Any) -> tuple[Wanted, ...]:
    """Reports from `html`, or `html=PATH` for another place than the usual one."""
    reports: list[Wanted] = []
    try:
        for text in _names(name, value):
            kind, equals, place = (part.strip() for part in text.partition("="))
            if kind not in FORMATS:
                raise unknown(name, kind, tuple(FORMATS))
            if equals and not place:
                raise UsageError("usage.report_no_place", option=name, format=kind)
            reports.append(wanted(kind, place))
        look_at(reports)
    except PlaceError as error:
        raise UsageError(error.message_id, **error.values) from None
    return tuple(reports)


def _name(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError("usage.text", option=name, value=str(value))
    return value


def _code(name: str, value: Any) -> Any:
    """A text that leads to a class or function, or, in a call from Python, that itself."""
    if not isinstance(value, str) and not callable(value):
        raise UsageError("usage.text", option=name, value=str(value))
    return value


def _language(name: str, value: Any) -> str:
    language = known_language(value) if isinstance(value, str) else None
    if language is None:
        raise unknown(name, value, LANGUAGES)
    return language


def _target(name: str, value: Any) -> Any:
    """A text that leads to a class, or a class; a function is for `factory`."""
    if not isinstance(value, (str, type)):
        raise UsageError("usage.text", option=name, value=str(value))
    return value


REQUESTS_MAX = 1000

OPTIONS: dict[str, Option] = {
    "target": Option(_target, None),
    "factory": Option(_code, None),
    "cell": Option(_whole(1), None),
    "policy": Option(_policies, tuple(POLICIES)),
    "search": Option(_one_of(SEARCHES), None),
    "scope": Option(_name, None),
    "blocks": Option(_whole(0), None),
    "requests": Option(_whole(1, REQUESTS_MAX), None),
    "identity": Option(_one_of(IDENTITIES), None),
    "reduce": Option(_some_of(REDUCTIONS), ()),
    "all_shortest": Option(_flag, False),
    "keep_going": Option(_flag, False),
    "liveness": Option(_flag, False),
    "seed": Option(_whole(0), None),
    "time": Option(_duration, 30.0),
    "memory": Option(_whole(64), 1024),
    "claims": Option(_names, ()),
    "against": Option(_one_of((MODEL,)), None),
    "claims_from": Option(_name, None),
    "profile": Option(_one_of(tuple(PROFILES)), None),
    "lang": Option(_language, None),
    "quiet": Option(_flag, False),
    "no_save": Option(_flag, False),
    "report": Option(_reports, ()),
}


def resolve(said: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """Every option's value, parsed. `said` holds what was said in the call; None is unsaid.

    The configuration file is pyproject.toml in `folder` (the current one) or the nearest
    folder above that has one. Raises `UsageError`.
    """
    filed = file_settings(folder or Path.cwd())
    resolved: dict[str, Any] = {}
    for name, option in OPTIONS.items():
        for value, where in _places(name, said, filed):
            if value is not None:
                resolved[name] = option.parse(where, value)
                break
        else:
            resolved[name] = option.default
    return resolved


def language(explicit: str | None = None) -> str:
    """The language to tell before anything else is known; raises `UsageError`.

    A configuration file that cannot be read is told by `resolve`: the version and the help
    can be printed without it.
    """
    try:
        filed = file_settings(Path.cwd()).get("lang")
    except UsageError:
        filed = None
    try:
        return choose_language(explicit, None if filed is None else str(filed))
    except UnknownLanguage as error:
        names = {"argument": "--lang", "config": "[tool.schedproof] lang"}
        where = names.get(error.source, ENVIRONMENT + "LANG")
        raise unknown(where, error.name, LANGUAGES) from None


def _places(
    name: str, said: Mapping[str, Any], filed: Mapping[str, Any]
) -> tuple[tuple[Any, str], ...]:
    variable = ENVIRONMENT + name.upper()
    return (
        (said.get(name), name),
        (os.environ.get(variable) or None, variable),
        (filed.get(name), f"[tool.schedproof] {name}"),
    )


def file_settings(folder: Path) -> dict[str, Any]:
    """`[tool.schedproof]` of the nearest pyproject.toml from `folder` upwards; {} if none."""
    for place in (folder, *folder.parents):
        path = place / "pyproject.toml"
        if path.is_file():
            return _read(path)
    return {}


def _read(path: Path) -> dict[str, Any]:
    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    table: dict[str, Any]
    try:
        with path.open("rb") as file:
            table = toml.load(file)
    except (ValueError, OSError) as error:  # not TOML, not UTF-8, or not to be read
        raise UsageError("usage.bad_file", path=str(path), error=str(error)) from None
    settings = _table(path, _table(path, table, "tool"), "schedproof")
    for key in settings:
        if key not in OPTIONS:
            raise unknown(f"{path}: [tool.schedproof]", key, tuple(OPTIONS))
    return settings


def _table(path: Path, around: dict[str, Any], key: str) -> dict[str, Any]:
    found: dict[str, Any] = around.get(key, {})
    if type(found) is not dict:
        raise UsageError("usage.no_table", path=str(path), key=key)
    return found
