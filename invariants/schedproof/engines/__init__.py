"""Engines of others: how their schedulers are led, what their forward pass would have read.

Rules. An adapter says in the project's words what an engine does; it judges nothing. The kit
around it plays the forward pass, generates the tokens and keeps the books that claims look at.
"""

from schedproof.engines.adapter import (
    EngineAdapter,
    MissingPackage,
    Pool,
    Request,
    Seen,
    Setup,
    Work,
)

__all__ = ["EngineAdapter", "MissingPackage", "Pool", "Request", "Seen", "Setup", "Work"]
