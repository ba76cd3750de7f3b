"""Which Chinese pages are behind their English ones: `python docs/translations.py [PAGE ...]`.

Rules.
1. The last line of a Chinese page records a digest of the English page that it tells. A page
   whose English one has changed since is behind; a test fails until somebody has looked.
2. The digest leaves out what is made by a program: generated parts and printed outputs, which
   are renewed in both languages, and the line that leads to the other language.
3. Without arguments the pages that are behind are listed, and the exit code is 1 if there are
   any. With the names of Chinese pages, those are recorded as up to date; another name is 2.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MADE = re.compile(r"^<!-- (?:generated: [^>]*|prints) -->\n.*?^<!-- end -->\n", re.DOTALL | re.M)
OTHER_LANGUAGE = re.compile(r"^\[(?:简体中文|English)\]\([^)]+\)\n", re.MULTILINE)
RECORD = re.compile(r"\n<!-- translates: (\w+) -->\n\Z")
DIGITS = 16


def chinese_pages() -> list[Path]:
    """Every Chinese page of the repository."""
    return sorted([*ROOT.glob("*.zh.md"), *(ROOT / "docs").rglob("*.zh.md")])


def english_of(page: Path) -> Path:
    """The English page that a Chinese one tells."""
    return page.with_name(page.name.replace(".zh.md", ".md"))


def digest_of(english: Path) -> str:
    """What is recorded of an English page as it is now."""
    text = OTHER_LANGUAGE.sub("", MADE.sub("", english.read_text(encoding="utf-8")))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:DIGITS]


def recorded_in(page: Path) -> str:
    """The digest that a Chinese page records; empty for none."""
    found = RECORD.search(page.read_text(encoding="utf-8"))
    return found[1] if found else ""


def is_behind(page: Path) -> bool:
    """Whether the English page has changed since the Chinese one was brought up to date."""
    return recorded_in(page) != digest_of(english_of(page))


def record(page: Path) -> None:
    """Write down that a Chinese page tells the English one as it is now."""
    text = RECORD.sub("\n", page.read_text(encoding="utf-8"))
    mark = f"\n<!-- translates: {digest_of(english_of(page))} -->\n"
    page.write_text(text.rstrip("\n") + "\n" + mark, encoding="utf-8")


def main(names: list[str]) -> int:
    """List what is behind, or record pages; the exit code."""
    known = chinese_pages()
    for name in names:
        if Path(name).resolve() not in known:
            sys.stderr.write(f"{name} is no Chinese page: they end in .zh.md\n")
            return 2
    for name in names:
        record(Path(name).resolve())
    behind = [] if names else [page for page in chinese_pages() if is_behind(page)]
    for page in behind:
        english = english_of(page).relative_to(ROOT)
        sys.stdout.write(f"{page.relative_to(ROOT)} is behind {english}\n")
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
