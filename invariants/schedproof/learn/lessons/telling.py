"""A lesson's exercise in words: what it asks for, and what became of an answer."""

from __future__ import annotations

from schedproof.learn.lessons.exercises import RUN, Lesson
from schedproof.learn.lessons.judging import RIGHT, Judged
from schedproof.notebook.blocks import MARGIN, Block, Code, Heading, Row, Table, Text
from schedproof.notebook.card import story_blocks, trouble_blocks
from schedproof.telling.messages import Say, tell
from schedproof.telling.story import story_of
from schedproof.telling.text import BAD, FAINT, GOOD


def task_card(lesson: Lesson, answer: bool, language: str) -> list[Block]:
    """What is asked for; with `answer`, a right one."""
    say = tell(language)
    blocks: list[Block] = [Heading(_title(say, lesson), level=MARGIN)]
    blocks.append(Text(say(f"lesson.{lesson.number}.task")))
    blocks.append(Text(say(f"lesson.kind.{lesson.kind}"), FAINT))
    if lesson.kind == RUN:
        blocks.append(_set_up(say, lesson))
    if answer:
        blocks += [Heading(say("lesson.answer")), Code(tuple(lesson.answer.rstrip().split("\n")))]
    else:
        blocks.append(Text(say("lesson.how", number=lesson.number), FAINT))
    return blocks


def _title(say: Say, lesson: Lesson) -> str:
    return say("lesson.title", number=lesson.number, title=say(f"lesson.{lesson.number}.title"))


def _set_up(say: Say, lesson: Lesson) -> Table:
    config = lesson.config
    rows = [
        Row((say("lesson.set_up.scheduler"), f"`{lesson.target}`")),
        Row((say("lesson.set_up.policy"), f"`{config.policy}`")),
        Row((say("lesson.set_up.blocks"), str(config.blocks))),
    ]
    if config.limits is not None:
        rows += [Row((f"`{name}`", str(value))) for name, value in config.limits._asdict().items()]
    elif config.policy == "aging":
        rows.append(Row((say("lesson.set_up.aging"), str(config.aging_interval))))
    return Table(tuple(rows), labels=True)


def judged_card(lesson: Lesson, judged: Judged, language: str) -> list[Block]:
    """What became of an answer."""
    say = tell(language)
    style = GOOD if judged.state == RIGHT else BAD
    mark = "✓" if judged.state == RIGHT else "✗"
    title = say(f"lesson.state.{judged.state}", number=lesson.number)
    blocks: list[Block] = [Heading(f"{mark} {title}", style, MARGIN)]
    if judged.text:
        values = {name: value for name, value in judged.values.items() if name != "alive"}
        blocks.append(Text(say(judged.text, **values)))
    alive = judged.values.get("alive", ())
    if alive:
        rows = (Row((f"`{name}`", say(f"fault.{name}.title"))) for name in alive)
        blocks += [Text(say("lesson.alive")), Table(tuple(rows))]
    if judged.trouble is not None:
        blocks += trouble_blocks(say, judged.trouble)
    if judged.example is not None:
        blocks += story_blocks(story_of(judged.example, language), judged.example)
    return blocks
