"""A fault as a file of its own: the chapter's class, with the bug inside and no word about it.

Rules. The file needs nothing but Python, and neither its name nor a comment gives the fault
away. It is written under another name first and then moved, so that nobody ever sees half of
it. What is already there is never overwritten.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from schedproof.zoo.faults import Fault, exported

FILE_NAME = "decode_scheduler.py"


def export(fault: Fault, folder: Path) -> Path:
    """Write the file into a folder, which is made if need be; where it is.

    Raises `FileExistsError` if there is one, and `OSError` for what the system refuses.
    """
    return write_new(folder / FILE_NAME, exported(fault))


def write_new(target: Path, text: str) -> Path:
    """Write a file that is not there yet, with the folders above it; where it is.

    Raises `FileExistsError` if there is one, and `OSError` for what the system refuses.
    """
    folder = target.parent
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=".", suffix=target.suffix)
    half = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        half.chmod(0o666 & ~_umask())
        _move(half, target)
    finally:
        half.unlink(missing_ok=True)
    return target


def _move(half: Path, target: Path) -> None:
    """Give a file its name, unless that is taken."""
    try:
        os.link(half, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError(str(target)) from None
        half.replace(target)


def _umask() -> int:
    """What this process leaves out of the rights of new files; reading it means setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
