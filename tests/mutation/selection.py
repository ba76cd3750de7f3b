"""Which tests are asked about the mutants of which module.

Rules.
1. The claims are asked by all their tests, which are quick; the claim that compares with the model
   has its tests elsewhere.
2. The tests of the searches take minutes together, and a mutant that survives costs all that are
   asked. So each module of the searches has those that concern it, about five seconds' worth: what
   asks the module itself, and whole searches of the smallest scopes. A mutant that only a slower
   test would notice counts as a survivor here.
3. The order is that of importance. A module that is not in the table is never run.
"""

from __future__ import annotations

from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[2] / "invariants" / "schedproof"

JUDGING = "tests/exhaustive/test_judging.py"
OPTIONS = "tests/exhaustive/test_options.py"
BATCHES = "tests/exhaustive/test_batches.py"
ENDLESS = [f"tests/liveness/test_{name}.py" for name in ("lasso", "rehearsal", "trouble")]
EXPLAINING = ["tests/search/test_finding_out.py", "tests/search/test_true_sentences.py"]


def _of(file: str, *names: str) -> list[str]:
    """Some tests of a file."""
    return [f"{file}::test_{name}" for name in names]


FAULTS = _of(
    "tests/exhaustive/test_faults.py",
    "a_certificate_counts_the_states_that_fewer_actions_reach",
    "a_counterexample_is_a_run_that_breaks_the_claim_on_a_new_scheduler",
    "the_second_preemption_is_told_with_its_whole_story",
)
WAYS = _of(
    "tests/exhaustive/test_in_place.py",
    "a_field_of_a_wrong_kind_is_told",
    "a_field_that_goes_away_is_told",
    "a_report_that_is_none_is_told",
    "a_violation_that_only_comes_of_entering_in_place_is_none",
    "an_attribute_of_a_wrong_kind_is_told",
    "an_attribute_that_goes_away_is_told",
    "each_way_there_are_the_same_states",
    "the_second_preemption_is_found_each_way",
    "what_cannot_be_copied_is_searched_by_replay",
    "what_cannot_be_written_back_is_searched_by_copies",
    "what_differs_each_time_is_left_out_and_named",
    "what_hides_in_a_slot_is_not_missed",
    "what_hides_in_the_module_is_noticed_by_a_sample_of_states",
    "who_decides_by_what_differs_is_not_deterministic",
)
TRAPS = _of("tests/exhaustive/test_in_place.py", "what_is_no_state_tells_no_states_apart")
GATE = [
    "tests/exhaustive/test_gate.py",
    *_of("tests/exhaustive/test_traps.py", "the_gate_looks_at_one_slot_fewer_but_three_at_least"),
]
CLAIMS = ["tests/claims"]
AGAINST = ["tests/claims/test_against.py", "tests/traces/test_against.py"]

SEARCH: dict[str, list[str]] = {
    "exhaustive/judging": [JUDGING, BATCHES, *FAULTS],
    "exhaustive/gate": GATE,
    "exhaustive/identity": ["tests/exhaustive/test_identity.py"],
    "exhaustive/bfs": [OPTIONS, BATCHES, *FAULTS],
    "exhaustive/space": [OPTIONS, BATCHES, *WAYS],
    "exhaustive/in_place": [*WAYS, *TRAPS],
    "exhaustive/by_copy": [*WAYS, *TRAPS],
    "exhaustive/lasso": ENDLESS,
    "exhaustive/starvation": ENDLESS,
    "summing_up": ["tests/search/test_summing_up.py"],
    "exhaustive/probing": [OPTIONS],
    "exhaustive/situations": [OPTIONS],
    "random_search": ["tests/search/test_random_search.py"],
    "engines/shrinking": ["tests/engines/test_telling.py"],
    "exhaustive/same_requests": ["tests/search/test_random_search.py"],
    "smallest": [*EXPLAINING, *FAULTS],
    "replay": [*EXPLAINING, *FAULTS, OPTIONS],
    "exhaustive/endless": ENDLESS,
    "exhaustive/liveness": ENDLESS,
    "exhaustive/batch_search": [BATCHES],
    "session": ["tests/search/test_random_search.py"],
    "results": ["tests/search/test_results.py", OPTIONS],
    "vary": EXPLAINING,
    "worse": EXPLAINING,
    "again": EXPLAINING,
    "evidence": EXPLAINING,
    "finding_out": EXPLAINING,
    "frames": ["tests/search/test_frames.py"],
    "exhaustive/scopes": ["tests/exhaustive/test_scopes.py"],
}


def tests_of(package: str) -> dict[str, list[str]]:
    """The modules of a package that are run, and their tests."""
    if package == "search":
        return SEARCH
    files = sorted((PACKAGES / package).glob("*.py"))
    named = {file.stem: CLAIMS for file in files if file.stem != "__init__"}
    return {**named, "against": AGAINST}
