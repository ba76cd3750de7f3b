"""The message catalogue: every text that is shown at run time, by id, in two languages.

Rules.
1. One flat JSON file for each language, with the same ids and the same placeholders. The
   web page reads the same files.
2. A placeholder is a name in braces. It may carry the singular and the plural of what it
   counts, `{free:block|blocks}`, and then stands for number and word: "1 block".
3. A text says nothing that its values do not say, and values that are names of fields,
   states or calls are never translated.
4. An id that is not in the catalogue, or a placeholder without a value, is a mistake of
   ours and raises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from schedproof.telling.language import LANGUAGES, UnknownLanguage

Say = Callable[..., str]

PLACEHOLDER = re.compile(r"\{(?P<name>\w+)(?::(?P<one>[^|{}]*)\|(?P<many>[^|{}]*))?\}")


class MissingText(LookupError):
    """The catalogue has no text of this id, or a text's placeholder has no value."""


@cache
def catalogue(language: str) -> dict[str, str]:
    """All texts of one language by id; not to be changed."""
    if language not in LANGUAGES:
        raise UnknownLanguage(language, "argument")
    resource = files("schedproof.telling") / "messages" / f"{language}.json"
    texts: dict[str, str] = json.loads(resource.read_text(encoding="utf-8"))
    return texts


@cache
def tell(language: str) -> Say:
    """`say(message_id, **values)` in one language; the texts are read when first needed."""

    def say(message_id: str, /, **values: Any) -> str:
        try:
            text = catalogue(language)[message_id]
        except KeyError:
            raise MissingText(f"no text {message_id!r} in {language}.json") from None
        return PLACEHOLDER.sub(lambda match: _filled(match, message_id, values), text)

    return say


def has_text(message_id: str) -> bool:
    """Whether the catalogue has a text of this id."""
    return message_id in catalogue(LANGUAGES[0])


def tell_first(say: Say, *message_ids: str, **values: Any) -> str:
    """The text of the first of these ids that the catalogue has; the last one must exist."""
    found = next((i for i in message_ids[:-1] if has_text(i)), message_ids[-1])
    return say(found, **values)


def placeholders(text: str) -> set[str]:
    """The names of a text's placeholders."""
    return {match["name"] for match in PLACEHOLDER.finditer(text)}


def _filled(match: re.Match[str], message_id: str, values: dict[str, Any]) -> str:
    name = match["name"]
    if name not in values:
        raise MissingText(f"the text {message_id!r} needs a value for {name!r}")
    value = values[name]
    if match["many"] is None:
        return str(value)
    shown = f"{value:,}" if type(value) is int else str(value)
    return f"{shown} {match['one'] if shown in ('1', '-1') else match['many']}"


def join(say: Say, separator: str, parts: list[str]) -> str:
    """Parts in a row, with the language's own separator (`list.<separator>`)."""
    row = "".join(parts[:1])
    for part in parts[1:]:
        row = say(f"list.{separator}", first=row, second=part)
    return row
