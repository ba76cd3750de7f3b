"""The command `schedproof`.

Its parts are loaded when it runs, so that whoever interrupts the loading is told nothing of it.
"""

from __future__ import annotations

import sys


def start() -> None:
    """Run the command and end the process with its exit code."""
    try:
        from schedproof.cli.main import main
    except KeyboardInterrupt:
        sys.exit(130)
    main()


__all__ = ["start"]
