"""What a check is asked to do: options, where they come from, and what they may be.

Rules.
1. An option is taken from where it is said first: the call or command line, then the
   environment (SCHEDPROOF_ and its name), then `[tool.schedproof]` in pyproject.toml, then
   the default.
2. A wrong value is a `UsageError` that names what was got, what is allowed and where it
   stood; nothing is guessed.
3. One table, `OPTIONS`, defines the names, the parsers and the defaults; the command line,
   the configuration file and the Python call all read it.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedmodel import POLICIES
from schedproof.search.profiles import PROFILES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENVIRONMENT = "SCHEDPROOF_"
LANGUAGES = ("en", "zh")


class UsageError(Exception):
    """Something was asked for that does not exist; told by a message of the catalogue."""

    def __init__(self, message_id: str, **values: Any) -> None:
        super().__init__(message_id, values)
        self.message_id, self.values = message_id, values


@dataclass(frozen=True)
class Option:
    """One option: how its text or value is understood, and what it is when nobody says."""

    parse: Callable[[str, Any], Any]
    default: Any


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The known name nearest to `name`, or an empty text."""
    near = difflib.get_close_matches(name, known, n=1)
    return near[0] if near else ""


def _unknown(name: str, value: Any, known: Sequence[str]) -> UsageError:
    meant = did_you_mean(str(value), known)
    text = "usage.unknown_did_you_mean" if meant else "usage.unknown"
    allowed = ", ".join(known)
    return UsageError(text, option=name, value=str(value), allowed=allowed, suggestion=meant)


def _whole(at_least: int) -> Callable[[str, Any], int]:
    def parse(name: str, value: Any) -> int:
        text = str(value).strip()
        number = int(text) if re.fullmatch(r"-?\d{1,18}", text) else None
        if isinstance(value, (bool, float)) or number is None or number < at_least:
            raise UsageError("usage.whole_number", option=name, value=str(value), at_least=at_least)
        return number

    return parse


def _one_of(known: Sequence[str]) -> Callable[[str, Any], str]:
    def parse(name: str, value: Any) -> str:
        if value not in known:
            raise _unknown(name, value, known)
        return str(value)

    return parse


def split_names(value: Any) -> tuple[str, ...]:
    """Names from a text with commas, or from a sequence of such texts."""
    texts = [value] if isinstance(value, str) else list(value)
    names = [name.strip() for text in texts for name in str(text).split(",")]
    return tuple(dict.fromkeys(name for name in names if name))


def _policies(name: str, value: Any) -> tuple[str, ...]:
    names = split_names(value)
    known = (*POLICIES, "all")
    for policy in names:
        if policy not in known:
            raise _unknown(name, policy, known)
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


def _text(name: str, value: Any) -> Any:
    return value


OPTIONS: dict[str, Option] = {
    "target": Option(_text, None),
    "factory": Option(_text, None),
    "cell": Option(_whole(1), None),
    "policy": Option(_policies, tuple(POLICIES)),
    "blocks": Option(_whole(0), 3),
    "requests": Option(_whole(1), 3),
    "seed": Option(_whole(0), None),
    "time": Option(_duration, 30.0),
    "memory": Option(_whole(64), 1024),
    "claims": Option(lambda _name, value: split_names(value), ()),
    "profile": Option(_one_of(tuple(PROFILES)), "quick"),
    "lang": Option(_text, None),
    "quiet": Option(_flag, False),
}


def resolve(said: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """Every option's value, parsed. `said` holds what was said in the call; None is unsaid.

    The configuration file is pyproject.toml in `folder` (the current one) or the nearest
    folder above that has one. Raises `UsageError`.
    """
    filed = file_settings(folder or Path.cwd())
    resolved = {}
    for name, option in OPTIONS.items():
        for value, where in _places(name, said, filed):
            if value is not None:
                resolved[name] = option.parse(where, value)
                break
        else:
            resolved[name] = option.default
    return resolved


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
    try:
        with path.open("rb") as file:
            table = tomllib.load(file).get("tool", {}).get("schedproof", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError("usage.bad_file", path=str(path), error=str(error)) from None
    if not isinstance(table, dict):
        raise UsageError("usage.bad_file", path=str(path), error="[tool.schedproof]")
    known = [name for name in OPTIONS if name not in ("target", "quiet")]
    for key in table:
        if key not in OPTIONS:
            raise _unknown(f"{path}: [tool.schedproof]", key, known)
    return table
