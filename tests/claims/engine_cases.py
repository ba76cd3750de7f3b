"""Edges of an engine's steps, and what claims say when one thing is wrong with what they ran.

The table has the form of that in `batch_cases`: the edges are those, with what came of a forward
pass that was played.
"""

from __future__ import annotations

from typing import Any

from tests.claims.batch_cases import ADMISSION, GROWTH, A, play
from tests.claims.conftest import NEW, answered

from schedproof.claims.edge import Edge
from schedproof.subjects.actions import STEP
from schedproof.subjects.observation import Foreign, Miscount, Raised, Ran, Strayed

FINISH = play(A, *[STEP] * 5)
RAN = Ran(attended=3, since_token_max=9)
SOURCE = ("file.py", 1, "schedule", "assert batch")


def came(edge: Edge, **values: Any) -> Edge:
    """The edge, had the step come to this."""
    return answered(edge, ran=RAN._replace(**values))


def read(kind: str, **values: Any) -> Edge:
    """A step in which a position held something else."""
    return came(GROWTH, foreign=Foreign(kind, 0, 1, **values))


OURS = came(GROWTH)
ENDED = came(FINISH)
HELD = {"block": 0, "offset": 1, "written": 2}
ENGINE_CASES: dict[str, tuple[Any, Any, Any]] = {
    "KV-1": (
        (OURS, ENDED),
        (
            ("KV-1.foreign", read("foreign", writer=1, **HELD)),
            ("KV-1.own", read("foreign", writer=0, **HELD)),
            ("KV-1.empty", read("empty", block=0, offset=1)),
            ("KV-1.no_block", read("no_block")),
            ("KV-1.past_end", read("past_end")),
        ),
        (NEW, ADMISSION, came(GROWTH, attended=0)),
    ),
    "OUTPUT-1": (
        (ENDED,),
        (
            ("OUTPUT-1.other", came(FINISH, strayed=Strayed("other", 0, 1, 0, 1))),
            ("OUTPUT-1.too_many", came(FINISH, strayed=Strayed("too_many", 0, 5, 0, None))),
            ("OUTPUT-1.too_few", came(FINISH, strayed=Strayed("too_few", 9, 1, None, 1))),
        ),
        (NEW, FINISH, OURS),
    ),
    "COUNT-1": (
        (OURS,),
        (
            ("COUNT-1.negative", came(GROWTH, miscount=Miscount(0, "cached", -1, 4))),
            ("COUNT-1.in_flight", came(GROWTH, miscount=Miscount(0, "in_flight", 2, 1))),
            ("COUNT-1.too_many", came(GROWTH, miscount=Miscount(0, "cached", 5, 4))),
        ),
        (NEW, GROWTH, answered(OURS, batch=())),
    ),
    "STALL-2": (
        (OURS,),
        (
            ("STALL-2", came(GROWTH, raised=Raised("schedule", "KeyError", "3", *SOURCE))),
            ("STALL-2.no_text", came(GROWTH, raised=Raised("schedule", "KeyError", "", *SOURCE))),
            ("STALL-2.endless", came(GROWTH, raised=Raised("schedule", "", "", *SOURCE))),
        ),
        (NEW, GROWTH),
    ),
    "STALL-3": (
        (OURS, came(GROWTH, idle=1, idle_max=1)),
        (
            ("STALL-3.idle", came(GROWTH, idle=1)),
            ("STALL-3.no_token", came(GROWTH, since_token=10)),
        ),
        (NEW, GROWTH, came(GROWTH, raised=Raised("schedule", "", "", *SOURCE))),
    ),
}
