"""Faults in the pool of a paged scheduler: blocks that are shared, known again, counted.

Each is one change to `schedmodel/prefix_cache.py`. What a fault is, and how it is read, stands in
`faults.py`.
"""

from __future__ import annotations

from schedmodel.batch import BATCH_POLICIES
from schedproof.zoo.faults import CACHE, Fault

TIGHT = "paged-tight"
"""The scope with two blocks: a shared one is soon handed out again there."""


def _cache(
    name: str, claim: str, length: int, old: str, new: str, *, report: str = "", scope: str = ""
) -> Fault:
    what = (name, "cache", claim, length, old, new, BATCH_POLICIES)
    return Fault(*what, report=report, level=CACHE, scope=scope)


CACHE_FAULTS = (
    _cache(
        "whole-prompt-found",
        "BATCH-1",
        5,
        "        for end in range(self.block_size, len(token_ids), self.block_size):\n",
        "        for end in range(self.block_size, len(token_ids) + 1, self.block_size):\n",
        scope=TIGHT,
    ),
    _cache(
        "blocks-known-by-their-own-tokens",
        "KV-1",
        9,
        "            prefix = tuple(request.token_ids[: (place + 1) * self.block_size])\n",
        (
            "            start = place * self.block_size\n"
            "            prefix = tuple(request.token_ids[start : start + self.block_size])\n"
        ),
    ),
    _cache(
        "known-before-it-is-computed",
        "KV-1",
        8,
        "        full = request.computed_len // self.block_size\n",
        "        full = len(request.token_ids) // self.block_size\n",
        scope=TIGHT,
    ),
    _cache(
        "evicted-but-still-known",
        "KV-1",
        10,
        "            del self.known[prefix]\n",
        "",
        scope=TIGHT,
    ),
    _cache(
        "two-blocks-for-one-prefix",
        "STALL-2",
        8,
        "            if self.prefixes[block_id] is None and prefix not in self.known:\n",
        "            if self.prefixes[block_id] is None:\n",
        scope=TIGHT,
    ),
    _cache(
        "shared-block-stays-on-the-free-list",
        "LEDGER-4",
        5,
        (
            "        if self.references[block_id] == 0:\n"
            "            self.free_ids.remove(block_id)\n"
            "        self.references[block_id] += 1\n"
        ),
        "        self.references[block_id] += 1\n",
    ),
    _cache(
        "shared-block-is-not-counted",
        "LEDGER-4",
        5,
        "        self.references[block_id] += 1\n",
        "        self.references[block_id] = 1\n",
    ),
    _cache(
        "last-but-one-holder-frees",
        "LEDGER-4",
        6,
        ("        self.references[block_id] -= 1\n        if self.references[block_id] == 0:\n"),
        ("        self.references[block_id] -= 1\n        if self.references[block_id] <= 1:\n"),
    ),
    _cache(
        "blocks-given-back-and-kept",
        "ABORT-1",
        3,
        "        request.block_ids.clear()\n",
        "",
        report="sgl-project/sglang#12224",
    ),
    _cache(
        "check-forgets-the-found-blocks",
        "STALL-2",
        6,
        "        return taken + unheld <= len(self.free_ids)\n",
        "        return taken <= len(self.free_ids)\n",
        report="vllm-project/vllm#45856",
        scope=TIGHT,
    ),
    _cache(
        "one-block-always-in-reserve",
        "ADMIT-1",
        3,
        "        return taken + unheld <= len(self.free_ids)\n",
        "        return taken + unheld < len(self.free_ids)\n",
        report="RBLN-SW/vllm-rbln#179",
    ),
    _cache(
        "takes-a-block-for-the-next-token",
        "ADMIT-1",
        2,
        "        for _ in range(self.blocks_for(len(request.token_ids)) - len(found)):\n",
        "        for _ in range(self.blocks_for(len(request.token_ids) + 1) - len(found)):\n",
        report="vllm-project/vllm#57104",
    ),
)
"""All of them."""
