"""The exercise as the documents show it: its parts, and a check of a half-finished one.

Rules. The check is really made, of an exercise with two answers in it and one mistake in the
second. What is printed is shown whole.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.markdown import markdown_table
from docs.trace_tour import typed

from schedproof.learn.exercise import TODOS
from schedproof.learn.writing import as_python
from schedproof.telling.messages import tell

RIGHT, WRONG = "+= victim.required_blocks", "+= challenger.required_blocks"
FILE = "homework.py"


def todos(lang: str) -> str:
    """What is to be written, as a table."""
    say = tell(lang)
    rows = [(f"`{todo.method}`", say(f"exercise.todo.{todo.number}")) for todo in TODOS]
    return markdown_table(("", ""), rows)


@cache
def half_finished(lang: str) -> str:
    """What `learn check` says of an exercise with a mistake in TODO 3."""
    text = as_python(lang, FILE, solved=(1, 3))
    assert text.count(RIGHT) == 1
    spoken = " --lang zh" if lang == "zh" else ""
    words = f"learn check {FILE}{spoken}"
    with TemporaryDirectory() as folder:
        (Path(folder) / FILE).write_text(text.replace(RIGHT, WRONG), encoding="utf-8")
        printed = typed(Path(folder), words).stdout.rstrip()
    return f"```console\n$ schedproof {words}\n{printed}\n```"


MAKERS = (todos, half_finished)
