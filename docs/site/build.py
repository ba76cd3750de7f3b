"""Build the site in both languages: `python -m docs.site.build [FOLDER]`.

Rules. A warning of Sphinx is an error. The folder (`build/docs`) is made anew each time; its
`index.html` leads to both languages, and everything in it works from the disk. What the theme
says in English only is replaced in the Chinese pages when they are written.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import rmtree

from docs.site.pages import LANGUAGES, ROOT
from docs.site.staging import stage

SITE = ROOT / "build" / "docs"
HERE = Path(__file__).resolve().parent
SPHINX_NAMES = {"en": "en", "zh": "zh_CN"}
THEME_IN_CHINESE = {
    ">Skip to content<": ">跳到正文<",
    ">Light mode<": ">浅色<",
    ">Dark mode<": ">深色<",
    ">Auto light/dark, in light mode<": ">自动，现为浅色<",
    ">Auto light/dark, in dark mode<": ">自动，现为深色<",
    '"Toggle Light / Dark / Auto color theme"': '"切换浅色、深色或自动"',
    '"Toggle site navigation sidebar"': '"打开或收起站点导航"',
    '"Toggle table of contents sidebar"': '"打开或收起本页目录"',
}
FRONT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>schedproof</title>
<style>body { font: 1.4rem system-ui, sans-serif; margin: 20vh auto; width: 16em } \
a { display: block; margin: .5em 0 }</style>
<h1>schedproof</h1>
<a href="en/index.html">Documents</a>
<a href="zh/index.html" lang="zh-CN">中文文档</a>
</html>
"""


def main(words: list[str]) -> int:
    """Build both sites; the exit code of the first that fails, else 0."""
    site = Path(words[0]).resolve() if words else SITE
    sources = site.with_name(f"{site.name}-sources")
    rmtree(site, ignore_errors=True)
    stage(sources)
    compile_texts()
    for lang in LANGUAGES:
        code = run_sphinx(sources / lang, site / lang, lang)
        if code:
            return code
    translate_theme(site / "zh")
    (site / "index.html").write_text(FRONT, encoding="utf-8")
    rmtree(sources)
    sys.stdout.write(f"{site / 'index.html'}\n")
    return 0


def compile_texts() -> None:
    """Make of `locale` what Sphinx reads."""
    command = [sys.executable, "-m", "sphinx_intl", "build", "-d", str(HERE / "locale")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)


def translate_theme(site: Path) -> None:
    """Put Chinese in place of what the theme says in English, whatever the language."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for english, chinese in THEME_IN_CHINESE.items():
            text = text.replace(english, chinese)
        page.write_text(text, encoding="utf-8")


def run_sphinx(source: Path, target: Path, lang: str) -> int:
    """Build one language; Sphinx's exit code."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    command += ["-c", str(HERE), "-D", f"language={SPHINX_NAMES[lang]}"]
    command += ["-d", str(source.with_name(f"{lang}-doctrees")), str(source), str(target)]
    return subprocess.call(command, env={**os.environ, "LC_ALL": "C.UTF-8"}, cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
