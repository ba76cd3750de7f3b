"""Claims about decode schedulers, and the searches that break them."""
