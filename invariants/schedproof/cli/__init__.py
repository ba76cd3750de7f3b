"""The command `schedproof`."""

from schedproof.cli.main import main

__all__ = ["main"]
