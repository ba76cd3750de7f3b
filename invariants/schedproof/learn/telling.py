"""An exercise's result in words: one line for all, a table, the first mistake, what next.

Rules.
1. The first line says of every TODO whether it is open, wrong or right; then stands what each
   was tried with, so that "looks right" means something.
2. One mistake is told at a time, the first: what must happen, the lines that lead there, what
   must be and what is, and the shortest run that shows it.
3. When all is right, the whole catalogue follows.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.learn.evidence import OPEN, RIGHT, TOGETHER, UNKNOWN, WRONG, Case, Seen
from schedproof.learn.exercise import LEVELS, TODOS, Todo
from schedproof.learn.judging import Judged, most_requests
from schedproof.notebook.blocks import MARGIN, Block, Code, Fold, Heading, Row, Table, Text
from schedproof.notebook.card import check_card, story_blocks, trouble_blocks
from schedproof.search.results import Verdict
from schedproof.telling.messages import Say, has_text, join, tell
from schedproof.telling.report import Summary
from schedproof.telling.story import story_of
from schedproof.telling.text import BAD, FAINT, GOOD

_STATES = (WRONG, OPEN, UNKNOWN, RIGHT, TOGETHER)
_OF_KEYS = "learn.key."


def headline(judged: Judged, language: str) -> str:
    """One line about all four: "TODO 3 is still open; TODO 1 and 2 look right"."""
    say = tell(language)
    if judged.trouble is not None:
        return say("learn.not_judged")
    parts = [_part(say, state, judged.in_state(state)) for state in _STATES]
    return join(say, "semicolon", [part for part in parts if part])


def _part(say: Say, state: str, seen: Sequence[Seen]) -> str:
    if not seen:
        return ""
    numbers = [str(each.number) for each in seen]
    listed = join(say, "names", numbers[:-1])
    listed = say("learn.and", first=listed, second=numbers[-1]) if listed else numbers[-1]
    return say(f"learn.{state}.{'many' if len(seen) > 1 else 'one'}", numbers=listed)


def exercise_card(judged: Judged, whole: Summary | None, language: str) -> list[Block]:
    """All of a result as blocks; `whole` is the check of the whole class, where there was one."""
    say = tell(language)
    style = _style(judged, whole)
    mark = {BAD: "✗", FAINT: "–", GOOD: "✓"}[style]
    blocks: list[Block] = [Heading(f"{mark} {headline(judged, language)}", style, MARGIN)]
    blocks += [Text(say(message, **values), FAINT) for message, values in judged.notes]
    if judged.trouble is not None:
        return [*blocks, *trouble_blocks(say, judged.trouble)]
    blocks.append(Table(tuple(_state_row(say, seen) for seen in judged.todos)))
    blocks += _tried_with(say, judged)
    first = next(iter(judged.in_state(WRONG)), None)
    if first is not None:
        blocks += _mistake(say, language, first)
    if whole is not None:
        blocks += [Heading(say("learn.whole")), *check_card(whole, language, next_steps=False)]
    return [*blocks, Heading(say("notebook.next.title")), Text(_what_next(say, judged, whole))]


def _style(judged: Judged, whole: Summary | None) -> str:
    """Bad where something is wrong, good where all is right, faint where that is not known."""
    if judged.trouble is not None or judged.in_state(WRONG):
        return BAD
    if whole is None or whole.verdict is Verdict.INCOMPLETE:
        return FAINT
    return GOOD if whole.exit_code == 0 else BAD


def _state_row(say: Say, seen: Seen) -> Row:
    todo = TODOS[seen.number - 1]
    style = {WRONG: BAD, RIGHT: GOOD, TOGETHER: GOOD}.get(seen.state, "")
    return Row((todo.name, f"`{todo.method}`", say(f"learn.state.{seen.state}")), style)


def _tried_with(say: Say, judged: Judged) -> list[Block]:
    """What those that look right were tried with."""
    rows = [
        Row((TODOS[seen.number - 1].name, say(f"learn.with.{seen.number}", tried=seen.tried)))
        for seen in judged.in_state(RIGHT)
    ]
    if not rows:
        return []
    return [Fold(say("learn.tried"), (Table(tuple(rows), labels=True), Text(say("learn.alone"))))]


def _mistake(say: Say, language: str, seen: Seen) -> list[Block]:
    todo = TODOS[seen.number - 1]
    blocks: list[Block] = [Heading(f"✗ {todo.name}  {todo.method}", BAD)]
    if seen.trouble is not None:
        blocks += trouble_blocks(say, seen.trouble, advice=seen.trouble.kind == "hung")
    if seen.case is not None:
        blocks += _case(say, seen.case)
    found = next(((run, each) for run in seen.runs for each in run.counterexamples), None)
    if found is not None:
        run, example = found
        if seen.case is not None:
            blocks.append(Heading(say("learn.shortest")))
        blocks += story_blocks(story_of(example, language, run), example)
    elif seen.case is not None and seen.runs and not any(run.trouble for run in seen.runs):
        blocks.append(Text(say("learn.no_run", requests=most_requests(seen.number))))
    return blocks


def _case(say: Say, case: Case) -> list[Block]:
    blocks: list[Block] = [Text(say(case.text, **case.values))] if case.text else []
    names = [each.name for each in case.shown]
    if case.text.startswith(_OF_KEYS):
        blocks += [Text(say(text)) for text in _not_counted(case, names)]
    rows = tuple(_difference_row(say, case, place) for place in range(len(case.shown)))
    if rows:
        pair = ("a", "b") if _of_two(case) else (say("learn.head.must_be"), say("learn.head.got"))
        blocks.append(Table(rows, (say("learn.head.what"), *pair)))
    return [*blocks, Text(say("learn.code"), FAINT), Code(case.code)]


def _of_two(case: Case) -> bool:
    """Whether two requests are set beside each other, and not what must be and what is."""
    return case.text.startswith(_OF_KEYS) and not case.text.endswith(".changes")


def _not_counted(case: Case, names: Sequence[str]) -> list[str]:
    """Which of the fields that differ do not count under the policy."""
    counts = {"deadline_step": "deadline", "wait_steps": "aging"}
    told = [name for name, policy in counts.items() if policy != case.policy]
    return [f"learn.key.not_counted.{name}" for name in told if name in names]


def _difference_row(say: Say, case: Case, place: int) -> Row:
    shown = case.shown[place]
    name = say("learn.answer") if shown.name == "return" else shown.name
    whose = "" if shown.whose is None else f"r{shown.whose}."
    cells = (f"{whose}{name}", str(shown.must_be), str(shown.got))
    return Row(cells, "" if _of_two(case) else BAD)


def _what_next(say: Say, judged: Judged, whole: Summary | None) -> str:
    waiting = [*judged.in_state(WRONG), *judged.in_state(OPEN), *judged.in_state(UNKNOWN)]
    if waiting:
        return say("learn.next.hint", number=waiting[0].number)
    if whole is not None and whole.verdict is Verdict.INCOMPLETE:
        return say("learn.next.stopped", name=judged.name)
    fine = whole is not None and whole.exit_code == 0
    return say("learn.next.done" if fine else "learn.next.whole")


def hint_card(todo: Todo, level: int, language: str) -> list[Block]:
    """One hint as blocks."""
    say = tell(language)
    title = say("hint.title", number=todo.number, method=todo.method, level=level)
    blocks: list[Block] = [Heading(title, level=MARGIN)]
    blocks += [Text(part) for part in say(f"hint.{todo.number}.{level}").split("\n")]
    if has_text(f"hint.{todo.number}.{level + 1}") and level < max(LEVELS):
        blocks.append(Text(say("hint.more", level=level + 1), FAINT))
    return blocks
