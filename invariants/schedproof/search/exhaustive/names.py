"""The names by which searches, keys and reductions are asked for; see `identity`."""

EXHAUSTIVE, RANDOM, BOTH = SEARCHES = ("exhaustive", "random", "both")
LIVENESS = "liveness"
"""A search for endless waits; it is asked for by an option of its own."""

FULL, PEER = IDENTITIES = ("full", "peer")
FINISHED, NO_CLOCK, IDS, PREEMPTIONS, ARRIVALS = REDUCTIONS = (
    "finished",
    "clock",
    "ids",
    "preemptions",
    "arrivals",
)
