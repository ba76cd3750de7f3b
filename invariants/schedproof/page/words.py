"""The texts that the page's script says, out of the catalogue, in every language."""

from __future__ import annotations

from schedproof.telling.language import LANGUAGES
from schedproof.telling.messages import catalogue

WORDS = (
    "arg.cache_hit",
    "arg.preemptible",
    "arg.prompt_len",
    "blocks.free",
    "blocks.in_flight",
    "blocks.slot",
    "ledger.holders",
    "ledger.missing",
    "ledger.sum",
    "ledger.too_many",
    "list.comma",
    "web.back",
    "web.broken",
    "web.broken_by_all",
    "web.clock",
    "web.column.blocks",
    "web.column.deadline",
    "web.column.generated",
    "web.column.phase",
    "web.column.preempted",
    "web.column.priority",
    "web.column.request",
    "web.column.status",
    "web.column.waited",
    "web.first",
    "web.forward",
    "web.free",
    "web.holds",
    "web.keys",
    "web.lanes",
    "web.last",
    "web.ledger",
    "web.legend.enqueue",
    "web.legend.finished",
    "web.legend.holds",
    "web.legend.preempted",
    "web.legend.served",
    "web.lifecycle",
    "web.loop",
    "web.move",
    "web.move.illegal",
    "web.no_moves",
    "web.nobody_yet",
    "web.pause",
    "web.play",
    "web.requests",
    "web.start",
    "web.transport",
    "web.violation",
    "web.whole_run",
)
"""Every id that the script uses; a test compares it with the script."""


def words() -> dict[str, dict[str, str]]:
    """The texts of `WORDS` by language."""
    return {language: {i: catalogue(language)[i] for i in WORDS} for language in LANGUAGES}
