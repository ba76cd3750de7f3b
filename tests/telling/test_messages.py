"""The two catalogues against each other and against the code that uses them.

Which ids the code uses is read from its sources: whole literals, and f-strings with a hole.
Families whose ids come from values (claims, breaches, verdicts, features) are compared with
these values one by one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import schedproof
from schedproof.claims.against import MODEL_1
from schedproof.claims.catalogue import CLAIMS
from schedproof.claims.claim import GENERAL, REFERENCE, Kind
from schedproof.search.results import Verdict
from schedproof.subjects.contract import Feature
from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import MissingText, catalogue, join, placeholders, tell

PACKAGE = Path(schedproof.__file__).parent
EN, ZH = (catalogue(language) for language in LANGUAGES)
FAMILIES = {message_id.partition(".")[0] for message_id in EN}
PARTS = ("title", "sentence", "why", "leaves_out", "rule")
ID = re.compile(r"[a-z_]+(\.[A-Za-z0-9_-]+)+")
VARIANT = re.compile(r"[A-Z]+-\d+\.[a-z_]+")
FULL_WIDTH = re.compile(r"[\uff01-\uff60]")
NAME_WITH_FULL_WIDTH = re.compile(r"[A-Za-z_][（），：]+[A-Za-z_]*=")
ENGLISH_RUN = re.compile(r"(?:\b[a-z]{2,}\b[ ,.]+){4,}")
KEPT_IN_ENGLISH = {"prefill", "decode", "block", "token", "deadline", "aging"}


@cache
def sources() -> list[tuple[Path, ast.Module]]:
    paths = sorted(PACKAGE.rglob("*.py"))
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


@cache
def literals() -> set[str]:
    """All whole texts in the sources that have the form of an id of ours."""
    found = {text for _, tree in sources() for text in _constants(tree)}
    return {
        text
        for text in found
        if ID.fullmatch(text) and text.partition(".")[0] in FAMILIES and not text.endswith(".json")
    }


def _constants(tree: ast.AST) -> Iterator[str]:
    """The texts of a tree that are not a part of an f-string."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.value
    for child in ast.iter_child_nodes(tree):
        if not isinstance(tree, ast.JoinedStr) or not isinstance(child, ast.Constant):
            yield from _constants(child)


@cache
def patterns() -> set[re.Pattern[str]]:
    """F-strings with a hole that begin with a family of ours, as patterns."""
    made: set[re.Pattern[str]] = set()
    for _, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and _begins_with_a_family(node):
                made.add(re.compile("".join(map(_part, node.values))))
    return made


def _begins_with_a_family(node: ast.JoinedStr) -> bool:
    first = node.values[0]
    text = first.value if isinstance(first, ast.Constant) else ""
    return isinstance(text, str) and "." in text and text.partition(".")[0] in FAMILIES


