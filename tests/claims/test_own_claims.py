"""Claims from a user's file are judged, told and named like ours; what is wrong with them too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import schedproof
from schedproof.claims.catalogue import CLAIMS, in_telling_order, select
from schedproof.claims.edge import Breach
from schedproof.claims.own import claim, claims_of
from schedproof.subjects.load_errors import TargetError

ROOT = Path(__file__).parents[2]
HITS_FIRST = str(ROOT / "examples" / "hits_first.py")
FAULT = "fault:cache-rank-reversed"
QUICK: dict[str, Any] = {"policy": "fixed_priority", "requests": 2, "time": "2m"}


def written(folder: Path, body: str, decorator: str = '"MINE-1", "A sentence"') -> str:
    """A file with one claim whose predicate has this body."""
    path = folder / "mine.py"
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    path.write_text(
        f"import schedproof\n\n@schedproof.claim({decorator})\ndef mine(edge):\n{lines}\n"
    )
    return str(path)


def test_the_example_breaks_on_a_fault_and_is_told_first() -> None:
    result = schedproof.check(FAULT, claims_from=HITS_FIRST, **QUICK)
    assert result.first is not None
    assert (result.first.claim, result.first.length) == ("HIT-1", 3)
    assert "ORDER-1" in result.first.also_broken
    assert result.first.shortest
    assert result.first.guilty == ((1, "cache_hit"),)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_its_words_are_told_in_both_languages(lang: str) -> None:
    text = schedproof.check(FAULT, claims_from=HITS_FIRST, claims="HIT", **QUICK).explain(lang)
    assert "HIT-1  Of the new requests that fit, a cache hit is served before a miss" in text
    assert "r1 hit it, and there was room for it" in " ".join(text.split())
    assert "The prefill of a cache hit is short" in text
    assert "Between requests in the same phase" in text


def test_the_example_holds_on_the_model_and_only_it_is_judged_when_named() -> None:
    result = schedproof.check(claims_from=HITS_FIRST, claims="HIT-1", **QUICK)
    assert result.verdict == "holds_within_bounds"
    judged = {c.id: c.exercised for c in result.runs[0].claims if not c.id.startswith("REACH")}
    assert list(judged) == ["HIT-1"]
    assert judged["HIT-1"] > 0


def test_the_example_is_limited_to_its_policies() -> None:
    result = schedproof.check(claims_from=HITS_FIRST, **{**QUICK, "policy": "fcfs"})
    assert {c.id: c.verdict for c in result.runs[0].claims}["HIT-1"] == "not_applicable"


def test_a_random_search_judges_it_too() -> None:
    one: dict[str, Any] = {"policy": "fixed_priority", "search": "random", "seed": 1}
    result = schedproof.check(FAULT, claims_from=HITS_FIRST, claims="HIT-1", **one)
    assert {found.claim for found in result.counterexamples} == {"HIT-1"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return edge.chosen.colour", "error.claim_raised"),
        ("return 7", "error.claim_answered"),
    ],
)
def test_a_claim_that_fails_is_an_error_and_no_violation(
    body: str, message: str, tmp_path: Path
) -> None:
    result = schedproof.check(claims_from=written(tmp_path, body), **QUICK)
    assert (result.verdict, result.exit_code) == ("error", 3)
    trouble = result.runs[0].trouble
    assert trouble is not None
    assert trouble.message_id == message
    assert trouble.values["claim"] == "MINE-1"


def test_false_and_a_text_are_breaches(tmp_path: Path) -> None:
    told = {}
    for name, body in (("unsaid", "return False"), ("text", "return f'logged {edge.logged}'")):
        result = schedproof.check(claims_from=written(tmp_path, body), **QUICK)
        assert result.first is not None
        assert result.first.claim == "MINE-1"
        told[name] = result.explain("en")
    assert "does not hold of this action" in told["unsaid"]
    assert "logged 1" in told["text"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("x = 1\n", "target.no_claims"), (None, "target.no_file")],
)
def test_a_file_that_has_none_is_a_mistake(text: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "claims.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(TargetError) as caught:
        schedproof.check(claims_from=str(path), **QUICK)
    assert caught.value.message_id == message


def test_two_claims_of_one_id_are_a_mistake_and_one_under_two_names_is_none(
    tmp_path: Path,
) -> None:
    path = Path(written(tmp_path, "return True"))
    text = path.read_text()
    path.write_text(f"{text}\nagain = mine\n")
    assert schedproof.check(claims_from=str(path), claims="MINE-1", **QUICK)
    path.write_text(f"{text}\nfirst = mine\n\n{text}")
    with pytest.raises(TargetError, match="Two claims have the id MINE-1"):
        schedproof.check(claims_from=str(path), **QUICK)


def test_a_notebook_or_a_class_cannot_hold_claims(tmp_path: Path) -> None:
    with pytest.raises(TargetError) as caught:
        schedproof.check(claims_from=written(tmp_path, "return None") + ":mine", **QUICK)
    assert caught.value.message_id == "target.not_a_claims_file"


def test_a_name_that_no_claim_has_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(TargetError) as caught:
        schedproof.check(claims_from=written(tmp_path, "return None"), claims="HITS", **QUICK)
    assert caught.value.message_id == "target.no_claim"
    assert "MINE" in caught.value.fields["available"]


def test_a_file_that_fails_is_told_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, "return None", decorator='"LEDGER-1", "Taken"')
    result = schedproof.check(claims_from=path, **QUICK)
    trouble = result.runs[0].trouble
    assert trouble is not None
    assert trouble.kind == "load"
    assert "LEDGER-1" in trouble.values["error"]
    assert trouble.place is not None
    assert trouble.place["line"] == 3


@pytest.mark.parametrize(
    ("claim_id", "options", "says"),
    [
        ("mine", {}, "does not look like"),
        ("WAIT-1", {}, "one of ours"),
        ("MINE-1", {"over": "run"}, "over must be one of step, preemption, change, edge"),
        ("MINE-1", {"policies": ["lifo"]}, "got lifo"),
        ("MINE-1", {"title": " "}, "needs a title"),
    ],
)
def test_what_cannot_be_a_claim_is_refused(
    claim_id: str, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        claim(claim_id, **{"title": "A sentence", **options})


def test_a_decorated_predicate_can_still_be_called_and_is_found_once() -> None:
    made = claim("MINE-1", "A sentence", over="change", policies="aging")(lambda about: about == 3)
    assert made(3) is True
    assert made.claim.predicate(2) == Breach("own.unsaid")
    assert made.claim.policies == frozenset({"aging"})
    assert claims_of({"a": made, "b": made, "c": 4}) == [made]


def test_own_claims_stand_and_are_told_before_ours() -> None:
    own = claim("MINE-1", "A sentence")(lambda about: None).claim
    assert in_telling_order([*CLAIMS, own])[0] is own
    assert select([], [own])[0] is own
