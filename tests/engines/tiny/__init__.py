"""A tiny engine in the shape of nano-vllm, our own, for tests: importing this must not happen."""

raise ImportError("only the scheduling part of a package is imported")
