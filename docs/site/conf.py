"""How Sphinx builds a site out of the staged pages: `-D language=` says which of the two.

Rules. Nothing on a page comes from elsewhere: no font, no script, no picture. What Sphinx and
the theme say themselves is translated by Sphinx, and by `locale/` where Sphinx has no Chinese
for it. All other texts are whole pages in each language.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1])]

from docs.site.chinese import SearchByPairs  # noqa: E402

from schedmodel import __version__  # noqa: E402

project = "schedproof"
author = "The schedproof authors"
project_copyright = author
version = release = __version__
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["files/**"]
myst_heading_anchors = 4
locale_dirs = [str(HERE / "locale")]
gettext_auto_build = False  # `build.py` does that
html_theme = "furo"
html_title = f"schedproof {version}"
html_static_path = [str(HERE / "static")]
templates_path = [str(HERE / "templates")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_search_summary = False  # it would be fetched, which browsers refuse on a disk
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "language.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
pygments_style = "tango"
suppress_warnings = [
    "misc.highlighting_failure",  # JSON in a shell, and the like
    "myst.header",  # a list of claims may skip a level
]


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.add_search_language(SearchByPairs)
