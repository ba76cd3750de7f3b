"""As above: this must not be run either."""

raise ImportError("only the scheduling part of a package is imported")
