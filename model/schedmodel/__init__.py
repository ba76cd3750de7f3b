"""An executable model of decode scheduling in LLM serving engines.

One request at a time gets the next step; a ledger of KV blocks decides who may be
admitted; a policy decides who goes first. Read the modules in this order:
`lifecycle`, `request`, `ledger`, `policy`, `choice`, `scheduler`.
"""

from schedmodel.choice import Why
from schedmodel.errors import IllegalAssignment, IllegalTransition, InvalidInput
from schedmodel.event import Event
from schedmodel.lifecycle import State, Trigger
from schedmodel.policy import KNOWN_POLICIES, POLICIES
from schedmodel.request import RequestState
from schedmodel.scheduler import DecodeSchedulerSim, Snapshot

__version__ = "0.1.0"
__all__ = [
    "KNOWN_POLICIES",
    "POLICIES",
    "DecodeSchedulerSim",
    "Event",
    "IllegalAssignment",
    "IllegalTransition",
    "InvalidInput",
    "RequestState",
    "Snapshot",
    "State",
    "Trigger",
    "Why",
]
