"""Exhaustive search: every state of a scope, level by level, on the real scheduler."""
