"""Which language is spoken: English or Simplified Chinese.

Rules.
1. The first of these that says anything decides: the argument of a call or option, what
   `set_language` was told, the environment variable SCHEDPROOF_LANG, the configuration, the
   locale (LC_ALL, LC_MESSAGES, LANG). Otherwise it is English.
2. A language that a person asked for and that does not exist is an error. A locale of
   another language is not: nobody asked for it.
3. A language may be written as a locale is: zh, zh-CN and zh_CN.UTF-8 are the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

LANGUAGES = ("en", "zh")
VARIABLE = "SCHEDPROOF_LANG"
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")

_chosen: str | None = None


class UnknownLanguage(ValueError):
    """A language that there is no catalogue for.

    `name` is what was given, `source` which of the ways it came by (argument, set_language,
    environment, config), `allowed` what may be given.
    """

    def __init__(self, name: str, source: str) -> None:
        allowed = ", ".join(LANGUAGES)
        super().__init__(f"language must be one of {allowed}, got {name!r} ({source})")
        self.name, self.source, self.allowed = name, source, LANGUAGES

    def __reduce__(self) -> tuple[type[UnknownLanguage], tuple[str, str]]:
        return type(self), (self.name, self.source)


def set_language(name: str | None) -> None:
    """Speak this language from now on; None goes back to what the surroundings say."""
    global _chosen  # noqa: PLW0603 - the one setting that a notebook's first cell makes
    _chosen = None if name is None else _known(name, "set_language")


def choose_language(
    explicit: str | None = None,
    config: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> str:
    """The language to tell, "en" or "zh"; raises `UnknownLanguage`."""
    env = os.environ if environ is None else environ
    asked = (
        (explicit, "argument"),
        (_chosen, "set_language"),
        (env.get(VARIABLE), "environment"),
        (config, "config"),
    )
    for name, source in asked:
        if name:
            return _known(name, source)
    return language_of_locale(env)


def language_of_locale(environ: Mapping[str, str] | None = None) -> str:
    """The language of the first locale variable that is set; English if it is another one."""
    env = os.environ if environ is None else environ
    names = (env.get(variable) for variable in _LOCALE_VARIABLES)
    return known_language(next((name for name in names if name), "")) or "en"


def _known(name: str, source: str) -> str:
    language = known_language(name)
    if language is None:
        raise UnknownLanguage(name, source)
    return language


def known_language(name: str) -> str | None:
    """The language that a name or a locale means, if it is one of ours."""
    first = re.split(r"[-_.@]", name.strip().lower(), maxsplit=1)[0]
    return first if first in LANGUAGES else None
