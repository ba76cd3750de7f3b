"""How hard to search: named profiles, the same for the command and for test suites.

quick is the default and takes a moment. ci is derandomised: the same runs every time.
deep is for a night.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """`examples` runs of at most `actions` rules each; `seed` fixes them, None draws one."""

    name: str
    examples: int
    actions: int
    seed: int | None = None


QUICK = "quick"
PROFILES = {
    profile.name: profile
    for profile in (
        Profile(QUICK, examples=100, actions=30),
        Profile("ci", examples=200, actions=40, seed=0),
        Profile("deep", examples=3000, actions=60),
    )
}


@dataclass(frozen=True)
class Bounds:
    """What a search stays within. `requests` in a run; `blocks` in the pool."""

    requests: int = 6
    blocks: int = 3
    max_new_tokens: int = 3
    prompt_len: int = 8
    priorities: tuple[int, int] = (-1, 3)
    deadline_in: int = 9