def _part(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return re.escape(str(part.value))
    return r"[A-Za-z0-9_.-]+"


def breaches() -> Iterator[tuple[str, set[str] | None]]:
    """Each text that a claim may break with, and the values that go with it where they show."""
    for path, tree in sources():
        if path.parent.name != "claims":
            continue
        yield from ((text, None) for text in _constants(tree) if VARIANT.fullmatch(text))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                yield from _breaches_in(function)


def _breaches_in(function: ast.FunctionDef) -> Iterator[tuple[str, set[str] | None]]:
    known = _dicts_of(function)
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Breach":
            for text in _texts(call.args[0]):
                yield text, _keys(call.args[1], known) if len(call.args) > 1 else set()


def _texts(node: ast.expr) -> list[str]:
    """The texts that an expression may be: a literal, one of two, or all that fit its form."""
    if isinstance(node, ast.IfExp):
        return _texts(node.body) + _texts(node.orelse)
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    pattern = re.compile("".join(map(_part, parts)))
    found = [i.partition(".")[2] for i in EN if i.startswith("breach.")]
    return [text for text in found if pattern.fullmatch(text)]


def _dicts_of(function: ast.FunctionDef) -> dict[str, set[str]]:
    """The keys of the dicts that the function's names stand for, added ones included."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(function):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and isinstance(node, ast.Assign):
            keys = _keys(node.value, found)
            found |= {target.id: keys} if keys is not None else {}
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            found.setdefault(target.value.id, set()).add(ast.literal_eval(target.slice))
    return found


def _keys(node: ast.expr, known: dict[str, set[str]]) -> set[str] | None:
    """The keys of a dict display, through names and `**`; None where they do not show."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if not isinstance(node, ast.Dict):
        return None
    keys: set[str] = set()
    for key, value in zip(node.keys, node.values, strict=True):
        more = _keys(value, known) if key is None else {ast.literal_eval(key)}
        if more is None:
            return None
        keys |= more
    return keys


@cache
def tails() -> set[str]:
    """Ends that the code puts behind an id by an f-string: `.whole`, `.no_text`."""
    return {
        str(part.value)
        for _, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values[1:]
        if isinstance(part, ast.Constant) and str(part.value).startswith(".")
    }


def is_used(message_id: str) -> bool:
    """Whether the code names this id, or builds it."""
    if message_id in literals() or any(p.match(message_id) for p in patterns()):
        return True
    return any(message_id.removesuffix(tail) in literals() - {message_id} for tail in tails())


def derived() -> set[str]:
    """Ids that come from values of the code."""
    ids = {f"claim.{claim.id}.{part}" for claim in (*CLAIMS, MODEL_1) for part in PARTS}
    ids |= {f"breach.{text}" for text, _ in breaches()}
    ids |= {text for text in literals() if text.startswith(("breach.", "scope."))}
    ids |= {f"verdict.{verdict}" for verdict in Verdict}
    ids |= {f"verdict.{verdict}.means" for verdict in Verdict}
    ids |= {f"kind.{kind}{more}" for kind in Kind for more in ("", ".means")}
    ids |= {f"scope.{scope}" for scope in (GENERAL, REFERENCE)}
    return ids | {f"feature.{feature}" for feature in Feature}


def test_both_languages_have_the_same_ids_in_the_same_order() -> None:
    assert list(EN) == list(ZH)


def test_both_languages_have_the_same_placeholders() -> None:
    different = {i for i in EN if placeholders(EN[i]) != placeholders(ZH[i])}
    assert different == set()


def test_every_derived_id_exists() -> None:
    assert derived() - set(EN) == set()


def test_every_id_that_is_written_in_the_code_exists() -> None:
    assert literals() - set(EN) == set()


def test_every_pattern_of_ids_in_the_code_finds_some() -> None:
    empty = {p.pattern for p in patterns() if not any(p.match(i) for i in EN)}
    assert empty == set()


def test_no_text_is_unused() -> None:
    by_value = ("claim.", "breach.", "verdict.", "kind.", "scope.", "feature.")
    others = {i for i in EN if not i.startswith(by_value)}
    unused = {i for i in others if not is_used(i)}
    assert unused == set()
    assert {i for i in EN if i.startswith(by_value)} == derived()


def test_every_placeholder_of_a_breach_is_supplied() -> None:
    missing = {
        text: placeholders(EN[f"breach.{text}"]) - values
        for text, values in breaches()
        if values is not None and not placeholders(EN[f"breach.{text}"]) <= values
    }
    assert missing == {}


def test_every_placeholder_is_supplied_where_the_values_are_named() -> None:
    missing: dict[str, set[str]] = {}
    for path, tree in sources():
        for call in ast.walk(tree):
            named = _named_values(call)
            if named is not None and not placeholders(EN[named[0]]) <= named[1]:
                missing[f"{path.name}: {named[0]}"] = placeholders(EN[named[0]]) - named[1]
    assert missing == {}


def _named_values(call: ast.AST) -> tuple[str, set[str]] | None:
    """Id and names of a call such as `say("id", name=value)`; None for other calls."""
    if not isinstance(call, ast.Call) or any(keyword.arg is None for keyword in call.keywords):
        return None
    name = getattr(call.func, "id", "")
    if name not in ("say", "UsageError", "TargetError") or not call.args:
        return None
    first: Any = call.args[0]
    if not isinstance(first, ast.Constant) or first.value not in EN:
        return None
    return str(first.value), {str(keyword.arg) for keyword in call.keywords}


def test_no_english_sentence_is_left_in_chinese() -> None:
    left = {i: text for i, text in ZH.items() if ENGLISH_RUN.search(text)}
    assert left == {}
    letters = re.compile(r"[\u4e00-\u9fff]")
    same = {i for i in EN if EN[i] == ZH[i] and re.search(r"[a-z]{4}", _bare(EN[i]))}
    kept = {i for i in same if _bare(EN[i]).strip(" →") not in KEPT_IN_ENGLISH}
    assert {i for i in kept if not letters.search(ZH[i])} <= {
        "trail.prefill",
        "arg.prompt_len",
        "field.prompt_len",
        "field.status",
    }


def _bare(text: str) -> str:
    return re.sub(r"\{[^}]*\}", "", text)


def test_english_has_no_chinese_marks() -> None:
    assert {i for i, text in EN.items() if FULL_WIDTH.search(text)} == set()


def test_no_full_width_mark_is_within_a_name() -> None:
    assert {i for i, text in ZH.items() if NAME_WITH_FULL_WIDTH.search(text)} == set()
    assert {i for i in ZH if FULL_WIDTH.search("".join(placeholders(ZH[i])))} == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_have_no_stray_spaces(language: str) -> None:
    texts = catalogue(language)
    stray = {i for i, text in texts.items() if text.rstrip() != text or "  " in text}
    assert stray == set()
    assert {i for i, text in texts.items() if not text} == set()


def test_a_count_takes_singular_and_plural() -> None:
    say = tell("en")
    assert say("bound.blocks", value=1) == "1 block"
    assert say("bound.blocks", value=0) == "0 blocks"
    assert tell("zh")("bound.blocks", value=1) == "1 个 block"


def test_names_are_joined_as_the_language_joins_them() -> None:
    assert join(tell("en"), "names", ["a", "b", "c"]) == "a, b, c"
    assert join(tell("zh"), "names", ["a", "b", "c"]) == "a、b、c"
    assert join(tell("en"), "names", []) == ""


def test_a_missing_text_or_value_is_a_mistake_of_ours() -> None:
    with pytest.raises(MissingText, match=r"no text 'bound\.colour' in en\.json"):
        tell("en")("bound.colour")
    with pytest.raises(MissingText, match="needs a value for 'value'"):
        tell("en")("bound.blocks")
