"""A claim of your own: of the new requests that fit, those with a cache hit come first."""

from __future__ import annotations

from schedproof import broken, claim
from schedproof.claims.edge import Breach, Edge


@claim(
    "HIT-1",
    "Of the new requests that fit, a cache hit is served before a miss",
    why="The prefill of a cache hit is short; behind a miss it waits for a long one.",
    rule="Between requests in the same phase the cache decides before the priority.",
    policies=["fixed_priority", "aging"],
)
def hits_go_first(edge: Edge) -> Breach | bool | None:
    chosen = edge.chosen
    if chosen is None or chosen.admitted or chosen.phase != "prefill":
        return None
    for other in edge.before:
        fits = other.phase == "prefill" and other.required_blocks <= edge.free_before
        if fits and other.cache_hit and not other.admitted:
            if chosen.cache_hit:
                return True
            text = (
                f"r{chosen.request_id} missed the cache and went first; "
                f"r{other.request_id} hit it, and there was room for it."
            )
            return broken(text, (other.request_id, "cache_hit"))
    return None
