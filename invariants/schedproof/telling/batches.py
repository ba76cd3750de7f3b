"""Steps of batches in words, and the blocks as a row: whose each is, and which are free.

Rules.
1. A step tells first who was preempted, then each request that it ran: how many tokens of a
   prefill, or which token it decoded, whether it took a block, whether it finished.
2. The row of blocks names every block by its number, with those who hold it. What does not
   fit together is said beside the block: a count that is another, a block that is free twice,
   one that nobody holds and that is not free. A slot that holds what it should not is marked.
3. Where decision and result are apart, a step tells what it is decided for, and a delivery what
   it brought and what is void. The steps in flight stand in a row below the blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedproof.search.results import Counterexample, Moment, Part, TrailStep
from schedproof.telling.messages import Say, join


def batch_text(say: Say, step: TrailStep) -> str:
    """What a step did, request by request."""
    if step.delivered:
        return delivery_text(say, step)
    told: list[str] = []
    if step.preempted:
        names = join(say, "names", [f"r{i}" for i in step.preempted])
        told.append(say("trail.preempted", requests=names))
    return join(say, "semicolon", told + [part_text(say, part) for part in step.parts])


def delivery_text(say: Say, step: TrailStep) -> str:
    """What a delivery brought, request by request, and what is void."""
    told = [_brought(say, part) for part in step.parts]
    if step.dropped:
        names = join(say, "names", [f"r{i}" for i in step.dropped])
        told.append(say("trail.void", requests=names))
    return join(say, "semicolon", told)


def _brought(say: Say, part: Part) -> str:
    values = {"request": part.request, "tokens": part.end, "token": part.generated}
    parts = [say("trail.brought" if part.emitted else "trail.computed", **values)]
    if part.finished:
        parts.append(say("trail.finished"))
    return join(say, "comma", parts)


def part_text(say: Say, part: Part) -> str:
    """What a step did for one request."""
    parts: list[str] = []
    if part.ran == "prefill" and part.start and not part.admitted:
        tokens = part.end - part.start
        parts.append(say("trail.prefill.on", request=part.request, tokens=tokens))
    elif part.ran == "prefill":
        came = "trail.resumed" if part.resumed else "trail.admitted"
        parts.append(say(came, request=part.request))
        parts.append(say("trail.prefill.tokens", tokens=part.end - part.start))
    else:  # of who is lost it is not known which token it was
        known = part.generated is not None
        what = say("trail.decode", token=part.generated) if known else str(part.ran)
        parts.append(f"r{part.request} {what}")
    if part.grew:
        parts.append(say("trail.grew"))
    if part.finished:
        parts.append(say("trail.finished"))
    return join(say, "comma", parts)


def outcome_texts(say: Say, step: TrailStep) -> list[str]:
    """What became of an enqueue or an abort, where there is more to say than its arguments."""
    if step.rejected is not None:
        reason, needs, limit = step.rejected
        values: dict[str, Any] = {"tokens": needs, "needs": needs, "limit": limit}
        kind = "trail.rejected.tokens" if reason == "tokens" else "trail.rejected.blocks"
        return [say(kind, **values)]
    return [] if step.freed is None else [say("trail.freed", freed=step.freed)]


def batch_setup(say: Say, example: Counterexample) -> str:
    """How the scheduler of a counterexample was set up."""
    limits = example.limits
    assert limits is not None
    return say(
        "story.setup.batch",
        policy=example.policy,
        blocks=example.blocks,
        block_size=limits.block_size,
        seats=limits.max_num_seqs,
        tokens=limits.max_num_batched_tokens,
    )


def blocks_text(say: Say, moment: Moment, slot: tuple[int, int] | None = None) -> str:
    """All blocks in a row, a wrong slot (block, place) marked; "" where they have no numbers."""
    if moment.paged is None:
        return ""
    cells = [
        _block(say, moment.paged, moment.requests, block)
        for block in range(len(moment.paged["references"]))
    ]
    if slot is not None and slot[0] < len(cells):
        cells[slot[0]] += say("blocks.slot", place=slot[1])
    return "  ".join(cells)


def flights_text(say: Say, moment: Moment) -> str:
    """The steps in flight, oldest first: whose tokens from where to where; "" if there are none."""
    steps = [
        join(say, "comma", [f"r{i} {start}–{end - 1}" for i, start, end in parts])
        for parts in moment.in_flight
    ]
    return "  ".join(f"({step})" for step in steps)


def _block(
    say: Say,
    paged: Mapping[str, list[int]],
    requests: Mapping[str, Mapping[str, Any]],
    block: int,
) -> str:
    """One block: its number, who holds it, and what is odd about it."""
    holders = [f"r{i}" for i, fields in requests.items() for b in fields["block_ids"] if b == block]
    times, count = paged["free_ids"].count(block), paged["references"][block]
    told = list(holders)
    if times:
        told.append(say("blocks.free_times", times=times) if times > 1 else say("blocks.free"))
    if not told and block in paged.get("reserved", ()):
        return f"[{block} {say('blocks.reserved')}]"
    if not told:
        told.append(say("blocks.lost"))
    if count != len(holders):
        told.append(say("blocks.counted", count=count))
    return f"[{block} {' '.join(told)}]"
