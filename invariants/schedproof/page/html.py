"""HTML as values: elements that escape whatever is put into them.

Rules.
1. A text is escaped unless it is `Html` already, and only the functions here make `Html`.
   What a user wrote (names of classes, of requests, texts of errors) is text.
2. Attributes whose value is None or False are left out, and True writes the name alone. A
   trailing underscore is dropped and other underscores become hyphens: `class_`, `data_step`.
3. `both` says a text in every language; the reader's choice of language hides the others.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import Say, tell

TAGS = {"en": "en", "zh": "zh-Hans"}
"""How each language is written in an attribute `lang`; browsers choose fonts by it."""

_VOID = frozenset({"meta", "link", "br", "input", "col"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, /, *content: Html | str | int | None, **attributes: object) -> Html:
    """One element; `None` in its content is nothing."""
    names = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _VOID:
        return Html(f"<{tag}{names}>")
    return Html(f"<{tag}{names}>{joined(*content)}</{tag}>")


def joined(*content: Html | str | int | None) -> Html:
    """Pieces one behind the other."""
    return Html("".join(_escaped(piece) for piece in content if piece is not None))


def both(text: Callable[[Say], Html | str]) -> Html:
    """A text in every language; once, where it is the same in all of them."""
    return in_languages([text(tell(language)) for language in LANGUAGES])


def in_languages(texts: list[Html] | list[str] | list[Html | str], tag: str = "span") -> Html:
    """Texts in the order of the languages, each marked with its own."""
    if tag == "span" and len(set(texts)) == 1:
        return joined(texts[0])
    pairs = zip(LANGUAGES, texts, strict=True)
    return joined(*(element(tag, text, lang=TAGS[language]) for language, text in pairs if text))


def _escaped(piece: Html | str | int) -> str:
    return piece if isinstance(piece, Html) else escape(str(piece))


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    written = name.rstrip("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{escape(str(value))}"'
