"""The pages as Sphinx reads them: one folder for each language, with the same names in both.

Rules.
1. A page keeps its text. What changes is what only GitHub needs: the line that leads to the
   other language goes (the side bar has it), and links are turned to where things are on
   the site.
2. A link to another page leads to it in the same language. A link to any other file of the
   repository leads to a copy of it that is part of the site.
3. A Mermaid fence becomes the picture that `lifecycle.py` draws of the same table. No other
   Mermaid is accepted, since nothing on the site may be fetched or run to draw it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from shutil import copyfile, rmtree

from docs.site.lifecycle import lifecycle_svg
from docs.site.pages import LANGUAGES, ROOT, SECTIONS, TITLES, all_pages, file_of

from schedmodel.diagrams import mermaid

LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?(?=\))")
OTHER_LANGUAGE = re.compile(r"^\[(?:简体中文|English)\]\([^)]+\)\n\n?", re.MULTILINE)
FENCE = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"^<!-- (?:generated: [^>]*|end|translates: [^>]*) -->\n?", re.MULTILINE)
PICTURE = "lifecycle.svg"
COPIES = "files"


def stage(target: Path) -> None:
    """Write the sources of both sites below `target`, and nothing else."""
    rmtree(target, ignore_errors=True)
    for lang in LANGUAGES:
        _stage_language(target / lang, lang)


def _stage_language(folder: Path, lang: str) -> None:
    pages = {file_of(page, lang): page for page in all_pages()}
    for file, page in pages.items():
        text = as_sphinx_reads_it(file, page, lang, folder)
        if page == "index":
            text += _contents(lang)
        place = folder / f"{page}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    (folder / PICTURE).write_text(lifecycle_svg(lang), encoding="utf-8")


def as_sphinx_reads_it(file: Path, page: str, lang: str, folder: Path) -> str:
    """A page's text for the site; files that it links to are copied into `folder`."""
    text = OTHER_LANGUAGE.sub("", file.read_text(encoding="utf-8"), count=1)
    text = COMMENT.sub("", text)
    by_file = {file_of(name, tongue): name for tongue in LANGUAGES for name in all_pages()}

    def turned(link: re.Match[str]) -> str:
        target = (file.parent / link[1]).resolve()
        name = by_file.get(target)
        if name is None:
            name = _copied(target, folder)
        else:
            name += ".md"
        return os.path.relpath(name, Path(page).parent) + (link[2] or "")

    return FENCE.sub(lambda fence: _picture(fence, page), LINK.sub(turned, text))


def _picture(fence: re.Match[str], page: str) -> str:
    if fence[1] != mermaid():
        raise ValueError(
            f"{page}: this Mermaid is not the lifecycle, and there is no picture of it"
        )
    return f"![]({os.path.relpath(PICTURE, Path(page).parent)})"


def _copied(target: Path, folder: Path) -> str:
    """The name of the site's copy of a file or, for a folder, of a list of what is in it."""
    name = Path(COPIES) / target.relative_to(ROOT)
    if target.is_dir():
        name = name.with_name(name.name + ".txt")
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        listed = sorted(entry.name for entry in target.iterdir() if entry.is_file())
        place.write_text("\n".join(listed) + "\n", encoding="utf-8")
    elif target.suffix == ".md":  # a document that is no page of the site
        name, place = name.with_suffix(".md.txt"), place.with_suffix(".md.txt")
        copyfile(target, place)
    else:
        copyfile(target, place)
    return name.as_posix()


def _contents(lang: str) -> str:
    """The tables of contents that Sphinx wants; the reader sees them in the side bar."""
    trees = [
        "\n".join(
            ["```{toctree}", ":hidden:", f":caption: {TITLES[lang][name]}", "", *pages, "```"]
        )
        for name, pages in SECTIONS.items()
    ]
    return "\n" + "\n\n".join(trees) + "\n"
