"""Traces: counterexamples that are kept, found again, and taken again on a scheduler."""
