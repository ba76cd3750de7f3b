"""A fingerprint of a scheduler's source: whether it is still the file that was checked.

Rules. It stands for the text of the whole file, or notebook cell, that defines the class or
function; the built-in model's stands for its package. What that file imports is not looked
at. Where there is no text to be found there is no fingerprint.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import schedmodel

SIGNS = 16


def fingerprint_of(thing: Any) -> str | None:
    """The fingerprint of a class or a function; None where its source cannot be found."""
    module = sys.modules.get(str(getattr(thing, "__module__", "")))
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return None
    try:
        if Path(file).is_file():
            return fingerprint_of_text(Path(file).read_bytes())
    except OSError:
        return None
    lines = linecache.getlines(file)
    return fingerprint_of_text("".join(lines).encode("utf-8", "replace")) if lines else None


def fingerprint_of_text(text: bytes) -> str:
    """The fingerprint of a source text."""
    return sha256(text.replace(b"\r\n", b"\n")).hexdigest()[:SIGNS]


def fingerprint_of_files(files: Sequence[Path]) -> str:
    """The fingerprint of several source texts, in this order."""
    return fingerprint_of_text(b"".join([file.read_bytes() for file in files]))


@cache
def fingerprint_of_ours() -> str:
    """The fingerprint of the built-in model: of its package, file by file."""
    return fingerprint_of_files(sorted(Path(schedmodel.__file__).parent.glob("*.py")))
