"""How violations are found: runs that are judged at every action."""
