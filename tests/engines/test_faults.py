"""Every fault that is planted into the tiny engine is caught, and the engine itself is not."""

from __future__ import annotations

import pytest
from tests.engines.conftest import ALL, MakeTiny, searched

from schedproof.engines import EngineAdapter, Request
from schedproof.engines.nano_vllm import NanoVllm
from schedproof.engines.planted import FAULTS
from schedproof.search.engines.self_test import self_test

FORGET = (
    "        if self.known.get(block.prefix) == number:\n            del self.known[block.prefix]\n"
)
WAY = (
    "                self.preempt(victim)\n                if victim is seq:\n"
    "                    break\n"
)

PLANTED: list[tuple[str, str, str, str]] = [
    ("stale hits", FORGET, "", "KV-1"),
    (
        "hashes that are not chained",
        "seq.token_ids[:end]",
        "seq.token_ids[end - self.size : end]",
        "",
    ),
    (
        "a hit of all tokens",
        "range(self.size, len(seq), self",
        "range(self.size, len(seq) + 1, self",
        "BATCH-1",
    ),
    (
        "a leak",
        "self.free_block_ids.append(number)",
        "number or self.free_block_ids.append(number)",
        "LEDGER-1",
    ),
    (
        "a block freed twice",
        "self.free_block_ids.append(number)",
        "self.free_block_ids += [number, number]",
        "LEDGER-4",
    ),
    (
        "the victim goes to the back",
        "self.waiting.appendleft(seq)",
        "self.waiting.append(seq)",
        "FAIR-1",
    ),
    (
        "the victim keeps its blocks",
        "        self.block_manager.release(seq)\n        seq.status = Status.WAITING",
        "        seq.status = Status.WAITING",
        "LIFE-4",
    ),
    ("the victim is lost", "        self.waiting.appendleft(seq)\n", "", "LIFE-4"),
    (
        "an endless loop",
        WAY,
        "                if victim is not seq:\n                    self.preempt(victim)\n",
        "STALL-2",
    ),
    ("another token", "seq.token_ids.append(token)", "seq.token_ids.append(1)", "OUTPUT-1"),
    ("one token too many", ">= seq.max_tokens", "> seq.max_tokens", "LIFE-3"),
    (
        "one request too many",
        "len(batch) == self.config.max_num_seqs",
        "len(batch) > self.config.max_num_seqs",
        "BATCH-1",
    ),
    ("too many tokens", "if tokens + len(seq) > self", "if tokens > self", "BATCH-1"),
    ("a count below zero", "seq.num_cached_tokens = 0", "seq.num_cached_tokens -= 1", "COUNT-1"),
    (
        "no check before taking",
        "        if not self.free_block_ids:\n            return False\n",
        "",
        "STALL-2",
    ),
    (
        "one block in reserve",
        "> len(self.free_block_ids):",
        "> len(self.free_block_ids) - 1:",
        "STALL-1",
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "claim"), [p[1:] for p in PLANTED], ids=[p[0] for p in PLANTED]
)
def test_a_fault_in_the_engine_is_caught(broken: MakeTiny, old: str, new: str, claim: str) -> None:
    found = searched(broken(old, new), 1500)
    assert found.counterexamples, "not caught"
    if claim:
        assert found.counterexamples[0].claim == claim


def test_the_tiny_engine_is_clean_and_nothing_is_left_out(tiny: NanoVllm) -> None:
    result = searched(tiny, 500)
    assert result.verdict == "no_violation_found"
    unseen = [c.id for c in result.claims if c.verdict in ("not_exercised", "not_reached")]
    assert unseen == ["PREEMPT-1"] or not unseen


def test_the_self_test_catches_what_it_plants(tiny: NanoVllm) -> None:
    tested = self_test(tiny, ALL, runs=120)
    assert [each.name for each in tested.tried if not each.caught] == []
    assert len(tested.tried) == len(FAULTS)


def test_an_adapter_that_promises_nothing_is_told_so(tiny: NanoVllm) -> None:
    class TakesNothing(NanoVllm):
        def takes(self, setup: object, request: Request) -> bool:
            return False

    adapter: EngineAdapter = TakesNothing(tiny.package)
    adapter.load()
    trouble = searched(adapter, 5).trouble
    assert trouble is not None
    assert trouble.message_id == "contract.takes_nothing"
