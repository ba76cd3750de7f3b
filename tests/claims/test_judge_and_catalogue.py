"""How claims are looked up, which apply to whom, and how edges are judged and counted."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from tests.claims.conftest import (
    NEW,
    PREEMPTION,
    PREFILL,
    PREFILL_OF_TWO,
    STUCK,
    TOKEN,
    after,
    before,
    play,
)

from schedmodel import DecodeSchedulerSim
from schedproof.claims import judge as judging
from schedproof.claims.catalogue import (
    BY_ID,
    CLAIMS,
    TELLS_FIRST,
    UnknownClaim,
    applicable,
    in_telling_order,
    known_names,
    select,
)
from schedproof.claims.claim import Claim, Kind, Over
from schedproof.claims.edge import Change, Edge, Judged
from schedproof.claims.judge import Judge
from schedproof.subjects.actions import Enqueue
from schedproof.subjects.chapter import CHAPTER_FEATURES, ChapterSubject, from_class
from schedproof.subjects.contract import Config, Feature

REACH = [claim.id for claim in CLAIMS if claim.kind is Kind.SOMETIMES]


def ids(claims: list[Claim]) -> list[str]:
    return [claim.id for claim in claims]


def subject(policy: str) -> ChapterSubject:
    return ChapterSubject(from_class(DecodeSchedulerSim), Config(policy))


def test_every_claim_that_can_be_broken_has_one_place_in_the_telling_order() -> None:
    assert sorted(TELLS_FIRST) == sorted(set(BY_ID) - set(REACH))
    assert len(BY_ID) == len(CLAIMS)


def test_strangers_are_told_before_ours_and_ours_in_telling_order() -> None:
    stranger = replace(BY_ID["WORK-1"], id="MINE-1")
    claims = [stranger, BY_ID["EVENT-1"], BY_ID["VICTIM-2"], BY_ID["LEDGER-1"]]
    assert ids(in_telling_order(claims)) == ["MINE-1", "VICTIM-2", "LEDGER-1", "EVENT-1"]


def test_claims_are_selected_by_id_and_by_family_in_any_case() -> None:
    assert ids(select(["victim-2", " ledger ", ""])) == [
        "LEDGER-1",
        "LEDGER-2",
        "LEDGER-3",
        "LEDGER-4",
        "VICTIM-2",
        *REACH,
    ]


@pytest.mark.parametrize("names", [[], [" "]])
def test_no_name_selects_all_claims(names: list[str]) -> None:
    assert ids(select(names)) == [claim for claim in BY_ID if claim != "LIVE-2"]


def test_claims_about_endless_arrivals_are_selected_by_name_only() -> None:
    assert ids(select(["live"])) == ["LIVE-1", "LIVE-2", *REACH]
    assert ids(select(["LIVE-2"])) == ["LIVE-2", *REACH]


def test_a_name_that_selects_nothing_is_told() -> None:
    with pytest.raises(UnknownClaim) as caught:
        select(["LEDGER", "ledgers"])
    assert caught.value.name == "LEDGERS"


def test_every_known_name_selects_something() -> None:
    names = known_names()
    assert names[0] == "LEDGER"
    assert {"REACH", "LIVE-1"} < set(names)
    assert all(select([name]) for name in names)


def test_claims_of_other_policies_do_not_apply() -> None:
    of_others = {claim.id for claim in CLAIMS if not claim.needs <= CHAPTER_FEATURES}
    assert {"LIVE-2", "LEDGER-4", "ABORT-1"} < of_others
    assert set(BY_ID) - set(ids(applicable(CLAIMS, subject("fcfs")))) == of_others | {
        "ORDER-2",
        "REACH-PREEMPTION",
        "REACH-RESUME",
        "REACH-TIE",
        "REACH-AGING",
    }
    for policy in ("aging", "reserved_aging"):
        assert applicable(CLAIMS, subject(policy)) == [c for c in CLAIMS if c.id not in of_others]


def test_claims_do_not_apply_to_those_who_lack_what_they_need() -> None:
    bare = subject("aging")
    bare.features = frozenset({Feature.LEDGER, Feature.LIFECYCLE})
    needed = [claim for claim in CLAIMS if claim.needs <= bare.features]
    assert applicable(CLAIMS, bare) == needed
    assert {"LEDGER-1", "LIFE-2"} <= set(ids(needed)) < set(BY_ID)


def test_kinds_and_what_is_looked_at_print_as_their_names() -> None:
    assert f"{Kind.ALWAYS} {Over.EDGE}" == "always edge"


# -- the judge ---------------------------------------------------------------


@dataclass
class Counting:
    """A predicate that counts how often it is asked."""

    asked: int = 0

    def __call__(self, about: Edge | Change) -> Judged:
        self.asked += 1
        return True


def counting(over: Over) -> tuple[Claim, Counting]:
    predicate = Counting()
    return replace(BY_ID["WORK-1"], id="MINE-1", over=over, predicate=predicate), predicate


def test_equal_edges_are_asked_about_once_and_counted_each_time() -> None:
    claim, predicate = counting(Over.EDGE)
    judge = Judge([claim])
    for edge in (PREFILL, replace(PREFILL), TOKEN, PREFILL):
        judge.judge(edge)
    assert predicate.asked == 2
    assert judge.exercised() == {"MINE-1": 4}


def test_equal_changes_are_asked_about_once() -> None:
    claim, predicate = counting(Over.CHANGE)
    judge = Judge([claim])
    judge.judge(PREFILL_OF_TWO)
    judge.judge(replace(PREFILL_OF_TWO, free_after=0))
    assert predicate.asked == 2


def test_what_is_remembered_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "REMEMBERED_MAX", 1)
    claim, predicate = counting(Over.EDGE)
    judge = Judge([claim])
    for edge in (PREFILL, TOKEN, STUCK, PREFILL):
        judge.judge(edge)
    assert predicate.asked == 4
    assert judge.exercised() == {"MINE-1": 4}


def test_edges_that_cannot_be_remembered_are_judged_all_the_same() -> None:
    edge = play(Enqueue(1, prompt_len=[]))
    judge = Judge(CLAIMS)
    assert not judge.judge(edge).broken
    assert judge.exercised()["INPUT-2"] == 1


def test_asking_counts_nothing() -> None:
    judge = Judge(CLAIMS)
    judge.ask(PREFILL)
    assert not any(judge.exercised().values())


def test_broken_claims_come_once_each_and_most_specific_first() -> None:
    edge = before(after(PREEMPTION, 2, wait_steps=9), 1, preemptible=False)
    edge = replace(after(edge, 1, preemptible=False, wait_steps=9), free_after=9)
    broken = Judge(CLAIMS).judge(edge).broken
    assert [claim.id for claim, _ in broken] == [
        "VICTIM-2",
        "VICTIM-6",
        "LEDGER-2",
        "LEDGER-1",
        "ORDER-1",
        "WAIT-1",
        "EVENT-1",
    ]
    assert dict(broken)[BY_ID["WAIT-1"]].values["request"] == 1


def test_bits_of_a_judgement_have_names() -> None:
    judge = Judge([BY_ID["WORK-1"], BY_ID["LEDGER-1"], BY_ID["REACH-STUCK"]])
    assert judge.names(judge.judge(STUCK).exercised) == ["WORK-1", "REACH-STUCK"]
    assert judge.names(0) == []


def test_results_from_elsewhere_are_added() -> None:
    judge = Judge([BY_ID["LEDGER-1"], BY_ID["REPLAY-1"]])
    exercised = judge.judge(PREFILL).exercised
    judge.count_mask(exercised, 4)
    judge.count("LEDGER-1", 2)
    judge.count("REPLAY-1")
    judge.count("ORDER-2")
    assert judge.exercised() == {"LEDGER-1": 7, "REPLAY-1": 1}


def test_reaching_something_is_not_judging_anything() -> None:
    judge = Judge([BY_ID["LEDGER-1"], BY_ID["REACH-STUCK"]])
    judge.judge(STUCK)
    assert judge.exercised()["REACH-STUCK"] == 1
    assert judge.nothing_was_judged()
    judge.judge(NEW)
    assert judge.nothing_was_judged()
    judge.judge(PREFILL)
    assert not judge.nothing_was_judged()
