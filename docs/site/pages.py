"""What the site is made of: every page in its place, and the pages outside this folder.

Rules.
1. A page has one name in both languages. `NAME.md` is its English text, `NAME.zh.md` its
   Chinese one; both stand in `docs/` unless `OUTSIDE` says otherwise.
2. Every page of `docs/` stands in exactly one section. A test compares.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LANGUAGES = ("en", "zh")

OUTSIDE = {"start": "README"}
"""Pages of the site whose texts stand at the top of the repository."""

LESSONS = (
    "lessons/01-life",
    "lessons/02-ledger",
    "lessons/03-preemption",
    "lessons/04-victim",
    "lessons/05-tests",
    "lessons/06-random",
    "lessons/07-starvation",
    "lessons/08-reduction",
    "lessons/09-engine",
    "lessons/10-claim",
)
DECISIONS = ("decisions/0001-documents-in-two-languages",)

SECTIONS: dict[str, tuple[str, ...]] = {
    "tutorial": ("start", "lessons/index", *LESSONS, "learn"),
    "how-to": ("engines", "tests", "ci", "report", "traces", "exports", "own-claims"),
    "explanation": ("model", "verdicts", "liveness", "compare"),
    "reference": ("cli", "python", "claims", "faults", "scopes", "glossary"),
    "decisions": DECISIONS,
}
TITLES = {
    "en": {
        "tutorial": "Learn",
        "how-to": "Do",
        "explanation": "Understand",
        "reference": "Look up",
        "decisions": "Decisions",
    },
    "zh": {
        "tutorial": "学习",
        "how-to": "操作",
        "explanation": "理解",
        "reference": "查阅",
        "decisions": "决策记录",
    },
}


def all_pages() -> tuple[str, ...]:
    """Every page by its name on the site, in the order of the sections."""
    return ("index", *(page for pages in SECTIONS.values() for page in pages))


def file_of(page: str, lang: str) -> Path:
    """The file that holds a page's text in a language."""
    folder, name = (ROOT, OUTSIDE[page]) if page in OUTSIDE else (DOCS, page)
    return folder / f"{name}{'.zh' if lang == 'zh' else ''}.md"


def title_of(page: str, lang: str) -> str:
    """A page's first heading."""
    with file_of(page, lang).open(encoding="utf-8") as lines:
        return next(line[2:].strip() for line in lines if line.startswith("# "))
