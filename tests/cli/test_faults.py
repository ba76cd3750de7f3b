"""`schedproof faults`: what it lists and shows, how a hunt ends, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.cli.conftest import Run

from schedproof import hunt as hunting
from schedproof.settings import UsageError
from schedproof.telling.document import check_schema
from schedproof.telling.faults import hunt_document, hunt_schema
from schedproof.telling.language import LANGUAGES
from schedproof.telling.layout import width_of
from schedproof.telling.messages import tell
from schedproof.zoo import all_faults
from schedproof.zoo.chapter_faults import BY_NAME, CHAPTER_FAULTS
from schedproof.zoo.faults import FAMILIES, Fault, Kill
from schedproof.zoo.hunted import Fate, Hunted

HARMLESS = Fault(
    "harmless", "order", "ORDER-1", 3, "NO_DEADLINE = 1_000_000_000", "NO_DEADLINE = 10**9"
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_list_has_every_fault_under_its_family(run: Run, language: str) -> None:
    said = run("faults", "list", "--lang", language)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    names = [line.split()[0] for line in lines[1:] if line and line[0] != " "]
    assert [name for name in names if name in BY_NAME] == list(BY_NAME)
    assert [name for name in names if name in FAMILIES] == list(FAMILIES)
    assert max(map(width_of, lines)) <= 80
    for fault in CHAPTER_FAULTS:
        assert tell(language)(f"fault.{fault.name}.title")[:20] in said.out


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("fault", CHAPTER_FAULTS, ids=lambda fault: fault.name)
def test_a_page_is_one_screen_with_the_change(run: Run, fault: Fault, language: str) -> None:
    said = run("faults", "show", fault.name.upper(), "--lang", language)
    assert said.code == 0
    assert len(said.out.splitlines()) <= 48
    assert fault.claim in said.out
    assert fault.report in said.out
    changed = [line for line in fault.new.splitlines() if line not in fault.old]
    assert all(line in said.out for line in changed)


def test_a_page_tells_what_differs_by_policy_and_whether_the_chapter_notices(run: Run) -> None:
    said = run("faults", "show", "preempt-drops-deadline")
    assert "PROGRESS-2  A preempted request keeps its generated tokens" in said.out
    assert "4 actions at least" in said.out
    assert "Under deadline  PROGRESS-2" in " ".join(said.out.split(" " * 3))
    assert "6 actions at least" in said.out
    assert "all nine pass" in said.out
    assert "all nine pass" not in run("faults", "show", "finish-keeps-blocks").out


def test_a_hunt_that_kills_all_ends_with_0(run: Run) -> None:
    said = run("faults", "hunt", "finish-keeps-blocks", "chosen-waits-too", "finish-keeps-blocks")
    assert said.code == 0
    rows = [line.split() for line in said.out.splitlines() if line.startswith("✓ ")]
    assert [row[1:5] for row in rows[:2]] == [
        ["finish-keeps-blocks", "fixed_priority", "LEDGER-1", "3"],
        ["chosen-waits-too", "fixed_priority", "WAIT-1", "2"],
    ]
    assert rows[2][1:5] == ["2", "of", "2", "killed"]


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "harmless under fixed_priority survived"),
        ("zh", "harmless（fixed_priority）没有被找出"),
    ],
)
def test_a_fault_that_survives_is_told_and_ends_with_1(
    run: Run, monkeypatch: pytest.MonkeyPatch, language: str, told: str
) -> None:
    monkeypatch.setattr(hunting, "DEFAULT_SCOPE", "small")
    monkeypatch.setitem(all_faults.BY_NAME, "harmless", HARMLESS)
    said = run("faults", "hunt", "harmless", "finish-keeps-blocks", "--lang", language)
    assert said.code == 1
    assert told in said.out
    assert "✗  harmless" in said.out
    assert "✓  finish-keeps-blocks" in said.out


def test_a_hunt_as_json_is_one_document(run: Run) -> None:
    said = run("faults", "hunt", "slack-ignores-progress", "--json")
    document = json.loads(said.out)
    assert (said.code, document["schema"], document["killed"]) == (0, "schedproof/hunt", 1)
    (one,) = document["runs"]
    assert one["expected"] == {"claim": "ORDER-1", "length": 4}
    assert (one["policy"], one["claim"], one["fate"]) == ("deadline", "ORDER-1", "killed")
    assert one["shortest"] is True


def test_a_hunt_as_json_follows_its_schema(run: Run) -> None:
    said = run("faults", "hunt", "finish-keeps-blocks", "empty-step-raises", "--json")
    document = json.loads(said.out)
    Draft202012Validator.check_schema(hunt_schema())
    Draft202012Validator(hunt_schema()).validate(document)
    assert [one["claim"] for one in document["runs"]] == ["LEDGER-1", "raised"]


FATES = {
    Fate.SURVIVED: ("holds_within_bounds", None, None),
    Fate.STOPPED: ("incomplete", None, None),
    Fate.KILLED_OTHERWISE: ("violated", "LEDGER-1", 3),
    Fate.KILLED: ("violated", "ORDER-4", 9),
}


def test_every_fate_follows_the_schema_and_nothing_else_does() -> None:
    kill = Kill("ORDER-4", None)
    all_fates = [
        Hunted("priority-classes", "fcfs", kill, *found, also_broken=(), shortest=False,
               transitions=7, seconds=0.1)
        for found in FATES.values()
    ]  # fmt: skip
    document = json.loads(json.dumps(hunt_document(all_fates, "1.0")))
    assert [one["fate"] for one in document["runs"]] == [fate.value for fate in FATES]
    validator = Draft202012Validator(hunt_schema())
    validator.validate(document)
    run_schema = hunt_schema()["$defs"]["run"]["properties"]
    assert run_schema["fate"]["enum"] == [fate.value for fate in Fate]
    assert run_schema["verdict"]["enum"] == check_schema()["$defs"]["verdict"]["enum"]
    for name in document["runs"][0]:
        lacking = {key: value for key, value in document["runs"][0].items() if key != name}
        assert not validator.is_valid({**document, "runs": [lacking]}), name
    assert not validator.is_valid({**document, "more": 1})


def test_a_hunt_takes_the_policies_that_are_asked_for(run: Run) -> None:
    said = run("faults", "hunt", "finish-keeps-blocks", "--policy", "all", "--json")
    policies = [one["policy"] for one in json.loads(said.out)["runs"]]
    assert policies == ["fixed_priority", "aging", "deadline", "fcfs"]
    said = run("faults", "hunt", "finish-keeps-blocks", "--policy", "aging,fcfs", "--json")
    assert [one["policy"] for one in json.loads(said.out)["runs"]] == ["aging", "fcfs"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("hunt",), "Say which faults to hunt"),
        (("hunt", "--all", "finish-keeps-blocks"), "Say which faults to hunt"),
        (("hunt", "finish-keep-blocks"), "Did you mean finish-keeps-blocks?"),
        (("hunt", "last-come-first-served", "--policy", "aging"), "They show under: fcfs."),
        (("hunt", "finish-keeps-blocks", "--policy", "reserved_aging"), "no reserved_aging"),
        (("hunt", "finish-keeps-blocks", "--policy", "agin"), "Did you mean aging?"),
        (("show", "nothing-like-it"), "there is no nothing-like-it"),
        (("show",), "NAME"),
        (("export", "finish-keeps-blocks"), "--to"),
        (("export", "nothing-like-it", "--to", "."), "there is no nothing-like-it"),
    ],
)
def test_a_mistake_ends_with_2_and_says_what_to_do(
    run: Run, words: tuple[str, ...], told: str
) -> None:
    said = run("faults", *words)
    assert (said.code, said.out) == (2, "")
    assert told in said.err


def test_an_exported_file_is_found_by_check_without_naming_a_class(
    run: Run, tmp_path: Path
) -> None:
    said = run("faults", "export", "protected-victim", "--to", "exercise")
    path = tmp_path / "exercise" / "decode_scheduler.py"
    assert (said.code, said.out) == (0, f"written: {Path('exercise') / path.name}\n")
    said = run("check", str(path), "--policy", "fixed_priority", "--json")
    (found,) = json.loads(said.out)["counterexamples"]
    assert (said.code, found["claim"], found["length"]) == (1, "VICTIM-2", 4)


def test_an_export_overwrites_nothing(run: Run, tmp_path: Path) -> None:
    run("faults", "export", "protected-victim", "--to", str(tmp_path))
    before = (tmp_path / "decode_scheduler.py").read_text(encoding="utf-8")
    said = run("faults", "export", "finish-keeps-blocks", "--to", str(tmp_path))
    assert said.code == 2
    assert "is already there" in said.err
    assert (tmp_path / "decode_scheduler.py").read_text(encoding="utf-8") == before


def test_an_export_to_a_file_is_a_mistake(run: Run, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    said = run("faults", "export", "protected-victim", "--to", str(tmp_path / "taken" / "inside"))
    assert said.code == 2


def test_check_takes_a_fault_as_its_target(run: Run) -> None:
    said = run("check", "fault:chosen-waits-too", "--policy", "aging")
    assert said.code == 1
    assert "scheduler: fault:chosen-waits-too" in said.out
    assert "WAIT-1" in said.out
    said = run("check", "fault:chosen-waits")
    assert said.code == 2
    assert "Did you mean chosen-waits-too?" in said.err


def test_a_fault_in_a_cell_is_no_target(run: Run) -> None:
    assert run("check", "fault:chosen-waits-too", "--cell", "1").code == 2


def test_what_is_hunted_does_not_depend_on_settings(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCHEDPROOF_POLICY", "fcfs")
    monkeypatch.setenv("SCHEDPROOF_CLAIMS", "CLOCK-1")
    said = run("faults", "hunt", "finish-keeps-blocks", "--json")
    (one,) = json.loads(said.out)["runs"]
    assert (one["policy"], one["claim"]) == ("fixed_priority", "LEDGER-1")


def test_an_unknown_fault_is_a_usage_error_in_python() -> None:
    import schedproof

    with pytest.raises(UsageError, match="there is no such"):
        schedproof.check("fault:such")
