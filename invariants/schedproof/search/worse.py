"""A longer trace of the same claim that does more damage, where the shortest does little.

Rules.
1. The shortest trace is not always the one that teaches most: where a preemption loses the
   phase and tokens, four actions lose the phase, and five lose a token, which a client sees.
2. It is looked for near the shortest: one or two steps more, and requests that ask for as many
   tokens more. The first that makes a token be generated twice is taken. That nothing shorter
   does is not shown.
3. It is looked for only where the claim is about progress and no token is generated twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from schedproof.search.again import Again
from schedproof.search.evidence import Forward, Worse
from schedproof.search.play_forward import play_forward
from schedproof.subjects.actions import STEP, Action, Enqueue, to_json
from schedproof.subjects.contract import Config

ABOUT_PROGRESS = frozenset({"PROGRESS-1", "PROGRESS-2", "PROGRESS-4"})
MORE_MOST = 2


def worse_of(
    again: Again, actions: Sequence[Action], config: Config, claim: str, forward: Forward
) -> Worse | None:
    """The longer trace; None where there is none near, or no need for one."""
    if claim not in ABOUT_PROGRESS or any(token for _, token in forward.repeated):
        return None
    for longer in _longer(actions):
        found = again.violation(longer, config)
        if found is None or len(found.actions) != len(longer):
            continue
        after = play_forward(again.start, config, found.actions, again.until)
        request = next((request for request, token in after.repeated if token), None)
        if request is not None:
            token = next(t for r, t in after.repeated if t and r == request)
            return Worse(tuple(map(to_json, found.actions)), request, token)
    return None


def _longer(actions: Sequence[Action]) -> Iterator[list[Action]]:
    """The actions with a few steps more somewhere, and more tokens to generate."""
    for more in range(1, MORE_MOST + 1):
        for place in range(1, len(actions)):
            longer = [*actions[:place], *[STEP] * more, *actions[place:]]
            yield [
                replace(a, max_new_tokens=a.max_new_tokens + more)
                if isinstance(a, Enqueue) and type(a.max_new_tokens) is int
                else a
                for a in longer
            ]
